// SPDX-License-Identifier: Apache-2.0
// Checks a seat map in the slow, simple way.
#include "domain/seats/seat_map.hpp"

#include <algorithm>
#include <map>

namespace fq {
namespace {

class report {
public:
  explicit report(const seat_map& map) : map_(map) {}
  void add(seat_number n, std::string_view what) {
    if (lines_.size() < seat_contradictions_max)
      lines_.push_back("seat " + map_.plan().name_of(n) + " " + std::string{what});
  }
  void add(std::string what) {
    if (lines_.size() < seat_contradictions_max) lines_.push_back(std::move(what));
  }
  std::vector<std::string> take() { return std::move(lines_); }

private:
  const seat_map& map_;
  std::vector<std::string> lines_;
};

bool is_taken(seat_state s) { return s == seat_state::held || s == seat_state::sold; }

void check_claims(const seat_map& map, report& out) {
  std::vector<std::uint32_t> claims(map.size());
  for (const auto& [claim, seats] : map.claims()) {
    if (seats.empty()) out.add("claim " + to_string(claim) + " has no seats");
    for (const auto n : seats) {
      if (++claims[n] == 2) out.add(n, "is taken twice");
      if (map.holder(n) != claim) out.add(n, "has another holder than its claim");
      if (map.state(n) != map.state(seats.front())) out.add(n, "is not in the state of its claim's others");
    }
  }
  for (seat_number n = 0; n < map.size(); ++n) {
    if (is_taken(map.state(n)) != (claims[n] != 0)) out.add(n, "is taken without a claim, or free with one");
    if (is_taken(map.state(n)) == map.holder(n).is_nil()) out.add(n, "has a holder although it is not taken");
  }
}

void check_counts(const seat_map& map, report& out) {
  std::map<std::uint8_t, seat_map::counts> counted;
  for (seat_number n = 0; n < map.size(); ++n) {
    auto& c = counted[map.type(n)];
    switch (map.state(n)) {
      case seat_state::free: ++c.free; break;
      case seat_state::held: ++c.held; break;
      case seat_state::sold: ++c.sold; break;
      case seat_state::blocked: ++c.blocked; break;
    }
  }
  for (std::uint8_t t = 0; t < seat_types_max; ++t)
    if (counted[t] != map.counts_of(t)) out.add("the counts of ticket type " + std::to_string(t) + " differ");
}

void check_runs(const seat_map& map, report& out) {
  const auto rows = map.plan().rows();
  for (std::uint16_t r = 0; r < rows.size(); ++r) {
    int longest = 0, run = 0;
    for (auto n = rows[r].first; n < rows[r].first + rows[r].count; ++n) {
      const bool has_aisle = map.plan().seats()[n].has(seat_plan::aisle);
      run = map.state(n) != seat_state::free ? 0 : has_aisle ? 1 : run + 1;
      longest = std::max(longest, run);
    }
    if (longest != map.longest_run(r)) out.add("row " + rows[r].name + " has another longest run");
  }
}

} // namespace

std::vector<std::string> contradictions(const seat_map& map) {
  report out{map};
  check_claims(map, out);
  check_counts(map, out);
  check_runs(map, out);
  return out.take();
}

std::vector<std::string> contradictions(const seat_map& map, std::span<const seat_holding> rows) {
  report out{map};
  std::vector<const seat_holding*> found(map.size());
  for (const auto& row : rows) {
    if (row.seat >= map.size()) {
      out.add("the ledger has a seat " + std::to_string(row.seat) + " that is not in the plan");
      continue;
    }
    if (found[row.seat]) out.add(row.seat, "is taken twice in the ledger");
    found[row.seat] = &row;
  }
  for (seat_number n = 0; n < map.size(); ++n) {
    const auto* row = found[n];
    if (is_taken(map.state(n)) != (row != nullptr))
      out.add(n, row ? "is taken in the ledger only" : "is not taken in the ledger");
    else if (row && (row->claim != map.holder(n) || row->is_sold != (map.state(n) == seat_state::sold)))
      out.add(n, "differs in claim or state from the ledger");
  }
  return out.take();
}

} // namespace fq
