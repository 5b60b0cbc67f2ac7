// SPDX-License-Identifier: Apache-2.0
#include "app/gateways.hpp"

#include "outbound/paystack_gateway.hpp"
#include "outbound/stripe_gateway.hpp"

namespace fq {
namespace {

http_client::settings gateway_http(const config::options& o) {
  http_client::settings s;
  s.timeout = o.gateway.call_timeout;
  return s;
}

} // namespace

std::map<std::string, std::unique_ptr<gateway_port>> open_gateways(const config::options& o,
                                                                   environment& env) {
  std::map<std::string, std::unique_ptr<gateway_port>> all;
  const auto back = o.http.public_url + "/checkout/return";
  if (const auto keys = config::split_list(o.paystack.secret_keys); !keys.empty()) {
    paystack_gateway::settings s;
    s.secret_keys = keys;
    s.fallback_email = o.paystack.fallback_email;
    s.callback_url = back;
    s.url = o.paystack.url;
    s.call_timeout = o.gateway.call_timeout;
    s.http = gateway_http(o);
    all.emplace("paystack", std::make_unique<paystack_gateway>(std::move(s), env));
  }
  if (!o.stripe.secret_key.empty()) {
    stripe_gateway::settings s;
    s.secret_key = o.stripe.secret_key;
    s.webhook_secrets = config::split_list(o.stripe.webhook_secrets);
    s.success_url = s.cancel_url = back;
    s.automatic_tax = o.stripe.automatic_tax;
    s.url = o.stripe.url;
    s.call_timeout = o.gateway.call_timeout;
    s.http = gateway_http(o);
    all.emplace("stripe", std::make_unique<stripe_gateway>(std::move(s), env));
  }
  return all;
}

void stripe_accounts::publish(const std::vector<tenant_row>& tenants) {
  const std::scoped_lock held{mutex_};
  are_known_ = true;
  accounts_.clear();
  for (const auto& t : tenants)
    if (!t.stripe_account.empty()) accounts_.emplace(t.id, t.stripe_account);
}

bool stripe_accounts::are_known() const {
  const std::scoped_lock held{mutex_};
  return are_known_;
}

std::string stripe_accounts::of(tenant_id tenant) const {
  const std::scoped_lock held{mutex_};
  const auto found = accounts_.find(tenant);
  return found == accounts_.end() ? std::string{} : found->second;
}

} // namespace fq
