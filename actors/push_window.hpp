// SPDX-License-Identifier: Apache-2.0
// What an owner has pushed to a listener of another node and that node has not read yet. CAF buffers without end what a peer does not take:
// past the window nothing more is pushed, and once all is read the listener is told to begin anew.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

namespace fq {

/// In changes of a place or a session, of about 100 bytes each.
inline constexpr std::uint64_t push_window_max = 20'000;
/// A mark is sent behind so many of them: the listener's node sends it back.
inline constexpr std::uint64_t push_mark_every = 1'000;

class push_window {
public:
  /// Nothing may be pushed: the listener has missed something, or would.
  [[nodiscard]] bool is_closed() const { return is_behind_; }

  /// `changes` were pushed. The mark to send behind them, if it is time for one.
  std::optional<std::uint64_t> pushed(std::uint64_t changes) {
    pushed_ += changes;
    is_behind_ = pushed_ - read_ >= push_window_max;
    if (!is_behind_ && pushed_ - marked_ < push_mark_every) return std::nullopt;
    return marked_ = pushed_;
  }

  /// A mark came back. True: it was behind and has read all, so it may begin anew.
  bool read(std::uint64_t mark) {
    if (mark > pushed_ || mark < read_) return false; // of another window
    read_ = mark;
    if (!is_behind_ || read_ != pushed_) return false;
    is_behind_ = false;
    return true;
  }

private:
  std::uint64_t pushed_ = 0, marked_ = 0, read_ = 0; ///< changes since it began
  bool is_behind_ = false;
};

} // namespace fq
