// SPDX-License-Identifier: Apache-2.0
// The payment gateways that the options enable, except the sandbox, and what the
// tenants have set for their payments there.
#pragma once
#include "config/options.hpp"
#include "domain/base/environment.hpp"
#include "domain/model/rows.hpp"
#include "outbound/gateway.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fq {

/// By name. Throws what the gateways' constructors throw.
std::map<std::string, std::unique_ptr<gateway_port>> open_gateways(const config::options& options,
                                                                   environment& env);

/// What each tenant has set for its payments. Written by the directory actor, read by event owners.
class tenant_payments {
public:
  void publish(const std::vector<tenant_row>& tenants);
  /// False until the first publish.
  [[nodiscard]] bool are_known() const;
  /// The tenant's account at the gateway; empty: no transfer.
  [[nodiscard]] std::string destination(const std::string& gateway, tenant_id tenant) const;
  /// `site` is "fairqueue" if the tenant has not set it.
  [[nodiscard]] std::vector<gateway_label> metadata(tenant_id tenant) const;

private:
  struct settings {
    std::string stripe_account, paystack_subaccount;
    std::vector<gateway_label> metadata;
  };
  [[nodiscard]] settings of(tenant_id tenant) const;

  mutable std::mutex mutex_; // publish and the getters run on different threads
  bool are_known_ = false;
  std::map<tenant_id, settings> settings_;
};

} // namespace fq
