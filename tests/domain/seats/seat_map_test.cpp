// SPDX-License-Identifier: Apache-2.0
// Seat maps: all or none, I1 for seats, versions, what readers get; random walks against a naive model.
#define CAF_SUITE domain_seat_map
#include "tests/domain/seats/sample_plan.hpp"

#include "caf/test/unit_test.hpp"

#include <map>

namespace seat_map_test {

using namespace fq;
using namespace fq::test;

namespace {

const claim_id ann{1, 1}, bob{1, 2};

seat_map two_rows() { return map_of(draft_of_rows({"ssss", "SSSS"})); }

bool has_state(const seat_map& map, const std::vector<std::string_view>& names, seat_state s) {
  return std::ranges::all_of(seats(map, names), [&](seat_number n) { return map.state(n) == s; });
}

} // namespace

CAF_TEST(seats go from free to held to sold and back) {
  auto map = two_rows();
  CAF_CHECK(!map.hold(ann, seats(map, {"A-2", "A-1"})));
  CAF_CHECK(has_state(map, {"A-1", "A-2"}, seat_state::held));
  CAF_CHECK_EQUAL(names_of(map, map.seats_of(ann)), "A-2 A-1");
  CAF_CHECK(map.holder(seat(map, "A-1")) == ann);
  CAF_CHECK(map.release(ann));
  CAF_CHECK(!map.release(ann));
  CAF_CHECK(has_state(map, {"A-1", "A-2"}, seat_state::free));
  CAF_CHECK(!map.hold(bob, seats(map, {"A-2", "B-1"})));
  CAF_CHECK(map.confirm(bob));
  CAF_CHECK(!map.confirm(bob));
  CAF_CHECK(!map.release(bob)); // sold: only take_back
  CAF_CHECK(has_state(map, {"A-2", "B-1"}, seat_state::sold));
  CAF_CHECK(map.counts_of(0) == (seat_map::counts{3, 0, 1, 0}));
  CAF_CHECK(!map.take_back(bob, seats(map, {"B-1"})));
  CAF_CHECK_EQUAL(names_of(map, map.seats_of(bob)), "A-2");
  CAF_CHECK(!map.take_back(bob, seats(map, {"A-2"})));
  CAF_CHECK(map.seats_of(bob).empty());
  CAF_CHECK(map.counts_of(0) == (seat_map::counts{4, 0, 0, 0}));
  CAF_CHECK(contradictions(map).empty());
}

CAF_TEST(a claim gives back a view of its own seats) {
  auto map = two_rows();
  CAF_CHECK(!map.sell(ann, seats(map, {"A-2", "B-1", "B-2"})));
  CAF_CHECK(!map.take_back(ann, map.seats_of(ann).first(2)));
  CAF_CHECK_EQUAL(names_of(map, map.seats_of(ann)), "B-2");
  CAF_CHECK(!map.take_back(ann, map.seats_of(ann)));
  CAF_CHECK(map.claims().empty());
  CAF_CHECK(contradictions(map).empty());
}

CAF_TEST(a hold takes all seats or none and names those that are taken) {
  auto map = two_rows();
  CAF_CHECK(!map.hold(ann, seats(map, {"A-2", "B-3"})));
  const auto before = map.version();
  const auto no = map.hold(bob, seats(map, {"B-3", "A-1", "A-2"}));
  CAF_CHECK(no == (seat_refusal{seat_fault::taken, seats(map, {"A-2", "B-3"})}));
  CAF_CHECK(map.state(seat(map, "A-1")) == seat_state::free);
  CAF_CHECK_EQUAL(map.version(), before);
  CAF_CHECK(contradictions(map).empty());
}

CAF_TEST(wrong names are refused) {
  auto map = two_rows();
  const auto why = [&](std::vector<seat_number> list) { return map.hold(bob, list).why; };
  CAF_CHECK(why({}) == seat_fault::too_many);
  CAF_CHECK(why(std::vector<seat_number>(claim_seats_max + 1)) == seat_fault::too_many);
  CAF_CHECK(why({0, 8}) == seat_fault::unknown);
  CAF_CHECK(why({3, 1, 3}) == seat_fault::repeated);
  CAF_CHECK(!map.hold(ann, seats(map, {"A-1"})));
  CAF_CHECK(map.hold(ann, seats(map, {"A-2"})).why == seat_fault::claim_known);
  CAF_CHECK(map.take_back(ann, seats(map, {"A-1"})).why == seat_fault::taken); // held, not sold
  CAF_CHECK(map.take_back(bob, seats(map, {"A-2"})).why == seat_fault::taken);
}

CAF_TEST(late money takes the same seats if they are free) {
  auto map = two_rows();
  const auto its = seats(map, {"A-1", "A-2"});
  CAF_CHECK(!map.hold(ann, its));
  CAF_CHECK(map.release(ann));
  CAF_CHECK(!map.sell(ann, its));
  CAF_CHECK(has_state(map, {"A-1", "A-2"}, seat_state::sold));
  CAF_CHECK(!map.take_back(ann, its));
  CAF_CHECK(!map.hold(bob, seats(map, {"A-2"})));
  CAF_CHECK(map.sell(ann, its) == (seat_refusal{seat_fault::taken, seats(map, {"A-2"})}));
  CAF_CHECK(map.seats_of(ann).empty());
}

CAF_TEST(the organizer blocks and moves only seats without a claim) {
  auto map = two_rows();
  CAF_CHECK(!map.hold(ann, seats(map, {"A-1"})));
  CAF_CHECK(map.block(seats(map, {"A-1", "A-2"})).seats == seats(map, {"A-1"}));
  CAF_CHECK(has_state(map, {"A-2"}, seat_state::free));
  CAF_CHECK(!map.block(seats(map, {"A-2", "A-3"})));
  CAF_CHECK(map.hold(bob, seats(map, {"A-3"})).why == seat_fault::taken);
  const auto version = map.version();
  CAF_CHECK(!map.block(seats(map, {"A-3"}))); // is blocked
  CAF_CHECK_EQUAL(map.version(), version);
  CAF_CHECK(!map.unblock(seats(map, {"A-3", "A-4"})));
  CAF_CHECK(has_state(map, {"A-3"}, seat_state::free));
  CAF_CHECK(map.move_to_type(seats(map, {"A-1", "A-2"}), 5).why == seat_fault::taken);
  CAF_CHECK(!map.move_to_type(seats(map, {"A-2", "A-4"}), 5));
  CAF_CHECK(map.move_to_type(seats(map, {"A-2"}), 64).why == seat_fault::wrong_type);
  CAF_CHECK(map.counts_of(5) == (seat_map::counts{1, 0, 0, 1}));
  CAF_CHECK(map.counts_of(0) == (seat_map::counts{1, 1, 0, 0}));
  const std::vector<seat_now> moved{{seat(map, "A-2"), seat_state::blocked, 5},
                                    {seat(map, "A-4"), seat_state::free, 5}};
  CAF_CHECK(map.moved_seats() == moved);
  CAF_CHECK(contradictions(map).empty());
}

CAF_TEST(readers get the changes since their version or the whole map) {
  auto map = map_of(draft_of_rows({"ssss"}), 70);
  CAF_CHECK_EQUAL(map.version(), 70u);
  CAF_CHECK(map.changes_since(70)->empty());
  CAF_CHECK(!map.changes_since(69)); // of an earlier owner
  CAF_CHECK(!map.changes_since(71)); // of an owner whose commits were lost
  CAF_CHECK(!map.hold(ann, seats(map, {"A-3", "A-1"})));
  CAF_CHECK(!map.block(seats(map, {"A-4"})));
  CAF_CHECK(map.confirm(ann));
  CAF_CHECK_EQUAL(map.version(), 73u);
  const std::vector<seat_now> all{
    {0, seat_state::sold, 0}, {2, seat_state::sold, 0}, {3, seat_state::blocked, 0}};
  CAF_CHECK(map.changes_since(70) == all);
  CAF_CHECK(map.changes_since(72) == (std::vector<seat_now>{all[0], all[1]}));
}

CAF_TEST(kept changes are bounded) {
  auto map = map_of(draft_of_rows({"ssss"}));
  for (std::size_t i = 0; i < seat_changes_max; ++i) {
    CAF_CHECK(!map.hold(ann, seats(map, {"A-1", "A-2"})));
    CAF_CHECK(map.release(ann));
  }
  CAF_CHECK(!map.changes_since(map.version() - seat_changes_max / 2 - 1));
  CAF_CHECK_EQUAL(map.changes_since(map.version() - seat_changes_max / 2)->size(), 2u);
}

CAF_TEST(a map is packed in two bits a seat) {
  auto map = map_of(draft_of_rows({"sssss"}));
  CAF_CHECK(!map.hold(ann, seats(map, {"A-2"})));
  CAF_CHECK(!map.sell(bob, seats(map, {"A-3"})));
  CAF_CHECK(!map.block(seats(map, {"A-4", "A-5"})));
  CAF_CHECK(map.packed_states(false) == std::string("\xe4\x03", 2));
  CAF_CHECK(map.packed_states(true) == std::string("\xa4\x02", 2)); // a blocked seat looks sold
}

CAF_TEST(a map loads the rows of the ledger) {
  auto map = two_rows();
  map.load({1, seat_state::held, 0}, ann);
  map.load({5, seat_state::sold, 0}, bob);
  map.load({6, seat_state::blocked, 1}, {});
  CAF_CHECK_EQUAL(map.version(), 0u);
  CAF_CHECK(contradictions(map).empty());
  CAF_CHECK_EQUAL(map.moved_seats().size(), 1u);
  std::vector<seat_holding> rows{{1, ann, false}, {5, bob, true}};
  CAF_CHECK(contradictions(map, rows).empty());
  rows.push_back({5, ann, true});
  CAF_CHECK(contradictions(map, rows).front().find("B-2 is taken twice in the ledger") != std::string::npos);
  rows = {{1, ann, false}, {5, bob, false}, {99, bob, true}};
  CAF_CHECK_EQUAL(contradictions(map, rows).size(), 2u);
  CAF_CHECK_EQUAL(contradictions(map, {}).size(), 2u);
  CAF_CHECK(map.confirm(ann));
  CAF_CHECK(!map.take_back(bob, std::vector<seat_number>{5}));
}

namespace {

/// The state of the same seats as plain lists.
struct naive_map {
  struct one {
    seat_state state = seat_state::free;
    claim_id claim = {};
    std::uint8_t type = 0;
  };
  std::vector<one> seats;

