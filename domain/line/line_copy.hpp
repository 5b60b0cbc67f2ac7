// SPDX-License-Identifier: Apache-2.0
// The moves of a line since one version of it. A reader that gets every change, but has no entries, computes
// from the position at one version the present one, in O(log n). Memory: one bit per rank that moved, from
// about the lowest on.
#pragma once
#include "domain/line/rank_set.hpp"
#include "domain/model/states.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace fq {

class line_copy {
public:
  /// Forgets all moves. Positions kept before are void.
  void begin(std::uint64_t version);
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// Of places that left, or arrived before others, since `begin`. No position changed by more.
  [[nodiscard]] std::uint64_t moves() const { return moves_; }

  enum class news : std::uint8_t {
    known, ///< the version includes them
    next,
    missed, ///< earlier ones are missing, or the copy is full: begin anew
  };
  /// Goes from version `before` to `after`. If `next`: the changes between them must follow.
  [[nodiscard]] news advance(std::uint64_t before, std::uint64_t after);
  /// A new place before others.
  void arrived(line_spot s);
  /// An entry has got this state.
  void changed(line_spot s, entry_status to);

  /// After a change: it must begin anew, no position is right.
  [[nodiscard]] bool is_full() const { return is_full_; }
  /// Whether a line can have it.
  [[nodiscard]] static bool is_spot(line_spot s) {
    return value_of(s.rank) > 0 && s.priority_class < priority_classes;
  }

  /// What to keep of the owner's position at the present version.
  /// Preconditions: is_spot, not full.
  [[nodiscard]] std::int64_t base_of(line_spot s, std::uint64_t position) const {
    return static_cast<std::int64_t>(position) - shift(s);
  }
  /// The present position; none if the place has left the line.
  [[nodiscard]] std::optional<std::uint64_t> position(line_spot s, std::int64_t base) const;
  [[nodiscard]] bool is_away(line_spot s) const { return away_.contains(s.rank); }

private:
  using by_class = std::array<rank_set, priority_classes>;
  [[nodiscard]] std::int64_t shift(line_spot s) const;
  bool has_room_for(line_spot s);

  std::uint64_t version_ = 0, moves_ = 0;
  by_class arrived_, left_;
  rank_set away_; ///< of all classes: a rank is unique
  std::uint64_t lowest_ = 0, highest_ = 0; ///< ranks in the sets; 0: none
  bool is_full_ = false;
};

} // namespace fq
