// SPDX-License-Identifier: Apache-2.0
// Payment attempts of a claim: start one (or get the open one), read one. The event actor decides.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/service/guards.hpp"
#include "net/service/idempotency.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/view_codec.hpp"

namespace fq::net {
namespace {

std::optional<response> read_payment_request(const call& c, open_payment& wish) {
  const auto& gateways = c.ctx.shared->gateways;
  wish.gateway = c.ctx.options.payments.gateway;
  auto no = read_json(c.rq, body_need::optional, [&](object_reader& body) {
    const auto gateway = body.text("gateway", gateway_name_size);
    if (gateway.given && !gateways.contains(gateway.value))
      body.reject("gateway", "Is not a gateway of this server.");
    if (gateway.given) wish.gateway = gateway.value;
  });
  if (no) return no;
  if (!c.ctx.shared->may_name(wish.gateway))
    return problem(refusal{reason::gateway_unavailable}, c.rq.request_id);
  return std::nullopt;
}

response payment_answer(const call& c, const payment_reply& reply) {
  response answer;
  answer.status = reply.created ? 201 : 200;
  answer.body = payment_text(reply.payment);
  if (reply.created)
    answer.fields.emplace_back("Location", location(c.ctx, "/payments/", reply.payment.payment.id));
  if (reply.replayed)
    mark_replayed(c.ctx, answer);
  else if (reply.created)
    c.ctx.shared->counts.payments_created.add();
  return answer;
}

awaitable<response> begin_payment(call c) {
  auto key = read_idempotency(c.rq, c.who);
  if (key.no) co_return std::move(*key.no);
  open_payment wish{c.who, c.id, {}, key.ref, c.rq.trace};
  if (auto no = read_payment_request(c, wish)) co_return std::move(*no);
  keys_in_flight::hold working;
  if (auto no = c.ctx.shared->idempotency.enter(key.ref, c.rq.request_id, working)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return payment_answer(c, got.reply);
}

awaitable<response> read_payment(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_payment{c.who, c.id});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  answer.body = payment_text(got.reply.payment);
  co_return answer;
}

} // namespace

std::span<const route> payment_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/claims/{id}/payments", for_customers_or_guests<begin_payment>},
    {get, "/payments/{id}", for_customers<read_payment>},
  };
  return table;
}

} // namespace fq::net
