// SPDX-License-Identifier: Apache-2.0
// The checker's part about waiting lists.
#include "tests/sim/checker.hpp"

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

void checker::check_list_turn(bool ends) {
  if (!ends && !sold_out()) fail("waiting list", "it began while there were units");
  if (ends && event_.waiting_list.enabled && !waiting_.empty())
    fail("waiting list", "it ended while people were on it");
  reached(ends ? rare::waiting_list_ended : rare::waiting_list_began);
}

void checker::check_offer(const entry_row& admitted) {
  if (!is_waiting_list()) return;
  if (admitted.claim_by != admitted.admitted_at + event_.waiting_list.claim_window
      || admitted.session_expires_at != admitted.claim_by + event_.claim_ttl)
    fail("I15", "an offer of the waiting list has another window");
  reached(rare::offered_from_list);
}

} // namespace fq::sim
