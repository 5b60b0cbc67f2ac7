// SPDX-License-Identifier: Apache-2.0
// How many orders wait for their payment page, over all events of this process, and for how long: written by their owners, read by whoever
// measures. Safe on any thread; nobody decides by it.
#pragma once
#include "domain/ids.hpp"
#include "domain/time.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace fq {

class checkout_board {
public:
  /// `oldest`: when the oldest was placed; `never` if none waits.
  void tell(aggregate_id event, std::size_t pending, timestamp oldest) {
    const std::scoped_lock held{mutex_};
    if (pending == 0)
      waiting_.erase(event);
    else
      waiting_[event] = {pending, oldest};
  }
  void forget(aggregate_id event) { tell(event, 0, never); }

  void count_dead_letter() { dead_letters_.fetch_add(1, std::memory_order_relaxed); }
  /// Since this process began.
  [[nodiscard]] std::uint64_t dead_letters() const { return dead_letters_.load(std::memory_order_relaxed); }

  struct total {
    std::size_t pending = 0;
    timestamp oldest; ///< `never` if none waits
  };
  [[nodiscard]] total read() const {
    const std::scoped_lock held{mutex_};
    total all;
    for (const auto& [event, one] : waiting_) {
      all.pending += one.pending;
      if (!is_set(all.oldest) || one.oldest < all.oldest) all.oldest = one.oldest;
    }
    return all;
  }

private:
  mutable std::mutex mutex_; // owners on the actors' threads and the metrics' io thread meet here
  std::unordered_map<aggregate_id, total> waiting_;
  std::atomic<std::uint64_t> dead_letters_{0};
};

} // namespace fq