  bool all(const std::vector<seat_number>& list, auto rule) const {
    return std::ranges::all_of(list, [&](seat_number n) { return rule(seats[n]); });
  }
  std::vector<seat_number> of(const claim_id& claim, seat_state s) const {
    std::vector<seat_number> found;
    for (seat_number n = 0; n < seats.size(); ++n)
      if (seats[n].claim == claim && seats[n].state == s) found.push_back(n);
    return found;
  }
};

class walk {
public:
  explicit walk(std::uint64_t seed) : seed_(seed), d_(seed), map_(map_of(random_draft(d_), seed)) {
    for (seat_number n = 0; n < map_.size(); ++n) naive_.seats.push_back({.type = map_.type(n)});
    remember();
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      compare();
    }
  }

private:
  std::vector<seat_number> some_seats() {
    std::vector<seat_number> list;
    const auto first = static_cast<seat_number>(d_.below(map_.size()));
    const auto count = 1 + d_.below(4);
    for (seat_number n = first; n < map_.size() && list.size() < count; ++n)
      if (!d_.chance(20)) list.push_back(n);
    if (list.empty()) list.push_back(first);
    return list;
  }

  void step() {
    const claim_id claim{7, d_.below(6)};
    const auto list = some_seats();
    const bool has_any =
      !naive_.of(claim, seat_state::held).empty() || !naive_.of(claim, seat_state::sold).empty();
    const auto is_free = [](const auto& s) { return s.state == seat_state::free; };
    const auto untaken = [](const auto& s) { return s.claim.is_nil(); };
    switch (d_.below(8)) {
      case 0:
      case 1:
        expect(!map_.hold(claim, list), !has_any && naive_.all(list, is_free), list, seat_state::held, claim);
        break;
      case 2:
        expect(!map_.sell(claim, list), !has_any && naive_.all(list, is_free), list, seat_state::sold, claim);
        break;
      case 3: {
        const auto its = naive_.of(claim, seat_state::held);
        expect(map_.release(claim), !its.empty(), its, seat_state::free, {});
        break;
      }
      case 4: {
        const auto its = naive_.of(claim, seat_state::held);
        expect(map_.confirm(claim), !its.empty(), its, seat_state::sold, claim);
        break;
      }
      case 5: {
        const auto is_its = [&](const auto& s) { return s.state == seat_state::sold && s.claim == claim; };
        expect(!map_.take_back(claim, list), naive_.all(list, is_its), list, seat_state::free, {});
        break;
      }
      case 6:
        if (d_.chance(50))
          expect(!map_.block(list), naive_.all(list, untaken), list, seat_state::blocked, {});
        else
          expect(!map_.unblock(list), naive_.all(list, untaken), list, seat_state::free, {});
        break;
      case 7: {
        const auto type = static_cast<std::uint8_t>(d_.below(3));
        const bool may = naive_.all(list, untaken);
        FQ_HOLDS(seed_, !map_.move_to_type(list, type) == may);
        for (const auto n : list)
          if (may) naive_.seats[n].type = type;
        break;
      }
    }
    if (d_.chance(20)) remember();
  }

