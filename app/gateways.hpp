// SPDX-License-Identifier: Apache-2.0
// The payment gateways that the options enable, except the sandbox, and the Stripe accounts to which the
// tenants' money is transferred.
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

/// Stripe account of each tenant. Written by the directory actor, read by event owners.
class stripe_accounts {
public:
  void publish(const std::vector<tenant_row>& tenants);
  /// False until the first publish.
  [[nodiscard]] bool are_known() const;
  /// Empty: no transfer.
  [[nodiscard]] std::string of(tenant_id tenant) const;

private:
  mutable std::mutex mutex_; // publish and the getters run on different threads
  bool are_known_ = false;
  std::map<tenant_id, std::string> accounts_;
};

} // namespace fq
