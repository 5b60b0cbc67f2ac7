// SPDX-License-Identifier: Apache-2.0
// The payment gateways that the options switch on, but for the sandbox; and whose account at Stripe a
// tenant's money goes on to.
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

/// By name. Throws what the gateways throw.
std::map<std::string, std::unique_ptr<gateway_port>> open_gateways(const config::options& options,
                                                                   environment& env);

/// Written by the directory actor, read by owners of events.
class stripe_accounts {
public:
  void publish(const std::vector<tenant_row>& tenants);
  /// False until published for the first time.
  [[nodiscard]] bool are_known() const;
  /// Empty: the money stays.
  [[nodiscard]] std::string of(tenant_id tenant) const;

private:
  mutable std::mutex mutex_; // two actors' threads meet here
  bool are_known_ = false;
  std::map<tenant_id, std::string> accounts_;
};

} // namespace fq
