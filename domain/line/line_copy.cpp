// SPDX-License-Identifier: Apache-2.0
#include "domain/line/line_copy.hpp"

#include "domain/line/limits.hpp"

#include <algorithm>

namespace fq {

void line_copy::begin(std::uint64_t version) {
  *this = {};
  version_ = version;
}

line_copy::news line_copy::advance(std::uint64_t before, std::uint64_t after) {
  if (is_full_) return news::missed;
  if (after <= version_) return news::known;
  if (before != version_) return news::missed;
  version_ = after;
  return news::next;
}

/// Bounds the memory, also if a peer names a rank that no line has.
bool line_copy::has_room_for(line_spot s) {
  const auto rank = value_of(s.rank);
  const auto low = lowest_ == 0 ? rank : std::min(lowest_, rank);
  const auto high = std::max(highest_, rank);
  is_full_ = is_full_ || !is_spot(s) || high - low >= copied_ranks_max || moves_ >= copied_moves_max;
  if (is_full_) return false;
  lowest_ = low;
  highest_ = high;
  return true;
}

void line_copy::arrived(line_spot s) {
  if (!has_room_for(s)) return;
  arrived_[s.priority_class].insert(s.rank);
  ++moves_;
}

void line_copy::changed(line_spot s, entry_status to) {
  if (!is_in_line(to) && !ends_waiting(to)) return;
  if (!has_room_for(s)) return;
  if (away_.contains(s.rank)) away_.erase(s.rank);
  if (to == entry_status::away) away_.insert(s.rank);
  if (!ends_waiting(to)) return;
  left_[s.priority_class].insert(s.rank);
  ++moves_;
}

/// Arrivals minus departures ahead.
std::int64_t line_copy::shift(line_spot s) const {
  if (moves_ == 0) return 0;
  const auto difference = [](std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); };
  auto sum = difference(arrived_[s.priority_class].place(s.rank), left_[s.priority_class].place(s.rank));
  for (std::size_t c = 0; c < s.priority_class; ++c) sum += difference(arrived_[c].size(), left_[c].size());
  return sum;
}

std::optional<std::uint64_t> line_copy::position(line_spot s, std::int64_t base) const {
  if (left_[s.priority_class].contains(s.rank)) return std::nullopt;
  return static_cast<std::uint64_t>(base + shift(s));
}

} // namespace fq
