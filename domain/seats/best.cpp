// SPDX-License-Identifier: Apache-2.0
// Looks at rows from the best one on, and skips those whose longest run of free seats is too short. The slow
// twin is tests/domain/seats/best_oracle.hpp.
#include "domain/seats/best.hpp"

#include "domain/base/planted.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace fq {
namespace {

/// Seats from `first` on, side by side.
struct piece {
  seat_number first = 0;
  std::int32_t obstructed = 0; ///< seats of it with restricted view
  std::int32_t off = 0; ///< twice the distance of its middle from the row's best point, in seats
};

class search {
public:
  search(const seat_map& map, const best_wish& wish, const seat_rules& rules) :
      map_(map), plan_(map.plan()), wish_(wish), rules_(rules) {}

  std::vector<seat_number> run() {
    if (wish_.count == 0 || wish_.count > claim_seats_max || wish_.accessible > wish_.count) return {};
    const auto in_one_row = [this] { return wish_.accessible > 0 ? accessible_seats() : side_by_side(); };
    const auto divided = [this] {
      return rules_.may_split && wish_.accessible == 0 ? divide() : seat_list{};
    };
    avoids_singles_ = rules_.singles != single_rule::off && !planted(bug::single_seat_left);
    auto found = in_one_row();
    const bool may_relax = avoids_singles_ && rules_.singles == single_rule::when_needed;
    if (found.empty() && may_relax) {
      avoids_singles_ = false;
      found = in_one_row();
      avoids_singles_ = true;
    }
    if (found.empty()) found = divided();
    if (found.empty() && may_relax) {
      avoids_singles_ = false;
      found = divided();
    }
    return found;
  }

private:
  using seat_list = std::vector<seat_number>;
  using row = seat_plan::row;

  [[nodiscard]] bool is_open(seat_number n) const { return map_.is_open(n, rules_.accessible_for_all); }
  [[nodiscard]] bool is_wanted(seat_number n) const { return (wish_.types >> map_.type(n) & 1) != 0; }
  [[nodiscard]] bool is_in_section(const row& r) const {
    return !wish_.section || r.section == *wish_.section;
  }
  [[nodiscard]] std::int32_t off(const row& r, seat_number first, std::uint32_t count) const {
    return std::abs(static_cast<std::int32_t>(2 * (first - r.first) + count) - 1 - r.best);
  }

  [[nodiscard]] std::int32_t obstructed_in(seat_number first, std::uint32_t count) const {
    std::int32_t found = 0;
    for (auto n = first; n < first + count; ++n) found += map_.is_obstructed(n) ? 1 : 0;
    return found;
  }

  void add(seat_number first, std::uint32_t count, seat_list& to) const {
    for (std::uint32_t i = 0; i < count; ++i) to.push_back(first + i);
  }

  /// Calls `take(piece)` for each choice of `count` seats in the row.
  template <class Take>
  void each_piece(const row& r, std::uint32_t count, Take take) const {
    const auto end = r.first + r.count;
    for (auto begin = r.first; begin < end;) {
      auto behind = begin + 1;
      if (is_open(begin)) {
        while (behind < end && map_.is_joined(behind) && is_open(behind)) ++behind;
        if (behind - begin >= count) each_piece_of_run(r, begin, behind, count, take);
      }
      begin = behind;
    }
  }

  template <class Take>
  void each_piece_of_run(const row& r, seat_number begin, seat_number behind, std::uint32_t count,
                         Take take) const {
    for (auto first = begin; first < behind;) {
      auto last = first + 1; // behind those of one ticket type
      while (last < behind && map_.type(last) == map_.type(first)) ++last;
      std::int32_t obstructed = obstructed_in(first, std::min(count, last - first));
      for (auto n = first; is_wanted(first) && n + count <= last; ++n) {
        const auto before = n - begin, after = behind - n - count;
        if (!avoids_singles_ || (before != 1 && after != 1)) take(piece{n, obstructed, off(r, n, count)});
        if (n + count < last) obstructed += map_.is_obstructed(n + count) - map_.is_obstructed(n);
      }
      first = last;
    }
  }

