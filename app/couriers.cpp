// SPDX-License-Identifier: Apache-2.0
#include "app/couriers.hpp"

#include "app/limits.hpp"
#include "app/log.hpp"
#include "app/webhook_channels.hpp"
#include "crypto/webhook_signature.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace fq {
namespace {

void notify_contact(const mailer_handle& mailer, const webhook_endpoint_row& endpoint,
                    const std::string& why) {
  const auto reason = why == "gone" ? "it answered that it is gone (410)" : "it took nothing for three days";
  caf::anon_send(mailer,
                 send_mail{endpoint.contact, "Webhooks were turned off",
                           "No more webhooks are sent to\n\n  " + endpoint.url + "\n\nbecause " + reason
                             + ". Turn the endpoint " + to_string(endpoint.id)
                             + " on again once it works. What could not be sent until now is in its log and "
                               "can be sent again; what happens while it is off is not kept for it."});
}

} // namespace

couriers::couriers(const config::options& options, environment& env, const key_store& keys,
                   notice_counts& counts) :
    options_(options),
    env_(env),
    webhook_key_(webhook_key_of(keys.stored)),
    counts_(counts),
    push_(open_push_channels(options, env)),
    webhooks_(open_webhooks(options, env)) {}

void couriers::spawn(caf::actor_system& system, root_children& children, const ledger_workers& ledgers,
                     const mailer_handle& mailer, std::function<bool()> may_take) {
  const auto start = [&](channel way, channel_port* port, std::size_t at_once, double per_second) {
    auto& s = services_[way];
    s.env = &env_;
    s.ledgers = ledgers;
    s.way = way;
    s.port = port;
    s.may_take = may_take;
    s.warn = [](const std::string& what) { log::warn("notices", {{"what", what}}); };
    s.counts = &counts_;
    s.max_in_flight = at_once;
    s.per_second = per_second;
    s.has_tenant_shares = true;
    if (way == channel::webhook) {
      s.per_target = std::max<std::size_t>(1, at_once / 4);
      s.secrets = [this](const webhook_endpoint_row& e, timestamp now) {
        return webhook_secrets(webhook_key_, e.id, e.secret_no, now < e.previous_until);
      };
      s.on_disabled = [this, mailer](const webhook_endpoint_row& e, const std::string& why) {
        log::warn("a webhook endpoint was turned off", {{"endpoint", to_string(e.id)}, {"why", why}});
        if (!e.contact.empty() && contacts_.take(e, env_.wall_now())) notify_contact(mailer, e, why);
      };
    }
    const auto actor = system.spawn(courier, static_cast<const courier_services*>(&s));
    children.emplace_back(std::string{to_string(way)} + " courier", caf::actor_cast<caf::actor>(actor));
  };
  start(channel::webhook, webhooks_.get(), webhooks_at_once, 0);
  start(channel::fcm, push_.fcm.get(), pushes_at_once, pushes_per_second);
  start(channel::apns, push_.apns.get(), pushes_at_once, pushes_per_second);
  start(channel::ntfy, push_.ntfy.get(), mirrored_at_once, mirrored_per_second);
}

void couriers::clear() {
  for (auto& [way, s] : services_) {
    s.ledgers.clear();
    s.on_disabled = nullptr;
  }
}

} // namespace fq
