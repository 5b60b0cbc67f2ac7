// SPDX-License-Identifier: Apache-2.0
// Flow control of an owner's pushes to a listener on another node. CAF buffers without limit, so the owner
// stops at a high-water mark of unread pushes. When the node has read the rest, a listener that missed pushes
// must query everything again.
#pragma once
#include "actors/sale/limits.hpp"
#include <algorithm>
#include <cstdint>
#include <optional>

namespace fq {

class push_window {
public:
  /// No more pushes may be sent.
  [[nodiscard]] bool is_closed() const { return has_missed_ || is_full(); }

  /// A push was dropped because the window is closed.
  void miss() { has_missed_ = true; }

  /// Counts `changes` as pushed. Returns the mark to send after them, if one is due.
  std::optional<std::uint64_t> pushed(std::uint64_t changes) {
    pushed_ += std::min(changes, push_counts_at_most);
    if (!is_full() && pushed_ - marked_ < push_mark_every) return std::nullopt;
    return marked_ = pushed_;
  }

  /// Handles a returned mark. True: pushes were missed and all sent ones are read; the listener must start
  /// again.
  bool read(std::uint64_t mark) {
    if (mark > pushed_ || mark < read_) return false; // of an earlier window
    read_ = mark;
    if (!has_missed_ || read_ != pushed_) return false;
    has_missed_ = false;
    return true;
  }

private:
  [[nodiscard]] bool is_full() const { return pushed_ - read_ >= push_window_max; }

  std::uint64_t pushed_ = 0, marked_ = 0, read_ = 0; ///< totals, in changes
  bool has_missed_ = false;
};

} // namespace fq
