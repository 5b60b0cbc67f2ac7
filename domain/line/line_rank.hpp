// SPDX-License-Identifier: Apache-2.0
// The order of one priority class by queue number. Append, leave, rank and first are O(log n). Two bits per
// number: a million waiting entries cost 250 kB.
#pragma once
#include "domain/base/ids.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace fq {

/// Prefix sums over a growing list of small counts (P. Fenwick, 1994).
class prefix_counts {
public:
  void append();
  void add(std::size_t index, std::int32_t delta);
  /// Sum of the counts before `index`.
  [[nodiscard]] std::uint64_t before(std::size_t index) const;
  /// Index of the first count that is not 0; size() if there is none.
  [[nodiscard]] std::size_t first_nonzero() const;
  [[nodiscard]] std::size_t size() const { return tree_.size(); }

private:
  std::vector<std::int32_t> tree_; ///< tree_[i - 1] is node i
};

class line_rank {
public:
  /// Appends `n` at the end. Precondition: greater than every number appended before.
  void append(queue_number n);
  /// Removes `n` permanently. Precondition: in line.
  void remove(queue_number n);
  /// AWAY entries keep their place and count in other positions, but `first` skips them. Precondition: in
  /// line.
  void set_away(queue_number n, bool away);
  /// 1 + number of entries in line with a lower queue number. Precondition: in line.
  [[nodiscard]] std::uint64_t rank(queue_number n) const;
  /// The lowest number in line that is not AWAY.
  [[nodiscard]] std::optional<queue_number> first() const;
  /// The lowest number in line, AWAY included.
  [[nodiscard]] std::optional<queue_number> first_in_line() const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

private:
  static constexpr std::size_t words = 8;
  static constexpr std::size_t block_bits = words * 64;
  using bitmap = std::array<std::uint64_t, words>;
  struct block {
    bitmap in_line{};
    bitmap present{}; ///< in line and not AWAY
  };
  [[nodiscard]] std::optional<queue_number> lowest(const prefix_counts& counts, bitmap block::*bits) const;
  void grow_to(std::size_t block_index);

  std::vector<block> blocks_;
  prefix_counts in_line_;
  prefix_counts present_;
  std::uint64_t size_ = 0;
};

} // namespace fq
