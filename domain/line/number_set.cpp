// SPDX-License-Identifier: Apache-2.0
// Bitmaps in blocks of 512 numbers, with prefix sums over the blocks.
#include "domain/line/number_set.hpp"

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

void number_set::insert(queue_number n) {
  const auto p = place_of(n);
  for (; blocks_.size() <= p.block; counts_.append()) blocks_.emplace_back();
  blocks_[p.block][p.word] |= p.bit;
  counts_.add(p.block, 1);
  ++size_;
}

void number_set::erase(queue_number n) {
  const auto p = place_of(n);
  blocks_[p.block][p.word] &= ~p.bit;
  counts_.add(p.block, -1);
  --size_;
}

std::uint64_t number_set::rank(queue_number n) const {
  const auto p = place_of(n);
  if (p.block >= blocks_.size()) return size_ + 1;
  const auto& b = blocks_[p.block];
  auto lower = counts_.before(p.block);
  for (std::size_t w = 0; w < p.word; ++w) lower += static_cast<std::uint64_t>(std::popcount(b[w]));
  return lower + static_cast<std::uint64_t>(std::popcount(b[p.word] & (p.bit - 1))) + 1;
}

std::optional<queue_number> number_set::first() const {
  const auto i = counts_.first_nonzero();
  if (i >= blocks_.size()) return std::nullopt;
  for (std::size_t w = 0; w < words; ++w)
    if (const auto word = blocks_[i][w])
      return queue_number{i * words * 64 + w * 64 + static_cast<std::size_t>(std::countr_zero(word)) + 1};
  return std::nullopt;
}

} // namespace fq
