// SPDX-License-Identifier: Apache-2.0
// Best seats and checks of named seats: each rule by example, and against the oracle on random plans.
#define CAF_SUITE domain_best_seats
#include "domain/seats/hall.hpp"
#include "tests/domain/seats/best_oracle.hpp"
#include "tests/domain/seats/sample_plan.hpp"

#include "caf/test/unit_test.hpp"

namespace best_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr seat_rules strict{};
constexpr seat_rules when_needed{.singles = single_rule::when_needed};
constexpr seat_rules off{.singles = single_rule::off};
constexpr seat_rules divisible{.may_split = true};

std::string best_of(const seat_map& map, const best_wish& wish, const seat_rules& rules = strict) {
  return names_of(map, best(map, wish, rules));
}

void take(seat_map& map, const std::vector<std::string_view>& names) {
  CAF_REQUIRE(!map.hold(claim_id{9, map.version()}, seats(map, names)));
}

/// Why the choice is refused, with the seats.
std::pair<seat_fault, std::string> verdict(const seat_map& map, const std::vector<std::string_view>& names,
                                           const seat_rules& rules = strict,
                                           std::uint32_t asks_accessible = 0) {
  const auto list = seats(map, names);
  const auto no = check_choice(map, {.seats = list, .asks_accessible = asks_accessible}, rules);
  return {no.why, names_of(map, no.seats)};
}

const std::pair<seat_fault, std::string> fine{seat_fault::none, ""};

} // namespace

CAF_TEST(the best seats are in the middle of the best row) {
  auto map = map_of(draft_of_rows({"sssssss", "sssssss"}));
  CAF_CHECK_EQUAL(best_of(map, {.count = 3}), "A-3 A-4 A-5");
  take(map, {"A-3", "A-4", "A-5"});
  CAF_CHECK_EQUAL(best_of(map, {.count = 3}), "B-3 B-4 B-5");
  CAF_CHECK_EQUAL(best_of(map, {.count = 2}), "A-1 A-2"); // the better row, although aside
  CAF_CHECK_EQUAL(best_of(map, {.count = 7}), "B-1 B-2 B-3 B-4 B-5 B-6 B-7");
  CAF_CHECK_EQUAL(best_of(map, {.count = 8}), "");
  CAF_CHECK_EQUAL(best_of(map, {.count = 0}), "");
  CAF_CHECK_EQUAL(best_of(map, {.count = 101}), "");
}

CAF_TEST(best seats leave no single seat) {
  auto map = map_of(draft_of_rows({"ssss"}));
  CAF_CHECK_EQUAL(best_of(map, {.count = 2}), "A-1 A-2"); // the middle would leave two singles
  CAF_CHECK_EQUAL(best_of(map, {.count = 1}), "A-1");
  CAF_CHECK_EQUAL(best_of(map, {.count = 3}), "");
  CAF_CHECK_EQUAL(best_of(map, {.count = 3}, when_needed), "A-1 A-2 A-3");
  CAF_CHECK_EQUAL(best_of(map, {.count = 2}, when_needed), "A-1 A-2");
  CAF_CHECK_EQUAL(best_of(map, {.count = 2}, off), "A-2 A-3");
  take(map, {"A-2"});
  CAF_CHECK_EQUAL(best_of(map, {.count = 1}), "A-1"); // a single seat itself is sold
}

CAF_TEST(a worse row without a single goes before a better one with) {
  auto map = map_of(draft_of_rows({"sss", "ssss"}));
  CAF_CHECK_EQUAL(best_of(map, {.count = 2}, when_needed), "B-1 B-2");
  CAF_CHECK_EQUAL(best_of(map, {.count = 2}, off), "A-1 A-2");
}

CAF_TEST(an aisle divides a row) {
  auto map = map_of(draft_of_rows({"sss|sss"}));
  CAF_CHECK_EQUAL(best_of(map, {.count = 3}), "A-1 A-2 A-3");
  CAF_CHECK_EQUAL(best_of(map, {.count = 4}), "");
  CAF_CHECK_EQUAL(best_of(map, {.count = 2}), "");
}

CAF_TEST(best seats have one ticket type of those asked for) {
  auto map = map_of(draft_of_rows({"ssSSSss"}));
  CAF_CHECK_EQUAL(best_of(map, {.count = 3}), "A-3 A-4 A-5");
  CAF_CHECK_EQUAL(best_of(map, {.count = 2, .types = 1}), "A-1 A-2");
  CAF_CHECK_EQUAL(best_of(map, {.count = 4}), "");
  CAF_CHECK_EQUAL(best_of(map, {.count = 3, .types = 1}), "");
  CAF_CHECK_EQUAL(best_of(map, {.count = 1, .types = 4}), "");
  CAF_CHECK(!map.move_to_type(seats(map, {"A-6"}), 1));
  CAF_CHECK_EQUAL(best_of(map, {.count = 4}, off), "A-3 A-4 A-5 A-6");
}

