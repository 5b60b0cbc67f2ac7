// SPDX-License-Identifier: Apache-2.0
// Who in line was seen when. In memory only: an owner that loads takes everybody for seen at that moment, so
// a restart sends nobody away. Costs about 100 bytes a place, and nothing in a queue without a
// presence_timeout.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <cstddef>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fq {

class presence_book {
public:
  /// O(log n); sightings closer together than `grain` count as one.
  void seen(queue_number n, timestamp now, milliseconds grain);
  void forget(queue_number n);
  void clear();
  /// Those seen last at or before `t`, at most `limit`, the longest absent first.
  [[nodiscard]] std::vector<queue_number> unseen_since(timestamp t, std::size_t limit) const;
  /// When the longest absent was seen; `never` if the book is empty.
  [[nodiscard]] timestamp earliest() const { return by_time_.empty() ? never : by_time_.begin()->first; }
  [[nodiscard]] std::size_t size() const { return by_time_.size(); }

private:
  std::set<std::pair<timestamp, queue_number>> by_time_;
  std::unordered_map<std::uint64_t, timestamp> last_; ///< by queue number
};

} // namespace fq
