// SPDX-License-Identifier: Apache-2.0
#include "actors/payments/workers.hpp"

#include "actors/base/idle_poll.hpp"
#include "actors/payments/limits.hpp"
#include "crypto/password.hpp"

#include <memory>
#include <vector>

namespace fq {
namespace {

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

void take(const gateway_error& error, gateway_result otherwise, gateway_answered& out) {
  out.result = error.kind == gateway_error::kind_type::unavailable ? gateway_result::unavailable : otherwise;
  out.retry_after = error.retry_after;
  out.what = error.what;
  out.reference_already_used = error.reference_already_used;
}

void take(const verify_result& answer, gateway_answered& out) {
  const auto* state = std::get_if<charge_state>(&answer);
  if (state == nullptr) return take(std::get<gateway_error>(answer), gateway_result::unavailable, out);
  out.result = result_of(state->status);
  out.amount = state->money.amount;
  out.tax = state->tax;
  out.gateway_id = state->gateway_id;
  out.currency = state->money.currency;
}

void take(const initialize_result& answer, gateway_answered& out) {
  const auto* page = std::get_if<gateway_authorization>(&answer);
  if (page == nullptr) return take(std::get<gateway_error>(answer), gateway_result::rejected, out);
  out.result = gateway_result::initialized;
  out.authorization_url = page->url;
  out.gateway_id = page->gateway_id;
}

void take(const refund_result& answer, gateway_answered& out) {
  const auto* status = std::get_if<gateway_refund_status>(&answer);
  if (status == nullptr) return take(std::get<gateway_error>(answer), gateway_result::refund_refused, out);
  switch (*status) {
    case gateway_refund_status::pending: out.result = gateway_result::refund_pending; break;
    case gateway_refund_status::processed: out.result = gateway_result::refunded; break;
    case gateway_refund_status::failed: out.result = gateway_result::refund_refused; break;
  }
}

/// Starts the call; `then` receives the answer, on this thread or on one of the gateway's.
void perform(gateway_port& port, const call_gateway& x, std::function<void(gateway_answered)> then) {
  gateway_answered blank{.kind = x.kind,
                         .result = gateway_result::unavailable,
                         .gateway = x.gateway,
                         .payment = x.payment,
                         .reference = x.charge.reference,
                         .refund = x.refund};
  const auto answer = [blank = std::move(blank), then = std::move(then)](const auto& result) mutable {
    take(result, blank);
    then(std::move(blank));
  };
  switch (x.kind) {
    case gateway_call_kind::initialize: return port.initialize(x.charge, answer);
    case gateway_call_kind::verify: return port.verify(x.charge, answer);
    case gateway_call_kind::expire: return port.expire(x.charge, answer);
    case gateway_call_kind::refund:
      return port.refund({x.charge, to_string(x.refund), x.refund_amount}, answer);
  }
}

/// One round of webhook delivery; true if more may be due.
bool deliver_round(sandbox_gateway& gateway, webhook_sender& sender, const std::string& url,
                   environment& env) {
  const auto due = gateway.next_webhooks(env.wall_now(), webhooks_per_round);
  std::vector<std::int64_t> delivered, failed;
  for (const auto& hook : due) {
    const auto answer = sender.post(url, hook.body, {{sandbox_gateway::signature_header, hook.signature}});
    (answer.acknowledged() ? delivered : failed).push_back(hook.number);
    if (answer.status == 0) break; // receiver unreachable: stop this round
  }
  if (!delivered.empty()) gateway.mark_delivered(delivered);
  if (!failed.empty()) gateway.mark_failed(failed, env.wall_now());
  return due.size() == webhooks_per_round && failed.empty();
}

} // namespace

password_worker_handle::behavior_type password_worker(password_worker_handle::pointer) {
  return {
    [](const check_password& x) {
      return password_checked{x.stored.empty() ? verify_absent_user(x.password)
                                               : verify_password(x.stored, x.password)};
    },
    [](const hash_new_password& x) {
      try {
        return password_hashed{hash_password(x.password)};
      } catch (const std::exception&) { // out of memory, or too long: the caller answers unavailable
        return password_hashed{};
      }
    },
  };
}

gateway_worker_handle::behavior_type gateway_worker(gateway_worker_handle::pointer self, gateway_port* port) {
  return {[self, port](const call_gateway& x) {
    perform(*port, x,
            [asker = caf::actor_cast<caf::actor>(self->current_sender())](gateway_answered answered) {
              caf::anon_send(asker, std::move(answered));
            });
  }};
}

caf::behavior sandbox_courier(caf::event_based_actor* self, sandbox_gateway* gateway, std::string url,
                              environment* env, milliseconds poll, milliseconds timeout) {
  auto sender = std::make_shared<webhook_sender>(timeout);
  self->set_default_handler(caf::drop);
  self->send(self, timer_fired{timer_kind::flush, 0});
  return {[=](const timer_fired& t) {
    const bool more = deliver_round(*gateway, *sender, url, *env);
    poll_after(self, more ? milliseconds{0} : poll, t);
  }};
}

} // namespace fq
