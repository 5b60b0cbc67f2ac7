// SPDX-License-Identifier: Apache-2.0
// What an owner has pushed to a listener of another node and that node has not read yet. CAF buffers without
// end what a peer does not take: past the window nothing more is pushed, and who has missed something by that
// is told to begin anew once it has read the rest.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

namespace fq {

/// In changes of a place or a session, of about 100 bytes each.
inline constexpr std::uint64_t push_window_max = 20'000;
/// A mark is sent behind so many of them: the listener's node sends it back.
inline constexpr std::uint64_t push_mark_every = 1'000;
/// One message counts for no more: what is pushed as a whole (all sessions of a large event, all who are let
/// in at once) is no sign of a slow listener. So a window holds two such messages, whatever their size, or
/// its number of small ones; and each event has one to each listener.
inline constexpr std::uint64_t push_counts_at_most = push_window_max / 2;

class push_window {
public:
  /// Nothing may be pushed.
  [[nodiscard]] bool is_closed() const { return has_missed_ || is_full(); }

  /// Something was not pushed, because it is closed.
  void miss() { has_missed_ = true; }

  /// `changes` were pushed. The mark to send behind them, if it is time for one.
  std::optional<std::uint64_t> pushed(std::uint64_t changes) {
    pushed_ += std::min(changes, push_counts_at_most);
    if (!is_full() && pushed_ - marked_ < push_mark_every) return std::nullopt;
    return marked_ = pushed_;
  }

  /// A mark came back. True: it had missed something, has read all, and begins anew.
  bool read(std::uint64_t mark) {
    if (mark > pushed_ || mark < read_) return false; // of another window
    read_ = mark;
    if (!has_missed_ || read_ != pushed_) return false;
    has_missed_ = false;
    return true;
  }

private:
  [[nodiscard]] bool is_full() const { return pushed_ - read_ >= push_window_max; }

  std::uint64_t pushed_ = 0, marked_ = 0, read_ = 0; ///< changes since it began
  bool has_missed_ = false;
};

} // namespace fq
