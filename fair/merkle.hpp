// SPDX-License-Identifier: Apache-2.0
// The Merkle tree of RFC 6962 section 2.1 with SHA-256: roots, inclusion and consistency proofs. Pure: hashes
// of stored subtrees come from the caller.
#pragma once
#include "crypto/digest.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace fq {

using tree_hash = sha256_digest;

[[nodiscard]] tree_hash leaf_hash(std::string_view entry);
[[nodiscard]] tree_hash node_hash(const tree_hash& left, const tree_hash& right);

/// The hash of the complete subtree over the leaves [index * 2^height, (index + 1) * 2^height).
using subtree_reader = std::function<tree_hash(unsigned height, std::uint64_t index)>;

/// The root over the leaves [begin, end). Precondition: every complete subtree in it can be read.
[[nodiscard]] tree_hash range_root(std::uint64_t begin, std::uint64_t end, const subtree_reader& read);
[[nodiscard]] inline tree_hash root_of(std::uint64_t size, const subtree_reader& read) {
  return range_root(0, size, read);
}

using tree_proof = std::vector<tree_hash>;

/// From the leaf's sibling up. Precondition: index < size.
[[nodiscard]] tree_proof inclusion_proof(std::uint64_t index, std::uint64_t size, const subtree_reader& read);
/// Empty if `old_size` is 0 or `size`. Precondition: old_size <= size.
[[nodiscard]] tree_proof consistency_proof(std::uint64_t old_size, std::uint64_t size,
                                           const subtree_reader& read);

[[nodiscard]] bool is_included(const tree_hash& leaf, std::uint64_t index, std::uint64_t size,
                               const tree_hash& root, std::span<const tree_hash> proof);
/// An empty tree is consistent with every other.
[[nodiscard]] bool is_consistent(std::uint64_t old_size, const tree_hash& old_root, std::uint64_t size,
                                 const tree_hash& root, std::span<const tree_hash> proof);

/// The right edge of a tree that grows: at most 64 hashes, so a root needs no other leaf.
class tree_edge {
public:
  void append(const tree_hash& leaf);
  [[nodiscard]] tree_hash root() const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

private:
  std::vector<tree_hash> complete_; ///< of the subtrees for each set bit of size_, the largest first
  std::uint64_t size_ = 0;
};

} // namespace fq
