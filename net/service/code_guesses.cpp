// SPDX-License-Identifier: Apache-2.0
#include "net/service/code_guesses.hpp"

#include "net/service/services.hpp"

namespace fq::net {
namespace {

bool is_address(const uuid& who) { return who.is_nil() || is_guest(who); }

/// Three of a customer's ten; an address has many right ones under way.
bool has_several_wrong(const rate_rule& rule, const rate_verdict& verdict) {
  return verdict.remaining + rule.quota * 3 / 10 < rule.quota;
}

} // namespace

code_guess::code_guess(context& ctx, const request& rq, const uuid& who, const uuid& line, bool has_code) :
    ctx_(ctx),
    own_(is_address(who) ? ctx.shared->codes_of_clients : ctx.shared->codes_of_customers),
    guesser_(is_address(who) ? limit_key(rq.peer) : who),
    event_{0, number_of(owner_of(line))} {
  if (!has_code) return;
  const auto refuse = [&](const rate_limiter& limiter, const rate_verdict& verdict) {
    ctx.shared->counts.rate_limited.add();
    no = too_many(limiter.rule(), verdict, rq.request_id);
  };
  const auto now = ctx.environment.steady_now();
  const auto mine = own_.take(guesser_, now);
  took_own_ = mine.allowed;
  if (!mine.allowed) refuse(own_, mine);
  if (!mine.allowed || !has_several_wrong(own_.rule(), mine)) return;
  auto& all = ctx.shared->codes_of_events;
  const auto of_all = all.take(event_, now);
  took_of_event_ = of_all.allowed;
  if (of_all.allowed) return;
  give_back();
  refuse(all, of_all);
}

void code_guess::give_back() {
  if (!took_own_ && !took_of_event_) return;
  const auto now = ctx_.environment.steady_now();
  if (took_own_) own_.give_back(guesser_, now);
  if (took_of_event_) ctx_.shared->codes_of_events.give_back(event_, now);
}

} // namespace fq::net
