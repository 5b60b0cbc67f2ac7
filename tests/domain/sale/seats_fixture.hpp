// SPDX-License-Identifier: Apache-2.0
// A sale of a small hall with a plan.
#pragma once
#include "caf/test/unit_test.hpp"

#include "tests/domain/sale/sale_checks.hpp"
#include "tests/domain/seats/sample_plan.hpp"

namespace fq::test {

/// Rows A and B of "Parkett" (ticket type 0), C of "Balkon" (1), and a floor of 5 places (2).
inline plan_draft small_hall() {
  auto draft = draft_of_rows({"ssssss", "ssssss", "SSSS"});
  draft.ticket_types.push_back("Floor");
  draft.areas.push_back({"F", "", 2, 5, {0, 900}, 100, 100});
  return draft;
}

inline std::vector<ticket_type_row> three_types() {
  auto types = sample_types(1, 1'000);
  types.push_back({.ordinal = 1, .id = {0x77, 2}, .name = "Balkon", .price = 500, .max_per_order = 4});
  types.push_back({.ordinal = 2, .id = {0x77, 3}, .name = "Floor", .price = 300, .max_per_order = 4});
  return types;
}

struct seats_fixture {
  explicit seats_fixture(seat_rules rules = {}) : s(sample_event(), three_types()) {
    s.give_plan(make_plan(small_hall()).plan, {0, 1, 2}, rules);
    s.join_all(1, 9);
  }
  item_wish named(std::uint32_t type, std::vector<std::string> names) const {
    return {s.type(type).id, static_cast<std::uint32_t>(names.size()), 0, std::move(names)};
  }
  item_wish units(std::uint32_t type, std::uint32_t count) const { return {s.type(type).id, count}; }
  /// The names of the seats that the fan's newest claim has.
  std::string seats_of(std::uint64_t n) const {
    auto list = s.it->seats()->seats_of(s.claim_of(n).id);
    std::vector<seat_number> sorted(list.begin(), list.end());
    std::ranges::sort(sorted);
    return s.it->seats()->names_of(sorted);
  }
  seat_state state(std::string_view name) const {
    const auto& map = s.it->seats()->map();
    return map.state(*map.plan().find(name));
  }
  /// Both must hold after each step.
  void sound() {
    CAF_CHECK_EQUAL(what_is_wrong(s), "");
    CAF_CHECK_EQUAL(how_a_reload_differs(s), "");
  }
  void is_refused(const refusal& no, reason why, std::string_view detail = {}) {
    CAF_CHECK_EQUAL(code_of(no.why), code_of(why));
    if (!detail.empty()) CAF_CHECK_EQUAL(no.detail, detail);
    sound();
  }
  void buy(std::uint64_t n) { CAF_CHECK(!s.captured(s.pay(n).payment)); }
  const order_row& bought(std::uint64_t n, const std::vector<item_wish>& items) {
    CAF_REQUIRE(!s.order(n, items).no);
    const auto payment = s.payment_of(s.order_of(n)).id;
    s.initialized(payment);
    s.captured(payment);
    return s.order_of(n);
  }
  sample_sale s;
};

} // namespace fq::test
