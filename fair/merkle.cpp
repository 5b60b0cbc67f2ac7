// SPDX-License-Identifier: Apache-2.0
#include "fair/merkle.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace fq {
namespace {

std::string_view view_of(std::span<const char> bytes) { return {bytes.data(), bytes.size()}; }

/// The largest power of two below n. Precondition: n > 1.
constexpr std::uint64_t split_of(std::uint64_t n) { return std::bit_floor(n - 1); }

/// The part of PROOF and SUBPROOF of RFC 6962 sections 2.1.1 and 2.1.2 below the range [begin, end).
/// `is_known`: the verifier has the root over this range's part of the old tree.
void append_consistency(tree_proof& proof, std::uint64_t old_end, std::uint64_t begin, std::uint64_t end,
                        bool is_known, const subtree_reader& read) {
  if (old_end == end) {
    if (!is_known) proof.push_back(range_root(begin, end, read));
    return;
  }
  const auto middle = begin + split_of(end - begin);
  if (old_end <= middle) {
    append_consistency(proof, old_end, begin, middle, is_known, read);
    proof.push_back(range_root(middle, end, read));
  } else {
    append_consistency(proof, old_end, middle, end, false, read);
    proof.push_back(range_root(begin, middle, read));
  }
}

void append_inclusion(tree_proof& proof, std::uint64_t index, std::uint64_t begin, std::uint64_t end,
                      const subtree_reader& read) {
  if (end - begin == 1) return;
  const auto middle = begin + split_of(end - begin);
  if (index < middle) {
    append_inclusion(proof, index, begin, middle, read);
    proof.push_back(range_root(middle, end, read));
  } else {
    append_inclusion(proof, index, middle, end, read);
    proof.push_back(range_root(begin, middle, read));
  }
}

} // namespace

tree_hash leaf_hash(std::string_view entry) { return sha256({"\0", 1}, entry); }

tree_hash node_hash(const tree_hash& left, const tree_hash& right) {
  std::array<char, 1 + 2 * sizeof(tree_hash)> bytes;
  bytes[0] = 1;
  std::memcpy(bytes.data() + 1, left.data(), left.size());
  std::memcpy(bytes.data() + 1 + left.size(), right.data(), right.size());
  return sha256(view_of(bytes));
}

tree_hash range_root(std::uint64_t begin, std::uint64_t end, const subtree_reader& read) {
  const auto n = end - begin;
  if (n == 0) return sha256("");
  if (std::has_single_bit(n)) return read(static_cast<unsigned>(std::countr_zero(n)), begin / n);
  const auto middle = begin + split_of(n);
  return node_hash(range_root(begin, middle, read), range_root(middle, end, read));
}

tree_proof inclusion_proof(std::uint64_t index, std::uint64_t size, const subtree_reader& read) {
  tree_proof proof;
  append_inclusion(proof, index, 0, size, read);
  return proof;
}

tree_proof consistency_proof(std::uint64_t old_size, std::uint64_t size, const subtree_reader& read) {
  tree_proof proof;
  if (old_size > 0) append_consistency(proof, old_size, 0, size, true, read);
  return proof;
}

// RFC 9162 section 2.1.3.2.
bool is_included(const tree_hash& leaf, std::uint64_t index, std::uint64_t size, const tree_hash& root,
                 std::span<const tree_hash> proof) {
  if (index >= size) return false;
  auto first = index, last = size - 1;
  auto found = leaf;
  for (const auto& hash : proof) {
    if (last == 0) return false;
    if ((first & 1) != 0 || first == last) {
      found = node_hash(hash, found);
      while ((first & 1) == 0 && first != 0) {
        first >>= 1;
        last >>= 1;
      }
    } else {
      found = node_hash(found, hash);
    }
    first >>= 1;
    last >>= 1;
  }
  return last == 0 && found == root;
}

// RFC 9162 section 2.1.4.2.
bool is_consistent(std::uint64_t old_size, const tree_hash& old_root, std::uint64_t size,
                   const tree_hash& root, std::span<const tree_hash> proof) {
  if (old_size > size) return false;
  if (old_size == 0) return proof.empty() && old_root == sha256("");
  if (old_size == size) return proof.empty() && old_root == root;
  auto first = old_size - 1, last = size - 1;
  for (; (first & 1) != 0; first >>= 1) last >>= 1;
  const bool starts_with_old = first == 0; // the old tree is a complete subtree, which the proof leaves out
  if (!starts_with_old && proof.empty()) return false;
  auto before = starts_with_old ? old_root : proof.front();
  auto after = before;
  for (const auto& hash : proof.subspan(starts_with_old ? 0 : 1)) {
    if (last == 0) return false;
    if ((first & 1) != 0 || first == last) {
      before = node_hash(hash, before);
      after = node_hash(hash, after);
      while ((first & 1) == 0 && first != 0) {
        first >>= 1;
        last >>= 1;
      }
    } else {
      after = node_hash(after, hash);
    }
    first >>= 1;
    last >>= 1;
  }
  return last == 0 && before == old_root && after == root;
}

void tree_edge::append(const tree_hash& leaf) {
  auto hash = leaf;
  for (auto n = size_; (n & 1) != 0; n >>= 1) {
    hash = node_hash(complete_.back(), hash);
    complete_.pop_back();
  }
  complete_.push_back(hash);
  ++size_;
}

tree_hash tree_edge::root() const {
  if (complete_.empty()) return sha256("");
  auto root = complete_.back();
  for (auto i = complete_.size() - 1; i-- > 0;) root = node_hash(complete_[i], root);
  return root;
}

} // namespace fq