  void expect(bool done, bool may, const std::vector<seat_number>& list, seat_state to,
              const claim_id& claim) {
    FQ_HOLDS(seed_, done == may);
    if (!may) return;
    for (const auto n : list) {
      naive_.seats[n].state = to;
      naive_.seats[n].claim = claim;
    }
  }

  /// What a reader has, to be brought up to date later.
  void remember() {
    copies_[map_.version()] = {};
    for (seat_number n = 0; n < map_.size(); ++n)
      copies_[map_.version()].push_back({n, map_.state(n), map_.type(n)});
  }

  void compare() {
    const auto wrong = contradictions(map_);
    FQ_HOLDS(seed_, wrong.empty());
    std::vector<seat_now> now;
    for (seat_number n = 0; n < map_.size(); ++n) {
      const auto& s = naive_.seats[n];
      FQ_HOLDS(seed_, map_.state(n) == s.state && map_.type(n) == s.type && map_.holder(n) == s.claim);
      now.push_back({n, s.state, s.type});
    }
    for (auto [version, copy] : copies_) {
      const auto changed = map_.changes_since(version);
      FQ_HOLDS(seed_, changed.has_value());
      for (const auto& c : *changed) copy[c.seat] = c;
      FQ_HOLDS(seed_, copy == now);
    }
  }

  std::uint64_t seed_;
  dice d_;
  seat_map map_;
  naive_map naive_;
  std::map<std::uint64_t, std::vector<seat_now>> copies_;
};

} // namespace

CAF_TEST(random changes agree with the naive model and its readers) {
  for_seeds(300, [](std::uint64_t seed) { walk{seed}.run(60); });
}

} // namespace seat_map_test
