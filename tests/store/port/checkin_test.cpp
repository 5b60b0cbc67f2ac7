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

CAF_TEST(old scans are deleted oldest first with the contacts of their age) {
  in_every_world([](world& w) {
    changes content;
    std::vector<scan_row> all;
    for (std::uint64_t n = 1; n <= 4; ++n) {
      auto scan = sample_scan(n, id_of(5));
      scan.received_at = noon - seconds{60} * static_cast<int>(n);
      all.push_back(scan);
      content.emplace_back(scan_recorded{scan});
    }
    FQ_COMMITS(w.put(std::move(content)));
    const auto prune = [&](timestamp before, std::size_t limit) {
      prune_bounds bounds{never, never, never, limit};
      bounds.contacts_before = before;
      return w.store.prune(bounds);
    };
    CAF_CHECK_EQUAL(prune(never, 10), 0u);
    CAF_CHECK_EQUAL(prune(noon - seconds{90}, 1), 1u);
    CAF_CHECK((w.image().scans == std::vector{all[0], all[1], all[2]}));
    CAF_CHECK_EQUAL(prune(noon - seconds{90}, 10), 2u);
    CAF_CHECK((w.image().scans == std::vector{all[0]}));
  });
}

} // namespace checkin_test