  seat_list side_by_side() const {
    seat_list found;
    for (const auto index : plan_.rows_by_quality()) {
      const auto& r = plan_.rows()[index];
      if (map_.longest_run(index) < wish_.count || !is_in_section(r)) continue;
      std::optional<piece> chosen;
      each_piece(r, wish_.count, [&](const piece& p) {
        if (!chosen || std::tie(p.obstructed, p.off) < std::tie(chosen->obstructed, chosen->off)) chosen = p;
      });
      if (!chosen) continue;
      add(chosen->first, wish_.count, found);
      break;
    }
    return found;
  }

  // -- people who need accessible seats

  /// Whether seat `n`, open beside the open seat `taken`, is a single once `taken` is gone.
  [[nodiscard]] bool becomes_single(seat_number n, seat_number taken) const {
    if (!is_open(n) || !is_open(taken)) return false;
    return n < taken ? !(map_.is_joined(n) && is_open(n - 1)) : !(map_.is_joined(n + 1) && is_open(n + 1));
  }

  [[nodiscard]] bool leaves_single(seat_number first, std::uint32_t count) const {
    const auto behind = first + count;
    return (map_.is_joined(first) && becomes_single(first - 1, first))
           || (map_.is_joined(behind) && becomes_single(behind, behind - 1));
  }

  /// Whether the seats from `first` on suit the wish; `others`: how many of them are neither
  /// accessible nor companions'.
  [[nodiscard]] bool suits(const row& r, seat_number first, std::uint32_t& others) const {
    std::uint32_t accessible = 0;
    others = 0;
    for (auto n = first; n < first + wish_.count; ++n) {
      const bool is_beside = n == first || map_.is_joined(n);
      if (n >= r.first + r.count || map_.state(n) != seat_state::free || !is_beside || !is_wanted(n))
        return false;
      accessible += map_.is_accessible(n) ? 1 : 0;
      others += map_.is_accessible(n) || map_.is_companion(n) ? 0 : 1;
    }
    return accessible == wish_.accessible && !(avoids_singles_ && leaves_single(first, wish_.count));
  }

  /// In the best row that has them, with as few seats as possible that are not companions'.
  seat_list accessible_seats() const {
    seat_list found;
    for (const auto index : plan_.rows_by_quality()) {
      const auto& r = plan_.rows()[index];
      if (r.accessible < wish_.accessible || map_.longest_run(index) < wish_.count || !is_in_section(r))
        continue;
      std::optional<std::tuple<std::uint32_t, std::int32_t, std::int32_t, seat_number>> chosen;
      for (auto n = r.first; n + wish_.count <= r.first + r.count; ++n) {
        std::uint32_t others = 0;
        if (!suits(r, n, others)) continue;
        const std::tuple here{others, obstructed_in(n, wish_.count), off(r, n, wish_.count), n};
        if (!chosen || here < *chosen) chosen = here;
      }
      if (!chosen) continue;
      add(std::get<3>(*chosen), wish_.count, found);
      break;
    }
    return found;
  }

  // -- groups over two rows

  /// Square of twice the distance between the middles of two pieces.
  [[nodiscard]] std::int64_t apart(seat_number a, std::uint32_t of_a, seat_number b,
                                   std::uint32_t of_b) const {
    const auto seats = plan_.seats();
    const auto twice_middle = [&](seat_number first, std::uint32_t count, auto coordinate) {
      return std::int64_t{seats[first].at.*coordinate} + seats[first + count - 1].at.*coordinate;
    };
    const auto dx = twice_middle(a, of_a, &plan_point::x) - twice_middle(b, of_b, &plan_point::x);
    const auto dy = twice_middle(a, of_a, &plan_point::y) - twice_middle(b, of_b, &plan_point::y);
    return dx * dx + dy * dy;
  }

