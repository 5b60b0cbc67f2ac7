// SPDX-License-Identifier: Apache-2.0
#include "net/service/code_guesses.hpp"

#include "net/service/services.hpp"

namespace fq::net {

code_guess::code_guess(context& ctx, const request& rq, const uuid& customer, const uuid& line,
                       bool has_code) :
    ctx_(ctx), customer_(customer), event_{0, number_of(owner_of(line))} {
  if (!has_code) return;
  const auto refuse = [&](const rate_limiter& limiter, const rate_verdict& verdict) {
    ctx.shared->counts.rate_limited.add();
    no = too_many(limiter.rule(), verdict, rq.request_id);
  };
  auto& own = ctx.shared->codes_of_customers;
  const auto now = ctx.environment.steady_now();
  const auto mine = own.take(customer, now);
  took_of_customer_ = mine.allowed;
  if (!mine.allowed) refuse(own, mine);
  if (!mine.allowed || mine.remaining + 3 >= own.rule().quota) return; // else several wrong codes lately
  auto& all = ctx.shared->codes_of_events;
  const auto of_all = all.take(event_, now);
  took_of_event_ = of_all.allowed;
  if (of_all.allowed) return;
  give_back();
  refuse(all, of_all);
}

void code_guess::give_back() {
  const auto now = ctx_.environment.steady_now();
  if (took_of_customer_) ctx_.shared->codes_of_customers.give_back(customer_, now);
  if (took_of_event_) ctx_.shared->codes_of_events.give_back(event_, now);
}

} // namespace fq::net
