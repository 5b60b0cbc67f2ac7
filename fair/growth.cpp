// SPDX-License-Identifier: Apache-2.0
#include "fair/growth.hpp"

#include "fair/bytes.hpp"

#include <algorithm>
#include <utility>

namespace fq {
namespace {

constexpr std::size_t full_tile = tile_width * sizeof(tree_hash);

tree_hash root_of_tile(const std::string& hashes) {
  tree_edge edge;
  for (std::size_t at = 0; at < hashes.size(); at += sizeof(tree_hash)) {
    tree_hash hash;
    std::copy_n(hashes.begin() + static_cast<std::ptrdiff_t>(at), sizeof hash, hash.begin());
    edge.append(hash);
  }
  return edge.root();
}

} // namespace

log_growth::log_growth(std::uint64_t size, queue_number last_number, std::vector<log_part> edge) :
    size_(size), last_number_(last_number), told_(size) {
  for (auto& part : edge) {
    if (part.is_bundle) {
      bundle_ = std::move(part.content);
      continue;
    }
    if (levels_.size() <= part.level) levels_.resize(part.level + 1);
    levels_[part.level] = std::move(part.content);
  }
}

bool log_growth::has_edge() const {
  if (bundle_.empty() != (size_ % tile_width == 0)) return false;
  auto hashes = size_;
  for (unsigned level = 0; hashes > 0; ++level, hashes /= tile_width) {
    const auto stored = level < levels_.size() ? levels_[level].size() : 0;
    if (stored != hashes % tile_width * sizeof(tree_hash)) return false;
  }
  return true;
}

void log_growth::append(std::string_view record, queue_number joined) {
  if (bundle_.empty()) bundle_.reserve(tile_width * (record.size() + 2));
  append_entry(bundle_, record);
  if (value_of(joined) != 0) last_number_ = joined;
  if ((size_ + 1) % tile_width == 0)
    full_.push_back({true, 0, size_ / tile_width, std::exchange(bundle_, {}), last_number_});
  push(0, leaf_hash(record));
  ++size_;
}

/// Before the record that it comes from is counted.
void log_growth::push(unsigned level, const tree_hash& hash) {
  if (levels_.size() <= level) levels_.resize(level + 1);
  append_bytes(levels_[level], hash);
  if (levels_[level].size() < full_tile) return;
  const auto root = root_of_tile(levels_[level]);
  full_.push_back({false, level, position(level), std::exchange(levels_[level], {}), {}});
  push(level + 1, root);
}

tree_hash log_growth::root() const {
  return root_of(size_, subtrees_of(size_, [this](const tile& t) { return levels_.at(t.level); }));
}

std::vector<log_part> log_growth::take() {
  auto parts = std::exchange(full_, {});
  if (size_ == told_) return parts;
  if (!bundle_.empty()) parts.push_back({true, 0, position(0), bundle_, last_number_});
  for (unsigned level = 0; level < levels_.size(); ++level) {
    const bool has_news = size_ >> tile_height * level != told_ >> tile_height * level;
    if (has_news && !levels_[level].empty())
      parts.push_back({false, level, position(level), levels_[level], {}});
  }
  told_ = size_;
  return parts;
}

} // namespace fq
