// SPDX-License-Identifier: Apache-2.0
// Claims: hold stock for a customer, read it, release it. The event actor decides.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/api/seat_wishes.hpp"
#include "net/service/guards.hpp"
#include "net/service/idempotency.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/view_codec.hpp"

namespace fq::net {
namespace {

void read_claim_items(object_reader& body, std::vector<item_wish>& items) {
  body.objects("items", items_count, [&items](object_reader& item) { items.push_back(read_item(item)); });
}

std::optional<response> read_claim_request(const request& rq, open_claim& wish) {
  return read_json(rq, body_need::required, [&wish](object_reader& body) {
    body.require("admission_token");
    wish.admission_token = body.text("admission_token", admission_token_size).value;
    read_claim_items(body, wish.items);
    read_seats(body, wish.seats);
  });
}

response new_claim_answer(const call& c, const claim_reply& reply) {
  response answer;
  answer.status = 201;
  answer.body = claim_text(reply.claim);
  answer.fields.emplace_back("Location", location(c.ctx, "/claims/", reply.claim.claim.id));
  if (reply.replayed)
    mark_replayed(c.ctx, answer);
  else
    c.ctx.shared->counts.claims_created.add();
  return answer;
}

awaitable<response> take_stock(call c) {
  auto key = read_idempotency(c.rq, c.who);
  if (key.no) co_return std::move(*key.no);
  open_claim wish{c.id, c.who, {}, {}, key.ref};
  if (auto no = read_claim_request(c.rq, wish)) co_return std::move(*no);
  keys_in_flight::hold working;
  if (auto no = c.ctx.shared->idempotency.enter(key.ref, c.rq.request_id, working)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) {
    c.ctx.shared->counts.claims_refused.add();
    co_return std::move(*no);
  }
  co_return new_claim_answer(c, got.reply);
}

awaitable<response> read_claim(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_claim{c.who, c.id});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  answer.body = claim_text(got.reply.claim);
  co_return answer;
}

awaitable<response> give_stock_back(call c) {
  std::optional<response> no = expect_no_body(c.rq);
  if (no) co_return std::move(*no);
  const bool leaves = read_flag(c.rq, query_parameters::read(c.rq, {"leave"}, no), "leave", no);
  if (no) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), release_claim{c.who, c.id, leaves});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 204, .content_type = {}};
}

} // namespace

std::span<const route> claim_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/events/{id}/claims", for_customers<take_stock>},
    {get, "/claims/{id}", for_customers<read_claim>},
    {del, "/claims/{id}", for_customers<give_stock_back, query_use::own>},
  };
  return table;
}

} // namespace fq::net
