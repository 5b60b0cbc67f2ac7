// SPDX-License-Identifier: Apache-2.0
// Texts of seat plans that many shoppers read: an event's plan never changes while it sells, and 50,000 seats
// take 30 ms to write. The owner is asked each time whether the text is still that of its plan. Any thread.
#pragma once
#include "domain/base/ids.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace fq::net {

struct kept_plan {
  event_id event;
  std::string form; ///< "json", "csv" or "svg"
  std::uint64_t digest = 0; ///< as the owner told
  std::shared_ptr<const std::string> text = {}; ///< null: none is kept
};

class plan_cache {
public:
  [[nodiscard]] kept_plan find(const event_id& event, std::string_view form);
  /// Drops the one that was read least recently, if there are too many.
  void keep(kept_plan plan);

private:
  std::mutex lock_;
  std::deque<kept_plan> plans_; ///< latest first
};

} // namespace fq::net
