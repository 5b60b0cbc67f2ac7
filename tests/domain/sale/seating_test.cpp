// SPDX-License-Identifier: Apache-2.0
// The map of an event beside the seats of its claims: standing areas.
#define CAF_SUITE domain_seating
#include "tests/domain/sale/sample_sale.hpp"
#include "tests/domain/seats/sample_plan.hpp"

#include "caf/test/unit_test.hpp"

namespace seating_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(the free places of a standing area are a part of the map and of its version) {
  auto draft = draft_of_rows({"ssss", "SSSS"});
  draft.ticket_types.push_back("Floor");
  draft.areas.push_back(
    {"F", "", static_cast<std::uint8_t>(draft.ticket_types.size() - 1), 5, {0, 900}, 100, 100});
  auto types = sample_types(1, 1'000);
  std::vector<std::uint8_t> ordinals{0};
  while (types.size() < draft.ticket_types.size()) {
    const auto n = static_cast<std::uint32_t>(types.size());
    types.push_back({.ordinal = n, .id = {0x77, n}, .name = "Type", .price = 500, .max_per_order = 4});
    ordinals.push_back(static_cast<std::uint8_t>(n));
  }
  sample_sale s{sample_event(), types};
  s.give_plan(make_plan(draft).plan, ordinals);
  s.join_all(1, 2);
  const auto free = [&] {
    s.it->count_standing();
    return s.it->seats()->standing_free().front();
  };
  const auto version = [&] { return s.it->seats()->map().version(); };
  CAF_CHECK_EQUAL(free(), 5);
  const auto first = version();
  CAF_CHECK_EQUAL(free(), 5);
  CAF_CHECK_EQUAL(version(), first);
  CAF_CHECK(!s.claim(1, {{types.back().id, 3}}));
  CAF_CHECK_EQUAL(free(), 2);
  CAF_CHECK(version() > first && s.it->seats()->map().changes_since(first)->empty());
  CAF_CHECK(!s.release(1, s.claim_of(1).id));
  CAF_CHECK_EQUAL(free(), 5);
}

} // namespace seating_test
