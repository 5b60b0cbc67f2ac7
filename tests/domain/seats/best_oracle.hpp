// SPDX-License-Identifier: Apache-2.0
// Best seats by trying every choice: the slow twin of domain/seats/best.cpp, from the rules in best.hpp. Uses
// the plan's seats and the map's states only.
#pragma once
#include "domain/seats/best.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace fq::test {

class best_oracle {
public:
  using seat_list = std::vector<seat_number>;

  best_oracle(const seat_map& map, const seat_rules& rules) : map_(map), rules_(rules) {
    for (std::uint16_t r = 0; r < map.plan().rows().size(); ++r) order_.push_back(r);
    std::ranges::sort(order_, {}, [this](std::uint16_t r) {
      const auto& row = map_.plan().rows()[r];
      return std::tuple{map_.plan().sections()[row.section].rank, distance(row.first + row.count / 2), r};
    });
  }

  seat_list best(const best_wish& wish) const {
    if (wish.count == 0 || wish.accessible > wish.count) return {};
    const bool avoids = rules_.singles != single_rule::off;
    const bool relaxes = rules_.singles == single_rule::when_needed;
    auto found = in_one_row(wish, avoids);
    if (found.empty() && relaxes) found = in_one_row(wish, false);
    const bool splits = rules_.may_split && wish.accessible == 0;
    if (found.empty() && splits) found = divided(wish, avoids);
    if (found.empty() && splits && relaxes) found = divided(wish, false);
    return found;
  }

  /// Singles that `taken` makes, without those that were singles before.
  seat_list new_singles(const seat_list& taken) const {
    const std::set<seat_number> gone(taken.begin(), taken.end());
    seat_list found;
    for (seat_number n = 0; n < map_.size(); ++n)
      if (!gone.contains(n) && is_single(n, gone) && !is_single(n, {})) found.push_back(n);
    return found;
  }

  /// Seats that stay in the run of open seats around `n`.
  std::size_t left_around(seat_number n, const seat_list& taken) const {
    seat_list run{n};
    for (std::size_t i = 0; i < run.size(); ++i)
      for (const auto next : neighbours(run[i]))
        if (is_open(next) && std::ranges::find(run, next) == run.end()) run.push_back(next);
    return static_cast<std::size_t>(
      std::ranges::count_if(run, [&](auto s) { return std::ranges::find(taken, s) == taken.end(); }));
  }

private:
  std::span<const seat_plan::seat> all() const { return map_.plan().seats(); }

  bool is_open(seat_number n) const {
    const bool is_kept = all()[n].has(seat_plan::accessible) || all()[n].has(seat_plan::companion);
    return map_.state(n) == seat_state::free && (!is_kept || rules_.accessible_for_all);
  }
  seat_list neighbours(seat_number n) const {
    seat_list out;
    if (n > 0 && all()[n - 1].row == all()[n].row && !all()[n].has(seat_plan::aisle)) out.push_back(n - 1);
    if (n + 1 < all().size() && all()[n + 1].row == all()[n].row && !all()[n + 1].has(seat_plan::aisle))
      out.push_back(n + 1);
    return out;
  }
  bool is_single(seat_number n, const std::set<seat_number>& gone) const {
    return is_open(n) && std::ranges::none_of(neighbours(n), [&](auto other) {
             return is_open(other) && !gone.contains(other);
           });
  }
  std::int64_t distance(seat_number n) const {
    const double dx = all()[n].at.x - map_.plan().focus().x, dy = all()[n].at.y - map_.plan().focus().y;
    return static_cast<std::int64_t>(std::sqrt(dx * dx + dy * dy));
  }
  /// Twice the index of the row's best point.
  std::int64_t best_point(const seat_plan::row& row) const {
    std::int64_t nearest = 0;
    for (std::int64_t i = 1; i < row.count; ++i)
      if (distance(row.first + static_cast<seat_number>(i))
          < distance(row.first + static_cast<seat_number>(nearest)))
        nearest = i;
    const bool is_aside =
      distance(row.first + static_cast<seat_number>(nearest)) + 50 < distance(row.first + row.count / 2u);
    return is_aside ? 2 * nearest : row.count - 1;
  }
  std::int64_t off(seat_number first, std::size_t count) const {
    const auto& row = map_.plan().rows()[all()[first].row];
    const auto middle =
      2 * static_cast<std::int64_t>(first - row.first) + static_cast<std::int64_t>(count) - 1;
    return std::abs(middle - best_point(row));
  }