CAF_TEST(of a row those with the fewest obstructed seats are the best) {
  auto draft = draft_of_rows({"sssssssss", "sssssssss"});
  for (const auto i : {3u, 4u, 5u}) draft.sections[0].rows[0].seats[i].obstructed = true;
  auto map = map_of(draft);
  CAF_CHECK_EQUAL(best_of(map, {.count = 3}, off), "A-1 A-2 A-3"); // the row goes before the view
  CAF_CHECK_EQUAL(best_of(map, {.count = 4}, off), "A-1 A-2 A-3 A-4");
  take(map, {"A-1", "A-9"});
  CAF_CHECK_EQUAL(best_of(map, {.count = 7}), "A-2 A-3 A-4 A-5 A-6 A-7 A-8"); // no other choice in the row
}

CAF_TEST(a group over two rows has the fewest obstructed seats) {
  auto draft = draft_of_rows({"ssss", "ssssss"});
  for (const auto i : {1u, 2u}) draft.sections[0].rows[1].seats[i].obstructed = true;
  const seat_rules rules{.singles = single_rule::off, .may_split = true};
  CAF_CHECK_EQUAL(best_of(map_of(draft), {.count = 7}, rules), "A-1 A-2 A-3 A-4 B-4 B-5 B-6");
}

CAF_TEST(best seats are in the section asked for) {
  auto draft = draft_of_rows({"ssss"});
  draft.sections.push_back({.code = "B", .name = "Balkon", .rows = {row_of("A", "ssss", 900)}});
  const auto map = map_of(draft);
  CAF_CHECK_EQUAL(best_of(map, {.count = 4}), "A-1 A-2 A-3 A-4");
  CAF_CHECK_EQUAL(best_of(map, {.count = 4, .section = 1}), "B-A-1 B-A-2 B-A-3 B-A-4");
}

CAF_TEST(accessible seats are kept for people who ask with companions beside) {
  auto map = map_of(draft_of_rows({"acsssca"}));
  CAF_CHECK_EQUAL(best_of(map, {.count = 3}), "A-3 A-4 A-5");
  CAF_CHECK_EQUAL(best_of(map, {.count = 4}), "");
  CAF_CHECK_EQUAL(best_of(map, {.count = 1, .accessible = 1}), "A-1");
  CAF_CHECK_EQUAL(best_of(map, {.count = 2, .accessible = 1}), "A-1 A-2");
  CAF_CHECK_EQUAL(best_of(map, {.count = 3, .accessible = 1}), "A-1 A-2 A-3");
  CAF_CHECK_EQUAL(best_of(map, {.count = 4, .accessible = 1}), ""); // would leave A-5 alone
  CAF_CHECK_EQUAL(best_of(map, {.count = 2, .accessible = 2}), "");
  CAF_CHECK_EQUAL(best_of(map, {.count = 1, .accessible = 2}), "");
  CAF_CHECK_EQUAL(best_of(map, {.count = 7, .accessible = 2}), "A-1 A-2 A-3 A-4 A-5 A-6 A-7");
  CAF_CHECK_EQUAL(best_of(map, {.count = 7}, {.accessible_for_all = true}), "A-1 A-2 A-3 A-4 A-5 A-6 A-7");
}

CAF_TEST(a group that fits in no row is divided over two if the organizer allows) {
  auto map = map_of(draft_of_rows({"ssss", "ssss", "ssss"}));
  CAF_CHECK_EQUAL(best_of(map, {.count = 6}), "");
  CAF_CHECK_EQUAL(best_of(map, {.count = 8}, divisible), "A-1 A-2 A-3 A-4 B-1 B-2 B-3 B-4");
  CAF_CHECK_EQUAL(best_of(map, {.count = 6}, divisible), "A-1 A-2 A-3 A-4 B-1 B-2"); // 3 + 3 leaves singles
  CAF_CHECK_EQUAL(best_of(map, {.count = 9}, divisible), "");
  take(map, {"A-1", "B-3", "B-4"});
  CAF_CHECK_EQUAL(best_of(map, {.count = 5}, divisible), "A-2 A-3 A-4 B-1 B-2");
  take(map, {"A-3"});
  CAF_CHECK_EQUAL(best_of(map, {.count = 5}, divisible), ""); // C-4 would be left
  CAF_CHECK_EQUAL(best_of(map, {.count = 6}, divisible), "B-1 B-2 C-1 C-2 C-3 C-4");
}

