// SPDX-License-Identifier: Apache-2.0
// The last finished tasks of the installation: calls to gateways and mails. Actors add those of this process;
// a ledger worker stores them and reads those of other nodes (ledger_worker.hpp). Dead letters and deliveries
// have lists of their own. Thread-safe.
#pragma once
#include "domain/model/task_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace fq {

class task_history {
public:
  static constexpr std::size_t tasks_max = 1'000; ///< about 200 KB

  void add(task_row task) {
    for (auto* text : {&task.name, &task.result, &task.detail}) make_plain(*text);
    const std::scoped_lock held{mutex_};
    append(added_, {std::move(task)});
  }
  /// The newest first, also those that are not in the ledger yet.
  [[nodiscard]] std::vector<task_row> all() const {
    std::vector<task_row> found;
    {
      const std::scoped_lock held{mutex_};
      for (const auto* some : {&added_, &storing_, &stored_})
        found.insert(found.end(), some->rbegin(), some->rend());
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, &task_row::ended_at);
    if (found.size() > tasks_max) found.resize(tasks_max);
    return found;
  }

  // -- for the ledger worker

  /// What it must store, the oldest first. The same again, and more, until stored().
  [[nodiscard]] std::vector<task_row> to_store() {
    const std::scoped_lock held{mutex_};
    append(storing_, std::exchange(added_, {}));
    return {storing_.begin(), storing_.end()};
  }
  /// `rows`: what the ledger has behind last_id().
  void stored(const std::vector<task_row>& rows) {
    const std::scoped_lock held{mutex_};
    storing_.clear();
    append(stored_, {rows.begin(), rows.end()});
  }
  /// Of those in the ledger; 0: none is known.
  [[nodiscard]] std::uint64_t last_id() const {
    const std::scoped_lock held{mutex_};
    return stored_.empty() ? 0 : stored_.back().id;
  }

private:
  using tasks = std::deque<task_row>;

  /// A text that the ledger refuses would be tried for ever.
  static void make_plain(std::string& text) {
    constexpr std::size_t chars_max = 200;
    if (text.size() > chars_max) text.resize(chars_max);
    std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  }
  static void append(tasks& to, tasks more) {
    std::ranges::move(more, std::back_inserter(to));
    if (to.size() > tasks_max) to.erase(to.begin(), to.end() - static_cast<std::ptrdiff_t>(tasks_max));
  }

  mutable std::mutex mutex_; // actors add, io threads read
  tasks added_, storing_, stored_; ///< the oldest first
};

} // namespace fq
