// SPDX-License-Identifier: Apache-2.0
// A set of queue numbers with ranks. Insert, erase, rank and first are O(log n). One bit per number from
// about the lowest member on: a million numbers cost 130 kB.
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

class number_set {
public:
  /// Precondition: not in the set.
  void insert(queue_number n);
  /// Precondition: in the set.
  void erase(queue_number n);
  /// 1 + number of lower numbers in the set. `n` need not be in it.
  [[nodiscard]] std::uint64_t rank(queue_number n) const;
  [[nodiscard]] std::optional<queue_number> first() const;
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

private:
  static constexpr std::size_t words = 8;
  using block = std::array<std::uint64_t, words>; ///< 512 numbers
  void start_at(std::size_t block);

  std::size_t first_block_ = 0; ///< of all blocks since number 1
  std::vector<block> blocks_;
  prefix_counts counts_; ///< members by block
  std::uint64_t size_ = 0;
};

} // namespace fq