  /// `here` seats in row `better` and the rest in row `other`, as near to each other as possible.
  seat_list divide_between(std::uint16_t better, std::uint16_t other, std::uint32_t here) {
    const auto there = wish_.count - here;
    ++work_;
    if (map_.longest_run(better) < here || map_.longest_run(other) < there) return {};
    std::vector<piece> beside;
    work_ += std::size_t{plan_.rows()[better].count} + plan_.rows()[other].count;
    std::uint64_t types = 0, types_beside = 0;
    each_piece(plan_.rows()[other], there, [&](const piece& p) {
      beside.push_back(p);
      types_beside |= std::uint64_t{1} << map_.type(p.first);
    });
    each_piece(plan_.rows()[better], here,
               [&](const piece& p) { types |= std::uint64_t{1} << map_.type(p.first); });
    if ((types & types_beside) == 0) return {}; // else every pair would be tried in vain
    std::optional<std::tuple<std::int32_t, std::int64_t, std::int32_t, seat_number, seat_number>> chosen;
    each_piece(plan_.rows()[better], here, [&](const piece& p) {
      work_ += beside.size();
      for (const auto& q : beside) {
        if (map_.type(p.first) != map_.type(q.first)) continue;
        const std::tuple pair{p.obstructed + q.obstructed, apart(p.first, here, q.first, there), p.off,
                              p.first, q.first};
        if (!chosen || pair < *chosen) chosen = pair;
      }
    });
    seat_list found;
    if (!chosen) return found;
    add(std::get<3>(*chosen), here, found);
    add(std::get<4>(*chosen), there, found);
    std::ranges::sort(found);
    return found;
  }

  /// In the best row and a neighbour, as evenly as possible, the larger part in the better row if it fits.
  /// Looks at each pair once, from its better row; finds none beyond division_work_max.
  seat_list divide() {
    if (wish_.count < 4) return {};
    work_ = 0;
    for (const auto better : plan_.rows_by_quality()) {
      const auto& r = plan_.rows()[better];
      if (!is_in_section(r) || map_.longest_run(better) < 2) continue;
      for (const auto other : worse_neighbours(better))
        for (auto larger = (wish_.count + 1) / 2; larger + 2 <= wish_.count; ++larger)
          for (const auto here : {larger, wish_.count - larger}) {
            if (work_ > division_work_max) return {};
            if (auto found = divide_between(better, other, here); !found.empty()) return found;
          }
    }
    return {};
  }

  [[nodiscard]] std::vector<std::uint16_t> worse_neighbours(std::uint16_t better) const {
    const auto rows = plan_.rows();
    const auto& r = rows[better];
    const auto& section = plan_.sections()[r.section];
    std::vector<std::uint16_t> found;
    if (better > section.first_row) found.push_back(static_cast<std::uint16_t>(better - 1));
    if (better + 1 < section.first_row + section.rows)
      found.push_back(static_cast<std::uint16_t>(better + 1));
    std::erase_if(found, [&](std::uint16_t i) { return rows[i].quality < r.quality; });
    std::ranges::sort(found, {}, [&](std::uint16_t i) { return rows[i].quality; });
    return found;
  }

  const seat_map& map_;
  const seat_plan& plan_;
  const best_wish& wish_;
  const seat_rules& rules_;
  bool avoids_singles_ = true;
  std::size_t work_ = 0; ///< tries, seats and pairs of pieces of this division
};

/// The rule about singles for named seats.
class single_check {
public:
  single_check(const seat_map& map, const std::vector<seat_number>& sorted, const seat_rules& rules) :
      map_(map), chosen_(sorted), rules_(rules) {}

