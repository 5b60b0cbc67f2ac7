// SPDX-License-Identifier: Apache-2.0
#include "actors/workers.hpp"

#include "crypto/password.hpp"

#include <memory>
#include <vector>

namespace fq {
namespace {

constexpr std::size_t webhooks_per_round = 64;

gateway_result result_of(charge_status status) {
  switch (status) {
    case charge_status::unknown: return gateway_result::unknown_reference;
    case charge_status::unpaid: return gateway_result::unpaid;
    case charge_status::paid: return gateway_result::paid;
    case charge_status::declined:
    case charge_status::expired: return gateway_result::closed;
  }
  return gateway_result::unavailable;
}

gateway_result result_of(gateway_error error) {
  return error == gateway_error::unavailable ? gateway_result::unavailable : gateway_result::closed;
}

void take(const verify_result& answer, gateway_answered& out) {
  if (const auto* state = std::get_if<charge_state>(&answer)) {
    out.result = result_of(state->status);
    out.amount = state->money.amount;
    out.currency = state->money.currency;
  } else {
    out.result = result_of(std::get<gateway_error>(answer));
  }
}

void take(const initialize_result& answer, gateway_answered& out) {
  if (const auto* page = std::get_if<gateway_authorization>(&answer)) {
    out.result = gateway_result::initialized;
    out.authorization_url = page->url;
  } else {
    out.result = result_of(std::get<gateway_error>(answer));
  }
}

void take(const refund_result& answer, gateway_answered& out) {
  if (const auto* error = std::get_if<gateway_error>(&answer)) {
    out.result = *error == gateway_error::unavailable ? gateway_result::unavailable : gateway_result::refund_refused;
    return;
  }
  switch (std::get<gateway_refund_status>(answer)) {
    case gateway_refund_status::pending: out.result = gateway_result::refund_pending; break;
    case gateway_refund_status::processed: out.result = gateway_result::refunded; break;
    case gateway_refund_status::failed: out.result = gateway_result::refund_refused; break;
  }
}

gateway_answered perform(gateway_port& port, const call_gateway& x) {
  gateway_answered out{x.kind, gateway_result::unavailable, x.gateway, x.payment, x.reference, {}, x.amount, x.currency, x.refund};
  switch (x.kind) {
    case gateway_call_kind::initialize: take(port.initialize({x.reference, {x.amount, x.currency}, {}, {}}), out); break;
    case gateway_call_kind::verify: take(port.verify(x.reference), out); break;
    case gateway_call_kind::expire: take(port.expire(x.reference), out); break;
    case gateway_call_kind::refund: take(port.refund({x.reference, to_string(x.refund), x.amount}), out); break;
  }
  return out;
}

/// One round of webhook delivery; true if there may be more at once.
bool deliver_round(sandbox_gateway& gateway, webhook_sender& sender, const std::string& url, environment& env) {
  const auto due = gateway.next_webhooks(env.wall_now(), webhooks_per_round);
  std::vector<std::int64_t> delivered, failed;
  for (const auto& hook : due) {
    const auto answer = sender.post(url, hook.body, {{sandbox_gateway::signature_header, hook.signature}});
    (answer.acknowledged() ? delivered : failed).push_back(hook.number);
    if (answer.status == 0) break; // nobody answers: no use in trying the others now
  }
  if (!delivered.empty()) gateway.mark_delivered(delivered);
  if (!failed.empty()) gateway.mark_failed(failed, env.wall_now());
  return due.size() == webhooks_per_round && failed.empty();
}

} // namespace

password_worker_handle::behavior_type password_worker(password_worker_handle::pointer) {
  return {
    [](const check_password& x) {
      return password_checked{x.stored.empty() ? verify_absent_user(x.password) : verify_password(x.stored, x.password)};
    },
    [](const hash_new_password& x) {
      try {
        return password_hashed{hash_password(x.password)};
      } catch (const std::exception&) { // no memory, or too long: the caller answers unavailable
        return password_hashed{};
      }
    },
  };
}

gateway_worker_handle::behavior_type gateway_worker(gateway_worker_handle::pointer self, gateway_port* port) {
  return {[self, port](const call_gateway& x) {
    caf::anon_send(caf::actor_cast<caf::actor>(self->current_sender()), perform(*port, x));
  }};
}

caf::behavior sandbox_courier(caf::event_based_actor* self, sandbox_gateway* gateway, std::string url, environment* env,
                              milliseconds poll, milliseconds timeout) {
  auto sender = std::make_shared<webhook_sender>(timeout);
  self->set_default_handler(caf::drop);
  self->send(self, timer_fired{timer_kind::flush, 0});
  return {[=](const timer_fired&) {
    const bool more = deliver_round(*gateway, *sender, url, *env);
    self->delayed_send(self, more ? milliseconds{0} : poll, timer_fired{timer_kind::flush, 0});
  }};
}

} // namespace fq
