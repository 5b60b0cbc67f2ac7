// SPDX-License-Identifier: Apache-2.0
// Notes that are committed and not in the public log. The ledger has all of them. Memory has them too, up to
// fresh_notes_max, so that a busy log does not read them.
#pragma once
#include "actors/protocol/log_messages.hpp"
#include "actors/sale/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace fq {

class fresh_notes {
public:
  /// False: read the ledger first.
  [[nodiscard]] bool has_all() const { return has_all_; }
  /// The first ones, in order.
  [[nodiscard]] const std::deque<noted_rows>& rows() const { return rows_; }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Rows of a batch that is committed. A read may have found them before the owner knew.
  void add(std::vector<noted_rows> rows) {
    if (!has_all_ && !is_reading_) return;
    for (auto& r : rows)
      if (r.place > last_) push(std::move(r));
    if (bytes_ > fresh_notes_max) forget();
  }

  /// From now on batches are kept: the read may have missed them.
  void begin_read() {
    forget();
    is_reading_ = true;
  }
  /// `is_all`: the ledger had no more than these.
  void end_read(const std::vector<noted_rows>& found, bool is_all) {
    const bool has_all = is_all && is_reading_;
    const auto later = std::exchange(rows_, {});
    forget();
    for (const auto& r : found) push(r);
    const auto end = found.empty() ? log_place{} : found.back().place;
    for (const auto& r : later)
      if (has_all && r.place > end) push(r);
    has_all_ = has_all;
  }

  /// The log has the first one.
  void pop() {
    bytes_ -= rows_.front().row.content.size();
    rows_.pop_front();
  }

private:
  void push(noted_rows r) {
    bytes_ += r.row.content.size();
    last_ = std::max(last_, r.place);
    rows_.push_back(std::move(r));
  }
  void forget() {
    rows_.clear();
    bytes_ = 0;
    has_all_ = is_reading_ = false;
  }

  std::deque<noted_rows> rows_;
  std::size_t bytes_ = 0;
  log_place last_; ///< of the rows so far
  bool has_all_ = false; ///< rows_ has all that is noted and not taken, else only the first of it
  bool is_reading_ = false;
};

} // namespace fq