CAF_TEST(a group is not divided over rows of different types) {
  auto map = map_of(draft_of_rows({"ssss", "SSSS", "ssss"}));
  CAF_CHECK_EQUAL(best_of(map, {.count = 8}, divisible), "");
  map = map_of(draft_of_rows({"ssssSSSS", "SSSS", "ssss"}));
  CAF_CHECK_EQUAL(best_of(map, {.count = 8}, divisible), "A-5 A-6 A-7 A-8 B-1 B-2 B-3 B-4");
}

CAF_TEST(a search for a group over two rows ends) {
  const auto hall_with_pair = [](std::size_t at) {
    plan_draft draft = draft_of_rows({});
    for (std::size_t i = 0; i < 450; ++i) { // row `at` and the next have one type
      const bool is_second = (i + (i > at ? 1 : 0)) % 2 == 1;
      draft.sections[0].rows.push_back(row_of(std::to_string(i), std::string(60, is_second ? 'S' : 's'),
                                              static_cast<std::int32_t>(100 * (i + 1))));
    }
    return map_of(draft);
  };
  CAF_CHECK_EQUAL(best(hall_with_pair(0), {.count = 100}, divisible).size(), 100u);
  CAF_CHECK(best(hall_with_pair(448), {.count = 100}, divisible).empty()); // not before division_work_max
}

CAF_TEST(named seats are checked in the order of the faults) {
  auto map = map_of(draft_of_rows({"ssssss", "acSSSS"}));
  take(map, {"A-6"});
  const auto why = [&](std::vector<seat_number> list, std::uint64_t types = all_seat_types) {
    return check_choice(map, {.seats = list, .types = types}, strict).why;
  };
  CAF_CHECK(why({}) == seat_fault::too_many);
  CAF_CHECK(why({99}) == seat_fault::unknown);
  CAF_CHECK(why({1, 1}) == seat_fault::repeated);
  CAF_CHECK(why({0, 1}, 1) == seat_fault::none);
  CAF_CHECK(why({0, 1}, 2) == seat_fault::wrong_type);
  CAF_CHECK(verdict(map, {"A-5", "A-6"}) == std::pair(seat_fault::taken, std::string{"A-6"}));
  CAF_CHECK(verdict(map, {"B-1", "B-2"}) == std::pair(seat_fault::kept_accessible, std::string{"B-1 B-2"}));
  CAF_CHECK(verdict(map, {"B-1", "B-2"}, strict, 1) == fine);
  CAF_CHECK(verdict(map, {"B-2"}, strict, 1).first
            == seat_fault::kept_accessible); // only with an accessible one
}

CAF_TEST(named seats have as many accessible seats as asked for with companions beside) {
  const auto map = map_of(draft_of_rows({"accs|ca"}));
  const auto kept = [](const char* names) {
    return std::pair(seat_fault::kept_accessible, std::string{names});
  };
  CAF_CHECK(verdict(map, {"A-1", "A-6"}, off, 1) == kept("A-1 A-6"));
  CAF_CHECK(verdict(map, {"A-1", "A-6"}, off, 2) == fine);
  CAF_CHECK(verdict(map, {"A-1", "A-5"}, off, 1) == kept("A-5")); // beside another one
  CAF_CHECK(verdict(map, {"A-1", "A-3"}, off, 1) == kept("A-3"));
  CAF_CHECK(verdict(map, {"A-1", "A-2", "A-3", "A-4"}, off, 1) == fine);
  CAF_CHECK(verdict(map, {"A-5", "A-6"}, off, 5) == fine);
  CAF_CHECK(verdict(map, {"A-4"}, off, 0) == fine);
  CAF_CHECK(verdict(map, {"A-1", "A-6"}, {.singles = single_rule::off, .accessible_for_all = true}) == fine);
}

CAF_TEST(named seats leave no single seat) {
  auto map = map_of(draft_of_rows({"sssss|ss"}));
  const std::pair leaves_first{seat_fault::leaves_single, std::string{"A-1"}};
  CAF_CHECK(verdict(map, {"A-2", "A-3"}) == leaves_first);
  CAF_CHECK(verdict(map, {"A-1", "A-2"}) == fine);
  CAF_CHECK(verdict(map, {"A-2", "A-4"}) == std::pair(seat_fault::leaves_single, std::string{"A-1 A-3 A-5"}));
  CAF_CHECK(verdict(map, {"A-2", "A-3"}, off) == fine);
  CAF_CHECK(verdict(map, {"A-2", "A-3"}, when_needed) == leaves_first); // A-1 A-2 would have been as good
  CAF_CHECK(verdict(map, {"A-6"}, when_needed) == fine); // one of two: it cannot be avoided
  CAF_CHECK(verdict(map, {"A-6"}) == std::pair(seat_fault::leaves_single, std::string{"A-7"}));
  CAF_CHECK(verdict(map, {"A-1", "A-2", "A-4", "A-5"}, when_needed) == fine);
  take(map, {"A-2"});
  CAF_CHECK(verdict(map, {"A-3", "A-4", "A-5"}) == fine); // A-1 was a single seat before
}

