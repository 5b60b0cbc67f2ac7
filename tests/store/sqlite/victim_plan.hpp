// SPDX-License-Identifier: Apache-2.0
// The batches that the victim of sqlite_kill_test commits. Batch `s` depends on its number only, so the state
// after any number of batches is known. Shared by the victim and the test.
#pragma once
#include "store/port/ledger.hpp"

#include <cstdint>
#include <vector>

namespace fq::test {

inline constexpr aggregate_id victim_sale{16};
inline constexpr timestamp victim_start = from_unix_ms(1'795'262'400'000);

inline std::uint64_t joins_in(std::uint64_t s) { return 1 + s % 60; }
inline bool claims_in(std::uint64_t s) { return s % 3 == 0; }

struct planned_state {
  std::uint64_t entries = 0;
  std::uint64_t claims = 0;
};

inline planned_state planned_after(std::uint64_t batches) {
  planned_state result;
  for (std::uint64_t s = 1; s <= batches; ++s) {
    result.entries += joins_in(s);
    result.claims += claims_in(s) ? 1 : 0;
  }
  return result;
}

inline event_row victim_event() {
  event_row e;
  e.id = make_uuid(victim_start, victim_sale, 1);
  e.aggregate = victim_sale;
  e.organizer = make_uuid(victim_start, accounts_aggregate, 1);
  e.status = event_status::active;
  return e;
}

/// Batch `s`, after `entries` joins.
inline changes planned_changes(std::uint64_t s, std::uint64_t entries) {
  changes result;
  for (std::uint64_t i = 1; i <= joins_in(s); ++i) {
    entry_row e;
    e.number = queue_number{entries + i};
    e.subject = make_uuid(victim_start, accounts_aggregate, entries + i);
    e.joined_at = victim_start;
    result.push_back(entry_joined{e});
  }
  if (claims_in(s)) {
    claim_row c;
    c.id = make_uuid(victim_start, victim_sale, s);
    c.customer = c.id;
    c.entry = queue_number{entries + 1};
    c.items = {{0, 1, 100, 0}};
    result.push_back(claim_opened{c});
    result.push_back(stock_moved{0, 1, 0});
  }
  return result;
}

} // namespace fq::test
