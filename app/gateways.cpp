// SPDX-License-Identifier: Apache-2.0
#include "app/gateways.hpp"

#include "outbound/paystack_gateway.hpp"
#include "outbound/stripe_gateway.hpp"

#include <algorithm>
#include <string_view>

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

namespace {

/// `lines`: "key=value".
std::vector<gateway_label> labels_in(std::string_view lines) {
  std::vector<gateway_label> labels;
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    const auto equals = std::min(line.find('='), line.size());
    labels.push_back(
      {std::string{line.substr(0, equals)}, std::string{line.substr(std::min(equals + 1, line.size()))}});
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
  if (std::ranges::find(labels, "site", &gateway_label::key) == labels.end())
    labels.push_back({"site", "fairqueue"});
  return labels;
}

} // namespace

void tenant_payments::publish(const std::vector<tenant_row>& tenants) {
  const std::scoped_lock held{mutex_};
  are_known_ = true;
  settings_.clear();
  for (const auto& t : tenants)
    settings_.emplace(t.id, settings{t.stripe_account, t.paystack_subaccount, labels_in(t.payment_metadata)});
}

bool tenant_payments::are_known() const {
  const std::scoped_lock held{mutex_};
  return are_known_;
}

tenant_payments::settings tenant_payments::of(tenant_id tenant) const {
  const std::scoped_lock held{mutex_};
  const auto found = settings_.find(tenant);
  return found == settings_.end() ? settings{} : found->second;
}

std::string tenant_payments::destination(const std::string& gateway, tenant_id tenant) const {
  if (gateway == "stripe") return of(tenant).stripe_account;
  return gateway == "paystack" ? of(tenant).paystack_subaccount : std::string{};
}

std::vector<gateway_label> tenant_payments::metadata(tenant_id tenant) const { return of(tenant).metadata; }

} // namespace fq