  /// Every choice of `count` seats side by side in the row that suits the wish.
  std::vector<seat_list> choices(std::uint16_t row, std::size_t count, const best_wish& wish,
                                 bool avoids) const {
    std::vector<seat_list> out;
    const auto& r = map_.plan().rows()[row];
    if (wish.section && *wish.section != r.section) return out;
    for (seat_number first = r.first; first + count <= r.first + r.count; ++first) {
      seat_list list;
      for (seat_number n = first; n < first + count; ++n) list.push_back(n);
      if (suits(list, wish) && !(avoids && !new_singles(list).empty())) out.push_back(std::move(list));
    }
    return out;
  }
  bool suits(const seat_list& list, const best_wish& wish) const {
    std::uint32_t accessible = 0;
    for (const auto n : list) {
      if (n != list.front() && all()[n].has(seat_plan::aisle)) return false;
      if (!((wish.types >> map_.type(n)) & 1)) return false;
      if (all()[n].has(seat_plan::accessible)) ++accessible;
      if (map_.state(n) != seat_state::free) return false;
      if (wish.accessible == 0 && (!is_open(n) || map_.type(n) != map_.type(list.front()))) return false;
    }
    return wish.accessible == 0 || accessible == wish.accessible;
  }
  std::int64_t others(const seat_list& list, const best_wish& wish) const {
    if (wish.accessible == 0) return 0;
    return std::ranges::count_if(list, [&](auto n) {
      return !all()[n].has(seat_plan::accessible) && !all()[n].has(seat_plan::companion);
    });
  }

  std::int64_t obstructed(const seat_list& list) const {
    return std::ranges::count_if(list, [&](auto n) { return all()[n].has(seat_plan::obstructed); });
  }

  seat_list in_one_row(const best_wish& wish, bool avoids) const {
    for (const auto row : order_) {
      auto list = choices(row, wish.count, wish, avoids);
      if (list.empty()) continue;
      return *std::ranges::min_element(list, {}, [&](const seat_list& c) {
        return std::tuple{others(c, wish), obstructed(c), off(c.front(), c.size()), c.front()};
      });
    }
    return {};
  }

  std::int64_t apart(const seat_list& a, const seat_list& b) const {
    const auto x = [&](const seat_list& l) {
      return std::int64_t{all()[l.front()].at.x} + all()[l.back()].at.x;
    };
    const auto y = [&](const seat_list& l) {
      return std::int64_t{all()[l.front()].at.y} + all()[l.back()].at.y;
    };
    return (x(a) - x(b)) * (x(a) - x(b)) + (y(a) - y(b)) * (y(a) - y(b));
  }

  seat_list divided(const best_wish& wish, bool avoids) const {
    using key = std::tuple<std::size_t, std::size_t, std::size_t, bool, std::int64_t, std::int64_t,
                           std::int64_t, seat_number, seat_number>;
    std::optional<std::pair<key, seat_list>> chosen;
    for (std::size_t i = 0; i < order_.size(); ++i)
      for (std::size_t j = i + 1; j < order_.size(); ++j) {
        const auto& a = map_.plan().rows()[order_[i]];
        const auto& b = map_.plan().rows()[order_[j]];
        if (a.section != b.section || std::abs(int{order_[i]} - int{order_[j]}) != 1) continue;
        for (std::size_t first = 2; first + 2 <= wish.count; ++first)
          for (const auto& p : choices(order_[i], first, wish, avoids))
            for (const auto& q : choices(order_[j], wish.count - first, wish, avoids)) {
              if (map_.type(p.front()) != map_.type(q.front())) continue;
              const auto larger = std::max(p.size(), q.size());
              const key here{i,
                             j,
                             larger,
                             p.size() < q.size(),
                             obstructed(p) + obstructed(q),
                             apart(p, q),
                             off(p.front(), p.size()),
                             p.front(),
                             q.front()};
              if (chosen && chosen->first <= here) continue;
              auto both = p;
              both.insert(both.end(), q.begin(), q.end());
              std::ranges::sort(both);
              chosen = {here, both};
            }
      }
    return chosen ? chosen->second : seat_list{};
  }

  const seat_map& map_;
  seat_rules rules_;
  std::vector<std::uint16_t> order_; ///< rows, the best first
};

} // namespace fq::test
