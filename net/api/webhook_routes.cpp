// SPDX-License-Identifier: Apache-2.0
// Webhooks of payment gateways. Checks the signature of the raw bytes, then sends the fact to the payment's
// owner, which records and applies it in one transaction. Answers 200 only after that.
#include "actors/payments/webhook_facts.hpp"
#include "net/api/routes.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "outbound/gateway.hpp"

#include <boost/json/serialize.hpp>
#include <spdlog/spdlog.h>

namespace fq::net {
namespace {

response taken() { return {.status = 200, .body = "{}"}; }

/// Money for an event that the ledger does not have: a person must find it. Writes the format of app/log.
void log_lost(const std::string& money) {
  spdlog::error(R"("message":"money was taken for an event that the ledger does not have","what":{})",
                boost::json::serialize(boost::json::string{money}));
}

/// Answers 200 to every genuine webhook, even if it does not apply here: an error would only cause a
/// repetition. 503 requests a repetition.
awaitable<response> apply(context& ctx, const request& rq, apply_fact wish, aggregate_id owner) {
  const auto money = money_in(wish);
  auto got = co_await ask_event(ctx, owner, std::move(wish));
  if (got.error && is(got.error, errc::absent) && !money.empty()) {
    ctx.shared->counts.webhooks_lost.add();
    log_lost(money);
    co_return taken();
  }
  if (is_undecided(got.error, got.reply.no)) co_return problem(fault::unavailable, rq.request_id, {}, 1);
  const bool is_unknown = got.error || got.reply.no;
  (is_unknown ? ctx.shared->counts.webhooks_unknown : ctx.shared->counts.webhooks_applied).add();
  co_return taken();
}

/// The gateway's name ends the path.
awaitable<response> take_webhook(context& ctx, const request& rq, const path_parameters&) {
  const auto gateway = rq.path.substr(rq.path.rfind('/') + 1);
  const auto known = ctx.shared->gateways.find(gateway);
  if (known == ctx.shared->gateways.end()) return ready(problem(fault::not_found, rq.request_id));
  auto& counts = ctx.shared->counts;
  auto parsed = fact_of_webhook(*known->second, rq.body, rq.field(known->second->signature_field()),
                                ctx.environment.wall_now());
  if (const auto* wrong = std::get_if<webhook_error>(&parsed)) {
    switch (*wrong) {
      case webhook_error::bad_signature:
        counts.webhooks_rejected.add();
        return ready(problem(fault::invalid_signature, rq.request_id));
      case webhook_error::unknown_event: counts.webhooks_ignored.add(); break;
      case webhook_error::foreign_event: counts.webhooks_foreign.add(); break;
    }
    give_back(ctx, rq, address_limit::webhook);
    return ready(taken());
  }
  give_back(ctx, rq, address_limit::webhook);
  auto& fact = std::get<webhook_fact>(parsed);
  return apply(ctx, rq, std::move(fact.wish), fact.owner);
}

} // namespace

/// The signature tells gateways from others: each forgery counts against its address.
constexpr auto for_gateways = self_guarded_for_anybody<take_webhook, address_limit::webhook>;

std::span<const route> webhook_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/webhooks/sandbox", for_gateways, webhook_body},
    {post, "/webhooks/paystack", for_gateways, webhook_body},
    {post, "/webhooks/stripe", for_gateways, webhook_body},
  };
  return table;
}

} // namespace fq::net
