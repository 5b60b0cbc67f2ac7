// SPDX-License-Identifier: Apache-2.0
// The checker's model of check-in: a scan is recorded once, its answer never changes, and the state of a
// ticket follows from its scans (which check_rows compares).
#include "tests/sim/checker.hpp"

namespace fq::sim {

void checker::see(const checkin_list_stored& c) { checkin_lists_[c.row.id] = c.row; }
void checker::see(const checkin_device_stored& c) { checkin_devices_[c.row.id] = c.row; }

void checker::see(const scan_recorded& c) {
  if (!scans_.emplace(c.row.id, c.row).second) fail("I9", "a scan was recorded twice");
  if (!checkin_lists_.contains(c.row.list)) fail("I9", "a scan at no list");
  if (c.row.is_admitted && !event_tickets_.contains(c.row.ticket)) fail("I9", "no ticket was let in");
  if (c.row.is_forced && c.row.objection != scan_objection::none) reached(rare::gate_conflict);
}

void checker::saw_scan(const scan_wish& wish, const scan_view& told) {
  if (told.no != reason::none) return;
  if (told.scan.id != wish.id) return fail("I9", "the answer to a scan is about another one");
  const auto recorded = scans_.find(wish.id);
  if (recorded == scans_.end()) return fail("I7", "a scan was answered that is not durable");
  if (recorded->second != told.scan) fail("I9", "a scan has another answer than before");
  const auto& device = checkin_devices_.at(told.scan.device);
  if (told.scan.is_forced && !wish.passed && !device.may_force)
    fail("I9", "a device let in against the rules and may not");
  if (told.is_replayed) reached(rare::scan_replayed);
}

} // namespace fq::sim
