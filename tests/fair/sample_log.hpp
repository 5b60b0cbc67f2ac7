// SPDX-License-Identifier: Apache-2.0
// A small log with every kind of record, made by the server's code with fixed keys: the source of
// tests/vectors/fairness.json, and a folder for tools that are not ours.
#pragma once
#include "fair/draw.hpp"
#include "fair/note.hpp"
#include "fair/records.hpp"
#include "fair/tiles.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fq {

/// A log in memory.
class sample_log {
public:
  void append(std::string record);
  [[nodiscard]] std::uint64_t size() const { return records_.size(); }
  [[nodiscard]] const std::vector<std::string>& records() const { return records_; }
  [[nodiscard]] subtree_reader reader() const;
  [[nodiscard]] checkpoint head(const std::string& origin) const;

private:
  std::vector<std::string> records_;
  std::vector<std::vector<tree_hash>> levels_; ///< by height, the complete subtrees
};

struct sample {
  std::string origin;
  note_verifier log, witness;
  sample_log content;
  sha256_digest seed{};
  tree_hash root{};
  std::string beacon;
  std::vector<entrant> entrants;
  std::vector<queue_number> order;
  std::string checkpoint; ///< with a cosignature
  std::string receipt; ///< of the entry with number 7
};

[[nodiscard]] sample make_sample();

/// Path below the log's address -> content: checkpoint, key, tiles and bundles.
[[nodiscard]] std::map<std::string, std::string> files_of(const sample& s);

/// The text of tests/vectors/fairness.json.
[[nodiscard]] std::string vectors();

} // namespace fq
