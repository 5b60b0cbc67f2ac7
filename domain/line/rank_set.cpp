// SPDX-License-Identifier: Apache-2.0
// Bitmaps in blocks of 512 ranks, with prefix sums over the blocks.
#include "domain/line/rank_set.hpp"

#include "domain/line/limits.hpp"

#include <algorithm>
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
struct bit_place {
  std::size_t block, word;
  std::uint64_t bit;
};
constexpr bit_place place_of(line_rank r) {
  const auto index = value_of(r) - 1;
  return {index / 512, index % 512 / 64, std::uint64_t{1} << (index % 64)};
}
} // namespace

/// Makes `block` the first one. Precondition: no member is in an earlier one.
void rank_set::start_at(std::size_t block) {
  if (block < first_block_)
    blocks_.insert(blocks_.begin(), first_block_ - block, {});
  else
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(block - first_block_));
  first_block_ = block;
  counts_ = {};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    counts_.append();
    std::int32_t members = 0;
    for (const auto word : blocks_[i]) members += std::popcount(word);
    counts_.add(i, members);
  }
}

void rank_set::insert(line_rank r) {
  const auto p = place_of(r);
  if (size_ == 0) {
    first_block_ = p.block;
    blocks_.clear();
    counts_ = {};
  }
  if (p.block < first_block_) start_at(p.block);
  const auto index = p.block - first_block_;
  for (; blocks_.size() <= index; counts_.append()) blocks_.emplace_back();
  blocks_[index][p.word] |= p.bit;
  counts_.add(index, 1);
  ++size_;
}

void rank_set::mark(line_rank r) {
  const auto p = place_of(r);
  if (blocks_.size() <= p.block) blocks_.resize(std::max(p.block + 1, 2 * blocks_.size()));
  blocks_[p.block][p.word] |= p.bit;
  ++size_;
}

void rank_set::count_marks() {
  if (size_ == 0) return;
  const auto is_used = [](const block& b) { return b != block{}; };
  while (!is_used(blocks_.back())) blocks_.pop_back();
  start_at(static_cast<std::size_t>(std::ranges::find_if(blocks_, is_used) - blocks_.begin()));
}

void rank_set::erase(line_rank r) {
  const auto p = place_of(r);
  const auto index = p.block - first_block_;
  blocks_[index][p.word] &= ~p.bit;
  counts_.add(index, -1);
  --size_;
  // Once most blocks are free in front: their removal costs less than filling them did.
  if (blocks_.size() < free_blocks_min || blocks_[index] != block{}) return;
  const auto used = counts_.first_nonzero();
  if (used > blocks_.size() / 2) start_at(first_block_ + std::min(used, blocks_.size() - 1));
}

bool rank_set::contains(line_rank r) const {
  const auto p = place_of(r);
  const auto index = p.block - first_block_; // huge for a lower one
  return index < blocks_.size() && (blocks_[index][p.word] & p.bit) != 0;
}

std::uint64_t rank_set::place(line_rank r) const {
  const auto p = place_of(r);
  if (p.block < first_block_) return 1;
  const auto index = p.block - first_block_;
  if (index >= blocks_.size()) return size_ + 1;
  const auto& b = blocks_[index];
  auto lower = counts_.before(index);
  for (std::size_t w = 0; w < p.word; ++w) lower += static_cast<std::uint64_t>(std::popcount(b[w]));
  return lower + static_cast<std::uint64_t>(std::popcount(b[p.word] & (p.bit - 1))) + 1;
}

std::optional<line_rank> rank_set::first() const {
  const auto i = counts_.first_nonzero();
  if (i >= blocks_.size()) return std::nullopt;
  for (std::size_t w = 0; w < words; ++w)
    if (const auto word = blocks_[i][w]) return rank_at(i, w, word);
  return std::nullopt;
}

} // namespace fq
