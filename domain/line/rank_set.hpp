// SPDX-License-Identifier: Apache-2.0
// A set of ranks of a line. Insert, erase, place and first are O(log n). One bit per rank from about the
// lowest member on: a million ranks cost 130 kB.
#pragma once
#include "domain/line/ranks.hpp"

#include <array>
#include <bit>
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

class rank_set {
public:
  /// Precondition: not in the set.
  void insert(line_rank r);
  /// As insert, for many: only count_marks() may follow.
  void mark(line_rank r);
  void count_marks();
  /// Precondition: in the set.
  void erase(line_rank r);
  [[nodiscard]] bool contains(line_rank r) const;
  /// 1 + number of lower ranks in the set. `r` need not be in it.
  [[nodiscard]] std::uint64_t place(line_rank r) const;
  [[nodiscard]] std::optional<line_rank> first() const;
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Calls `take(rank)` for each member, ascending.
  template <class Take>
  void each(Take take) const {
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      for (std::size_t w = 0; w < words; ++w)
        for (auto word = blocks_[i][w]; word != 0; word &= word - 1) take(rank_at(i, w, word));
  }

private:
  static constexpr std::size_t words = 8;
  using block = std::array<std::uint64_t, words>; ///< 512 ranks
  /// Of the lowest bit of a word.
  [[nodiscard]] line_rank rank_at(std::size_t block, std::size_t w, std::uint64_t word) const {
    return line_rank{((first_block_ + block) * words + w) * 64
                     + static_cast<std::size_t>(std::countr_zero(word)) + 1};
  }
  void start_at(std::size_t block);

  std::size_t first_block_ = 0; ///< of all blocks since rank 1
  std::vector<block> blocks_;
  prefix_counts counts_; ///< members by block
  std::uint64_t size_ = 0;
};

} // namespace fq
