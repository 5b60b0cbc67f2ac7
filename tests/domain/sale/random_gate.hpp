// SPDX-License-Identifier: Apache-2.0
// A gate of the random sales of sale_walk_test: scans, and sends again what it has scanned.
#pragma once
#include "tests/domain/sale/sample_sale.hpp"

#include "caf/test/unit_test.hpp"

#include <utility>
#include <vector>

namespace sale_walk_test {

using namespace fq;
using namespace fq::test;

class random_gate {
public:
  void scan(std::uint64_t seed, dice& d, sample_sale& s) {
    if (s.ledger.checkin_lists.empty()) {
      s.checkin_list();
      s.checkin_list(checkin_mode::entry_and_exit, {s.ledger.types.front().id});
      s.checkin_device();
    }
    const auto device = s.ledger.checkin_devices.begin()->first;
    if (!presented_.empty() && d.chance(30)) return repeat(seed, d, s, device);
    const auto wish = present(d, s);
    const auto done = s.scan(device, wish);
    FQ_HOLDS(seed, done.no == reason::none && !done.is_replayed);
    presented_.emplace_back(wish, done.scan);
    admitted_ += done.scan.is_admitted;
  }
  [[nodiscard]] std::uint64_t admitted() const { return admitted_; }

private:
  void repeat(std::uint64_t seed, dice& d, sample_sale& s, const checkin_device_id& device) {
    const auto& [wish, before] = d.pick(presented_);
    if (!s.ledger.scans.contains(wish.id)) return; // older than the upgrade
    const auto again = s.scan(device, wish);
    FQ_HOLDS(seed, again.is_replayed && again.scan == before);
  }

  scan_wish present(dice& d, const sample_sale& s) {
    const auto& lists = s.ledger.checkin_lists;
    const auto& tickets = s.ledger.event_tickets;
    scan_wish wish;
    wish.id = {0x5ca4, presented_.size()};
    wish.list = d.chance(50) ? lists.begin()->first : lists.rbegin()->first;
    if (!tickets.empty()) {
      const auto& t =
        std::next(tickets.begin(), static_cast<std::ptrdiff_t>(d.below(tickets.size())))->second;
      wish.ticket = t.id;
      wish.generation = d.chance(90) ? t.generation : 7;
    }
    wish.type = d.chance(60) ? scan_type::entry : scan_type::exit;
    wish.force = d.chance(30);
    wish.passed = d.chance(20);
    if (d.chance(60)) wish.at = s.now - milliseconds{d.below(20'000)};
    return wish;
  }

  std::vector<std::pair<scan_wish, scan_row>> presented_; ///< with the first answer
  std::uint64_t admitted_ = 0;
};

} // namespace sale_walk_test
