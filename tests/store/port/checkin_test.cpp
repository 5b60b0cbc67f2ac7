// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: check-in lists, devices and scans.
#define CAF_SUITE store_checkin
#include "tests/store/port/engines.hpp"

namespace checkin_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(lists and devices are kept and replaced by id) {
  in_every_world([](world& w) {
    auto list = sample_checkin_list(1);
    list.ticket_types = std::uint64_t{1} << 50;
    list.gates = "West\nEast";
    list.mode = checkin_mode::entry_and_exit;
    auto device = sample_checkin_device(1);
    device.lists = {list.id, id_of(9)};
    FQ_COMMITS(w.put({checkin_list_stored{list}, checkin_device_stored{device}}));
    CAF_CHECK((w.image().checkin_lists == std::vector{list}));
    CAF_CHECK((w.image().checkin_devices == std::vector{device}));
    list.name = "Other";
    list.removed_at = noon;
    device.revoked_at = noon;
    device.may_force = true;
    FQ_COMMITS(w.put({checkin_list_stored{list}, checkin_device_stored{device}}));
    CAF_CHECK((w.image().checkin_lists == std::vector{list}));
    CAF_CHECK((w.image().checkin_devices == std::vector{device}));
    list.name.clear();
    FQ_CONFLICTS(w.put({checkin_list_stored{list}}));
    device.secret_hash.clear();
    FQ_CONFLICTS(w.put({checkin_device_stored{device}}));
  });
}

CAF_TEST(a scan is recorded once whatever its id) {
  in_every_world([](world& w) {
    auto late = sample_scan(9, id_of(5)), early = sample_scan(1, {});
    late.type = scan_type::exit;
    late.is_forced = true;
    late.earlier = {4, 4};
    late.at = noon - seconds{60};
    early.is_admitted = false;
    early.objection = scan_objection::unreadable;
    FQ_COMMITS(w.put({scan_recorded{late}, scan_recorded{early}}));
    CAF_CHECK((w.image().scans == std::vector{early, late})); // by id
    FQ_CONFLICTS(w.put({scan_recorded{late}}));
    auto other = late;
    other.ticket = id_of(6);
    FQ_CONFLICTS(w.put({scan_recorded{other}}));
    auto silent = sample_scan(2, id_of(5));
    silent.is_admitted = false; // without a reason
    FQ_CONFLICTS(w.put({scan_recorded{silent}}));
  });
}

namespace {

std::size_t prune_scans(world& w, timestamp before, std::size_t limit = 10) {
  prune_bounds bounds{never, never, never, limit};
  bounds.contacts_before = before;
  return w.store.prune(bounds);
}

/// Ends the sale and the event.
void end_event(world& w, timestamp starts_at, timestamp ends_at) {
  auto event = *w.image().event;
  const auto from = event.status;
  event.status = event_status::ended;
  event.sale_end = noon - seconds{600};
  event.facts.starts_at = starts_at;
  event.facts.ends_at = ends_at;
  FQ_COMMITS(w.put({event_changed{from, event}}));
}

scan_row scan_at(std::uint64_t n, const event_ticket_id& ticket, timestamp at) {
  auto scan = sample_scan(n, ticket);
  scan.at = scan.received_at = at;
  return scan;
}

} // namespace

CAF_TEST(scans stay until the event has ended) {
  in_every_world([](world& w) {
    const auto old = scan_at(1, id_of(5), noon - seconds{500});
    FQ_COMMITS(w.put({scan_recorded{old}}));
    CAF_CHECK_EQUAL(prune_scans(w, never), 0u);
    CAF_CHECK_EQUAL(prune_scans(w, noon), 0u); // it has not
    end_event(w, noon - seconds{10}, noon + seconds{50}); // its sale has: a festival goes on
    CAF_CHECK_EQUAL(prune_scans(w, noon), 0u);
    CAF_CHECK_EQUAL(prune_scans(w, noon + seconds{50}), 0u);
    CAF_CHECK_EQUAL(prune_scans(w, noon + seconds{51}), 1u);
    CAF_CHECK(w.image().scans.empty());
  });
}

CAF_TEST(scans of an event without an end stay until its begin) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({scan_recorded{scan_at(1, id_of(5), noon - seconds{500})}}));
    end_event(w, noon, never);
    CAF_CHECK_EQUAL(prune_scans(w, noon), 0u);
    CAF_CHECK_EQUAL(prune_scans(w, noon + seconds{1}), 1u);
  });
}

CAF_TEST(the scans of a ticket are deleted together and unreadable ones by their age) {
  in_every_world([](world& w) {
    const auto first = scan_at(1, id_of(5), noon - seconds{90}), last = scan_at(2, id_of(5), noon);
    const auto again = scan_at(3, id_of(4), noon - seconds{70}),
               other = scan_at(4, id_of(4), noon - seconds{80});
    auto unread = scan_at(5, {}, noon - seconds{90}), late = scan_at(6, {}, noon);
    for (auto* s : {&unread, &late}) {
      s->is_admitted = false;
      s->objection = scan_objection::unreadable;
    }
    changes content;
    for (const auto& s : {first, last, other, again, unread, late}) content.emplace_back(scan_recorded{s});
    FQ_COMMITS(w.put(std::move(content)));
    end_event(w, noon - seconds{200}, noon - seconds{100});
    CAF_CHECK_EQUAL(prune_scans(w, noon, 2), 2u); // by ticket, then by arrival
    CAF_CHECK((w.image().scans == std::vector{first, last, again, late}));
    CAF_CHECK_EQUAL(prune_scans(w, noon), 1u);
    CAF_CHECK((w.image().scans == std::vector{first, last, late}));
    CAF_CHECK_EQUAL(prune_scans(w, noon + seconds{1}), 3u);
  });
}

CAF_TEST(scans that name no ticket of the event are deleted by their age) {
  in_every_world([](world& w) {
    using enum scan_objection;
    changes content;
    std::uint64_t n = 0;
    for (const auto objection : {unreadable, other_event, unknown_ticket, wrong_key})
      for (const auto at : {noon - seconds{90}, noon}) {
        auto scan = scan_at(++n, id_of(5 + static_cast<std::uint64_t>(objection)), at);
        scan.is_admitted = false;
        scan.objection = objection;
        content.emplace_back(scan_recorded{scan});
      }
    FQ_COMMITS(w.put(std::move(content)));
    end_event(w, noon - seconds{200}, noon - seconds{100});
    CAF_CHECK_EQUAL(prune_scans(w, noon), 3u);
    CAF_CHECK_EQUAL(prune_scans(w, noon + seconds{1}), 5u);
  });
}

} // namespace checkin_test