namespace {

best_wish random_wish(dice& d) {
  best_wish wish;
  wish.count = 1 + static_cast<std::uint32_t>(d.below(d.chance(20) ? 12 : 5));
  if (d.chance(25)) wish.accessible = 1 + static_cast<std::uint32_t>(d.below(2));
  if (d.chance(25)) wish.section = static_cast<std::uint16_t>(d.below(2));
  if (d.chance(30)) wish.types = 1 + d.below(3);
  return wish;
}

seat_rules random_rules(dice& d) {
  const single_rule singles[] = {single_rule::strict, single_rule::strict, single_rule::when_needed,
                                 single_rule::off};
  return {singles[d.below(4)], d.chance(50), d.chance(20)};
}

} // namespace

CAF_TEST(best seats are those of the oracle on random plans) {
  std::array<std::uint64_t, 4> found{}; // none, one row, two rows, accessible
  for_seeds(4'000, [&](std::uint64_t seed) {
    dice d{seed};
    auto map = map_of(random_draft(d));
    take_some(map, d, static_cast<unsigned>(d.below(90)));
    const auto rules = random_rules(d);
    const best_oracle oracle{map, rules};
    for (int i = 0; i < 4; ++i) {
      const auto wish = random_wish(d);
      const auto chosen = best(map, wish, rules);
      FQ_HOLDS(seed, chosen == oracle.best(wish));
      if (chosen.empty()) {
        ++found[0];
        continue;
      }
      const bool is_divided = map.plan().seats()[chosen.front()].row != map.plan().seats()[chosen.back()].row;
      ++found[wish.accessible > 0 ? 3 : is_divided ? 2 : 1];
      if (rules.singles != single_rule::strict) continue;
      const named_wish named{chosen, wish.accessible, wish.types};
      FQ_HOLDS(seed, !check_choice(map, named, rules)); // the same seats may be named
    }
  });
  for (const auto n : found) CAF_CHECK(n > 100 || std::getenv("FAIRQUEUE_SEED"));
}

CAF_TEST(the singles of named seats are those of the oracle on random plans) {
  std::uint64_t with_singles = 0;
  for_seeds(2'000, [&](std::uint64_t seed) {
    dice d{seed};
    auto map = map_of(random_draft(d));
    take_some(map, d, static_cast<unsigned>(d.below(60)));
    const auto rules = random_rules(d);
    const best_oracle oracle{map, rules};
    for (int i = 0; i < 4; ++i) {
      std::vector<seat_number> list;
      const auto begin = static_cast<seat_number>(d.below(map.size()));
      for (auto n = begin; n < map.size() && n < begin + 6; ++n)
        if (map.is_open(n, rules.accessible_for_all) && d.chance(60)) list.push_back(n);
      if (list.empty()) continue;
      auto expected = oracle.new_singles(list);
      if (rules.singles == single_rule::when_needed)
        std::erase_if(expected, [&](seat_number n) { return oracle.left_around(n, list) == 1; });
      if (rules.singles == single_rule::off) expected.clear();
      const auto no = check_choice(map, {.seats = list}, rules);
      FQ_HOLDS(seed, no.seats == expected);
      FQ_HOLDS(seed, no.why == (expected.empty() ? seat_fault::none : seat_fault::leaves_single));
      with_singles += expected.empty() ? 0 : 1;
    }
  });
  CAF_CHECK(with_singles > 100 || std::getenv("FAIRQUEUE_SEED"));
}

CAF_TEST(a hall sold by best seats alone keeps every rule to the end) {
  for_seeds(20, [](std::uint64_t seed) {
    dice d{seed};
    hall h;
    h.sections = {
      {.code = "P", .ticket_type = "One", .rows = 8, .seats = 20, .widening = 1, .accessible = 3}};
    h.aisles = 2;
    seat_map map{make_plan(draft_of(h)).plan, std::vector<std::uint8_t>{0}, 0};
    const seat_rules rules{single_rule::when_needed, true, true};
    std::uint64_t claims = 0;
    for (int i = 0; i < 5'000 && map.counts_of(0).free > 0; ++i) {
      const auto chosen = best(map, {.count = 1 + static_cast<std::uint32_t>(d.below(5))}, rules);
      if (chosen.empty()) continue;
      FQ_HOLDS(seed, !map.hold(claim_id{1, ++claims}, chosen));
      if (d.chance(20)) FQ_HOLDS(seed, map.release(claim_id{1, claims}));
    }
    FQ_HOLDS(seed, contradictions(map).empty());
    FQ_HOLDS(seed, map.counts_of(0).free == 0); // singles are sold to single people
  });
}

} // namespace best_test
