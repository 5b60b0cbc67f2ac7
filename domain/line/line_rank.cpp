// SPDX-License-Identifier: Apache-2.0
// Bitmaps in blocks of 512 numbers, with prefix sums over the blocks.
#include "domain/line/line_rank.hpp"

#include <bit>

namespace fq {

void prefix_counts::append() {
  const auto node = tree_.size() + 1;
  // A new node covers the `node & -node` counts that end at it. All but the last (0) are already summed in
  // earlier nodes.
  const auto from = node - (node & (~node + 1));
  tree_.push_back(static_cast<std::int32_t>(before(node - 1) - before(from)));
}

void prefix_counts::add(std::size_t index, std::int32_t delta) {
  for (auto node = index + 1; node <= tree_.size(); node += node & (~node + 1)) tree_[node - 1] += delta;
}

std::uint64_t prefix_counts::before(std::size_t index) const {
  std::uint64_t sum = 0;
  for (auto node = index; node > 0; node &= node - 1) sum += static_cast<std::uint64_t>(tree_[node - 1]);
  return sum;
}

std::size_t prefix_counts::first_nonzero() const {
  std::size_t skipped = 0;
  for (auto step = std::bit_floor(tree_.size()); step > 0; step >>= 1)
    if (skipped + step <= tree_.size() && tree_[skipped + step - 1] == 0) skipped += step;
  return skipped;
}

namespace {
struct place {
  std::size_t block, word;
  std::uint64_t bit;
};
constexpr place place_of(queue_number n) {
  const auto index = value_of(n) - 1;
  return {index / 512, index % 512 / 64, std::uint64_t{1} << (index % 64)};
}
} // namespace

void line_rank::grow_to(std::size_t block_index) {
  while (blocks_.size() <= block_index) {
    blocks_.emplace_back();
    in_line_.append();
    present_.append();
  }
}

void line_rank::append(queue_number n) {
  const auto p = place_of(n);
  grow_to(p.block);
  blocks_[p.block].in_line[p.word] |= p.bit;
  blocks_[p.block].present[p.word] |= p.bit;
  in_line_.add(p.block, 1);
  present_.add(p.block, 1);
  ++size_;
}

void line_rank::remove(queue_number n) {
  const auto p = place_of(n);
  auto& b = blocks_[p.block];
  if ((b.present[p.word] & p.bit) != 0) present_.add(p.block, -1);
  b.in_line[p.word] &= ~p.bit;
  b.present[p.word] &= ~p.bit;
  in_line_.add(p.block, -1);
  --size_;
}

void line_rank::set_away(queue_number n, bool away) {
  const auto p = place_of(n);
  auto& word = blocks_[p.block].present[p.word];
  if (((word & p.bit) == 0) == away) return;
  word ^= p.bit;
  present_.add(p.block, away ? -1 : 1);
}

std::uint64_t line_rank::rank(queue_number n) const {
  const auto p = place_of(n);
  const auto& b = blocks_[p.block];
  auto before = in_line_.before(p.block);
  for (std::size_t w = 0; w < p.word; ++w) before += static_cast<std::uint64_t>(std::popcount(b.in_line[w]));
  return before + static_cast<std::uint64_t>(std::popcount(b.in_line[p.word] & (p.bit - 1))) + 1;
}

std::optional<queue_number> line_rank::lowest(const prefix_counts& counts, bitmap block::*bits) const {
  const auto i = counts.first_nonzero();
  if (i >= blocks_.size()) return std::nullopt;
  for (std::size_t w = 0; w < words; ++w)
    if (const auto word = (blocks_[i].*bits)[w])
      return queue_number{i * block_bits + w * 64 + static_cast<std::size_t>(std::countr_zero(word)) + 1};
  return std::nullopt;
}

std::optional<queue_number> line_rank::first() const { return lowest(present_, &block::present); }

std::optional<queue_number> line_rank::first_in_line() const { return lowest(in_line_, &block::in_line); }

} // namespace fq
