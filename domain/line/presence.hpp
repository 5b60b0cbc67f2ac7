// SPDX-License-Identifier: Apache-2.0
// Last sighting of each entry in line. In memory only: after a load every entry counts as seen at that
// moment, so a restart makes no entry AWAY. About 100 bytes per entry; nothing without a presence_timeout.
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
  /// Records a sighting. O(log n); sightings within `grain` of the last one are ignored.
  void seen(queue_number n, timestamp now, milliseconds grain);
  void forget(queue_number n);
  void clear();
  /// Entries last seen at or before `t`, at most `limit`, longest absent first.
  [[nodiscard]] std::vector<queue_number> unseen_since(timestamp t, std::size_t limit) const;
  /// Last sighting of the longest absent entry; `never` if the book is empty.
  [[nodiscard]] timestamp earliest() const { return by_time_.empty() ? never : by_time_.begin()->first; }
  [[nodiscard]] std::size_t size() const { return by_time_.size(); }

private:
  std::set<std::pair<timestamp, queue_number>> by_time_;
  std::unordered_map<std::uint64_t, timestamp> last_; ///< by queue number
};

} // namespace fq
