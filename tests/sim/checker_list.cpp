// SPDX-License-Identifier: Apache-2.0
// The checker's part about waiting lists.
#include "tests/sim/checker.hpp"

#include <algorithm>

namespace fq::sim {

/// The settings in force: on the waiting list one person is offered each unit, without a call.
queue_settings checker::admission() const {
  auto q = event_.queue;
  if (!is_waiting_list()) return q;
  if (q.policy == admission_policy::open || q.policy == admission_policy::operated)
    q.policy = admission_policy::capacity;
  q.over_admission_percent = 100;
  return q;
}

/// No unit is held or can be sold any more, but one that came back could be.
bool checker::needs_list(timestamp now) const {
  const auto is_kept = [now](const auto& t) { return !is_set(t.sale_until) || now < t.sale_until; };
  return std::ranges::any_of(types_, is_kept) && std::ranges::none_of(types_, [&](const auto& t) {
           return t.held > 0 || (is_kept(t) && t.total - t.held - t.sold > 0);
         });
}

void checker::check_list_turn(bool ends) {
  if (!ends && !needs_list(event_.waiting_list.began_at))
    fail("waiting list", "it began while there were units");
  if (ends && event_.waiting_list.enabled && !waiting_.empty())
    fail("waiting list", "it ended while people were on it");
  reached(ends ? rare::waiting_list_ended : rare::waiting_list_began);
}

void checker::check_list_begins(timestamp now, timestamp owned_since) {
  const bool is_due = event_.waiting_list.enabled && !is_waiting_list()
                      && event_.status == event_status::active && needs_list(now);
  if (!is_due) no_list_due_at_ = now;
  if (now > std::max(no_list_due_at_, owned_since) + sweep)
    fail("waiting list", "nothing can be bought, and it did not begin");
}

void checker::check_offer(const entry_row& admitted) {
  if (!is_waiting_list()) return;
  if (admitted.claim_by != admitted.admitted_at + event_.waiting_list.claim_window
      || admitted.session_expires_at != admitted.claim_by + event_.claim_ttl)
    fail("I15", "an offer of the waiting list has another window");
  reached(rare::offered_from_list);
}

} // namespace fq::sim
