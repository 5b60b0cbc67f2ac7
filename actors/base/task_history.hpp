// SPDX-License-Identifier: Apache-2.0
// The last finished tasks of this process: calls to gateways and mails. In memory only: a row for each would
// double what a sale writes. Dead letters and deliveries have their own lists in the ledger. Thread-safe.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace fq {

struct finished_task {
  timestamp ended_at;
  std::string name; ///< "stripe refund", "mail"
  uuid subject; ///< the payment of a call, the domain event of a mail
  std::string result; ///< one word
  std::string detail; ///< for people, without personal data; may be empty
  std::uint32_t attempts = 0; ///< 0: not counted
  milliseconds duration{0}; ///< with all attempts and pauses
};

class task_history {
public:
  static constexpr std::size_t tasks_max = 1'000; ///< about 200 KB

  void add(finished_task task) {
    const std::scoped_lock held{mutex_};
    if (tasks_.size() == tasks_max) tasks_.pop_back();
    tasks_.push_front(std::move(task));
  }
  /// The newest first.
  [[nodiscard]] std::vector<finished_task> all() const {
    const std::scoped_lock held{mutex_};
    return {tasks_.begin(), tasks_.end()};
  }

private:
  mutable std::mutex mutex_; // actors add, io threads read
  std::deque<finished_task> tasks_;
};

} // namespace fq
