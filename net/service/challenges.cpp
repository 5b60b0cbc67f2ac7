// SPDX-License-Identifier: Apache-2.0
#include "net/service/challenges.hpp"

#include "actors/protocol/accounts_messages.hpp"
#include "actors/protocol/fan_messages.hpp"
#include "net/bridge/actor_bridge.hpp"
#include "net/service/callback.hpp"
#include "net/service/guards.hpp"
#include "net/service/limits.hpp"
#include "net/service/services.hpp"
#include "net/wire/json_in.hpp"
#include "outbound/captcha.hpp"

namespace fq::net {
namespace {

refusal required_at(const challenge_target& target) {
  refusal no{reason::challenge_required};
  no.id = target.id;
  no.first = target.kind == event_kind::queue ? 1 : 0;
  return no;
}

challenge_given given(const request& rq, answer<challenge_reply>& got) {
  return {refused(rq, got), std::move(got.reply)};
}

} // namespace

void check_challenge(object_reader& body, const event_patch& settings, const context& ctx) {
  const auto* kind = settings.find(&event_row::challenge);
  const bool needs_keys =
    kind != nullptr && (*kind == challenge_kind::turnstile || *kind == challenge_kind::hcaptcha);
  if (needs_keys && ctx.shared->captcha_of(*kind) == nullptr)
    body.reject("challenge", "This installation has no keys of that provider.");
}

awaitable<challenge_given> open_challenge_of(context& ctx, const request& rq, challenge_target target,
                                             challenge_way way) {
  const auto client = limit_key(rq.peer);
  if (target.id.is_nil()) {
    auto got = co_await ask(ctx, ctx.accounts, open_code_challenge{client, way});
    co_return given(rq, got);
  }
  auto got =
    co_await ask_event(ctx, owner_of(target.id), open_challenge{target.id, target.kind, client, way});
  co_return given(rq, got);
}

awaitable<challenge_given> pass_captcha(context& ctx, const request& rq, challenge_target target,
                                        challenge_kind kind, std::string captcha) {
  auto* port = ctx.shared->captcha_of(kind);
  if (port == nullptr) co_return challenge_given{problem(fault::unavailable, rq.request_id, {}, 30)};
  if (captcha.empty()) co_return challenge_given{refusal_problem(required_at(target), rq)};
  auto bound_to = target.id.is_nil() ? std::string{} : to_string(target.id);
  auto start = [port, captcha = std::move(captcha), action = std::string{target.action()},
                bound_to = std::move(bound_to)](std::function<void(captcha_verdict)> done) mutable {
    port->verify(std::move(captcha), std::move(action), std::move(bound_to), std::move(done));
  };
  const auto verdict = co_await callback<captcha_verdict>(ctx.io, std::move(start));
  if (verdict == captcha_verdict::unavailable)
    co_return challenge_given{problem(fault::unavailable, rq.request_id,
                                      "The provider of the captcha does not answer.", captcha_retry_seconds)};
  if (verdict == captcha_verdict::refused)
    co_return challenge_given{refusal_problem(required_at(target), rq)};
  auto passing = open_challenge_of(ctx, rq, target, challenge_way::captcha);
  co_return co_await passing;
}

} // namespace fq::net
