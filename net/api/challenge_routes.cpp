// SPDX-License-Identifier: Apache-2.0
// Challenges: GET opens one, POST exchanges a captcha's response for one that is solved. The client sends it
// with its join or its request for a code.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/service/challenges.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/challenge_codec.hpp"
#include "net/wire/json_in.hpp"
#include "outbound/captcha.hpp"

namespace fq::net {
namespace {

template <event_kind Kind>
challenge_target target_of(const call& c) {
  return {c.id, Kind};
}

template <event_kind Kind>
awaitable<response> open(call c) {
  const auto target = target_of<Kind>(c);
  auto given = co_await open_challenge_of(c.ctx, c.rq, target, challenge_way::work);
  if (given.no) co_return std::move(*given.no);
  captcha_terms terms{{}, target.action(), c.id.is_nil() ? std::string{} : to_string(c.id)};
  if (const auto* port = c.ctx.shared->captcha_of(given.reply.kind)) terms.site_key = port->site_key();
  response answer;
  append_challenge(answer.body, given.reply, terms);
  co_return answer;
}

/// Asks the owner for the kind first: a client does not choose it.
template <event_kind Kind>
awaitable<response> exchange(call c) {
  std::string captcha;
  auto wrong = read_json(c.rq, body_need::required, [&](object_reader& body) {
    body.require("captcha");
    captcha = body.text("captcha", captcha_size).value;
  });
  if (wrong) co_return std::move(*wrong);
  const auto target = target_of<Kind>(c);
  auto asked = co_await open_challenge_of(c.ctx, c.rq, target, challenge_way::work);
  if (asked.no) co_return std::move(*asked.no);
  const auto kind = asked.reply.kind;
  if (kind == challenge_kind::none || kind == challenge_kind::proof_of_work)
    co_return problem(fault::invalid_field, c.rq.request_id,
                      {{"captcha", "invalid", "No captcha is asked for here."}});
  auto given = co_await pass_captcha(c.ctx, c.rq, target, kind, std::move(captcha));
  if (given.no) co_return std::move(*given.no);
  co_return response{.status = 201, .body = R"({"challenge":")" + payload_of(given.reply.solved) + "\"}"};
}

} // namespace

std::span<const route> challenge_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/events/{id}/challenge", for_anybody<open<event_kind::sale>, address_limit::anonymous>},
    {post, "/events/{id}/challenge", for_anybody<exchange<event_kind::sale>, address_limit::anonymous>},
    {get, "/queues/{id}/challenge", for_anybody<open<event_kind::queue>, address_limit::anonymous>},
    {post, "/queues/{id}/challenge", for_anybody<exchange<event_kind::queue>, address_limit::anonymous>},
    {get, "/auth/challenge", for_anybody<open<event_kind::sale>, address_limit::anonymous>},
    {post, "/auth/challenge", for_anybody<exchange<event_kind::sale>, address_limit::anonymous>},
  };
  return table;
}

} // namespace fq::net