  [[nodiscard]] std::vector<seat_number> singles() const {
    std::vector<seat_number> found;
    if (rules_.singles == single_rule::off) return found;
    for (const auto n : chosen_) {
      if (!is_open(n)) continue;
      if (map_.is_joined(n) && is_new_single(n - 1)) found.push_back(n - 1);
      if (map_.is_joined(n + 1) && is_new_single(n + 1)) found.push_back(n + 1);
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

private:
  [[nodiscard]] bool is_open(seat_number n) const { return map_.is_open(n, rules_.accessible_for_all); }
  [[nodiscard]] bool is_chosen(seat_number n) const { return std::ranges::binary_search(chosen_, n); }
  [[nodiscard]] bool stays_open(seat_number n) const { return is_open(n) && !is_chosen(n); }

  [[nodiscard]] bool is_new_single(seat_number n) const {
    if (!stays_open(n)) return false;
    if (map_.is_joined(n) && stays_open(n - 1)) return false;
    if (map_.is_joined(n + 1) && stays_open(n + 1)) return false;
    return rules_.singles == single_rule::strict || left_in_run(n) > 1;
  }

  /// Seats that stay open in the run of open seats around `n`.
  [[nodiscard]] std::uint32_t left_in_run(seat_number n) const {
    auto begin = n, behind = n + 1;
    while (map_.is_joined(begin) && is_open(begin - 1)) --begin;
    while (map_.is_joined(behind) && is_open(behind)) ++behind;
    std::uint32_t left = 0;
    for (auto i = begin; i < behind; ++i) left += is_chosen(i) ? 0 : 1;
    return left;
  }

  const seat_map& map_;
  const std::vector<seat_number>& chosen_;
  const seat_rules& rules_;
};

/// Whether an accessible seat is in the run of chosen seats around `n`.
bool stands_with_accessible(const seat_map& map, const std::vector<seat_number>& sorted, seat_number n) {
  const auto is_chosen = [&](seat_number i) { return std::ranges::binary_search(sorted, i); };
  while (map.is_joined(n) && is_chosen(n - 1)) --n;
  while (!map.is_accessible(n) && map.is_joined(n + 1) && is_chosen(n + 1)) ++n;
  return map.is_accessible(n);
}

} // namespace

std::vector<seat_number> best(const seat_map& map, const best_wish& wish, const seat_rules& rules) {
  return search{map, wish, rules}.run();
}

seat_refusal check_choice(const seat_map& map, const named_wish& wish, const seat_rules& rules) {
  if (wish.seats.empty() || wish.seats.size() > claim_seats_max) return {seat_fault::too_many};
  std::vector<seat_number> sorted(wish.seats.begin(), wish.seats.end());
  std::ranges::sort(sorted);
  if (sorted.back() >= map.size()) return {seat_fault::unknown, {sorted.back()}};
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    return {seat_fault::repeated, {*twice}};
  const auto refuse = [&](seat_fault why, auto is_wrong) {
    seat_refusal no{why};
    std::ranges::copy_if(sorted, std::back_inserter(no.seats), is_wrong);
    return no.seats.empty() ? seat_refusal{} : no;
  };
  const auto is_taken = [&](auto n) {
    return map.state(n) != seat_state::free
           && !(planted(bug::seat_conflict_ignored) && n == wish.seats.back());
  };
  if (auto no = refuse(seat_fault::taken, is_taken)) return no;
  const auto accessible = std::ranges::count_if(sorted, [&](auto n) { return map.is_accessible(n); });
  const bool may_take_kept = accessible <= std::int64_t{wish.asks_accessible};
  const auto is_kept = [&](auto n) {
    return map.state(n) == seat_state::free && !map.is_open(n, rules.accessible_for_all)
           && !(may_take_kept && stands_with_accessible(map, sorted, n));
  };
  if (auto no = refuse(seat_fault::kept_accessible, is_kept)) return no;
  const auto is_other = [&](auto n) { return (wish.types >> map.type(n) & 1) == 0; };
  if (auto no = refuse(seat_fault::wrong_type, is_other)) return no;
  auto singles = single_check{map, sorted, rules}.singles();
  return singles.empty() ? seat_refusal{} : seat_refusal{seat_fault::leaves_single, std::move(singles)};
}

} // namespace fq
