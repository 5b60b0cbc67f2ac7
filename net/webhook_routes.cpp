// SPDX-License-Identifier: Apache-2.0
// Webhooks of payment gateways: the signature on the raw bytes first, then to the payment's owner, which records and applies it in one
// transaction; only then 200.
#include "domain/payments.hpp"
#include "net/guards.hpp"
#include "net/handlers.hpp"
#include "net/services.hpp"
#include "outbound/gateway.hpp"

namespace fq::net {
namespace {

verdict verdict_of(gateway_event_kind kind) {
  switch (kind) {
    case gateway_event_kind::charge_succeeded:
    case gateway_event_kind::charge_reported: return verdict::paid;
    case gateway_event_kind::charge_failed: return verdict::declined;
    case gateway_event_kind::refund_processed: return verdict::refund_processed;
    case gateway_event_kind::refund_failed: return verdict::refund_failed;
  }
  return verdict::nothing;
}

apply_fact fact_of(std::string_view gateway, gateway_event&& event) {
  return {.fact = {.gateway = std::string{gateway},
                   .gateway_event = std::move(event.id),
                   .what = verdict_of(event.kind),
                   .reference = std::move(event.reference),
                   .amount = event.money.amount,
                   .currency = std::move(event.money.currency),
                   .refund = std::move(event.refund_id),
                   .tax = event.tax,
                   .gateway_id = std::move(event.gateway_id)},
          .is_report = event.kind == gateway_event_kind::charge_reported};
}

response taken() { return {.status = 200, .body = "{}"}; }

/// Everything genuine is 200, also what is not ours to apply: an error would only bring it again. 503 does bring it again.
awaitable<response> apply(context& ctx, const request& rq, apply_fact wish, aggregate_id owner) {
  auto got = co_await ask_event(ctx, owner, std::move(wish));
  const bool retry = (got.error && !is(got.error, errc::absent)) || got.reply.no.why == reason::unavailable;
  if (retry)
    co_return problem(fault::unavailable, rq.request_id, {}, 1);
  const bool is_unknown = got.error || got.reply.no;
  (is_unknown ? ctx.shared->counts.webhooks_unknown : ctx.shared->counts.webhooks_applied).add();
  co_return taken();
}

awaitable<response> take_webhook(context& ctx, const request& rq, std::string_view gateway) {
  const auto known = ctx.shared->gateways.find(gateway);
  if (known == ctx.shared->gateways.end())
    return ready(problem(fault::not_found, rq.request_id));
  auto& counts = ctx.shared->counts;
  auto parsed = known->second->parse_webhook(rq.body, rq.field(known->second->signature_field()), ctx.environment.wall_now());
  if (const auto* wrong = std::get_if<webhook_error>(&parsed)) {
    switch (*wrong) {
      case webhook_error::bad_signature: counts.webhooks_rejected.add(); return ready(problem(fault::invalid_signature, rq.request_id));
      case webhook_error::unknown_event: counts.webhooks_ignored.add(); return ready(taken());
      case webhook_error::foreign_event: counts.webhooks_foreign.add(); return ready(taken());
    }
  }
  auto& event = std::get<gateway_event>(parsed);
  const auto payment = parse_reference(event.reference);
  if (!payment || number_of(owner_of(*payment)) < number_of(first_event_aggregate)) {
    counts.webhooks_foreign.add();
    return ready(taken());
  }
  return apply(ctx, rq, fact_of(gateway, std::move(event)), owner_of(*payment));
}

} // namespace

awaitable<response> post_sandbox_webhook(context& ctx, const request& rq, const path_parameters&) { return take_webhook(ctx, rq, "sandbox"); }
awaitable<response> post_paystack_webhook(context& ctx, const request& rq, const path_parameters&) { return take_webhook(ctx, rq, "paystack"); }
awaitable<response> post_stripe_webhook(context& ctx, const request& rq, const path_parameters&) { return take_webhook(ctx, rq, "stripe"); }

} // namespace fq::net
