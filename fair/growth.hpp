// SPDX-License-Identifier: Apache-2.0
// A log that grows: from its right edge and new records come the tiles and bundles that change, and the root.
#pragma once
#include "domain/base/ids.hpp"
#include "fair/tiles.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// A tile of hashes, or a bundle of records over a tile of level 0.
struct log_part {
  bool is_bundle = false;
  unsigned level = 0; ///< 0 for a bundle
  std::uint64_t position = 0;
  std::string content;
  queue_number last_number{}; ///< bundles: the last that joined, up to their end
};

class log_growth {
public:
  log_growth() = default;
  /// `edge`: the parts of a log of this size that are not full.
  log_growth(std::uint64_t size, queue_number last_number, std::vector<log_part> edge);

  /// False if parts of the edge are missing, as in a log that was pruned: it cannot grow.
  [[nodiscard]] bool has_edge() const;
  /// `joined`: the number, if it is the record of a join.
  void append(std::string_view record, queue_number joined = {});
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] queue_number last_number() const { return last_number_; }
  [[nodiscard]] tree_hash root() const;
  /// What has changed since the beginning or the last call; each part once.
  [[nodiscard]] std::vector<log_part> take();

private:
  void push(unsigned level, const tree_hash& hash);
  [[nodiscard]] std::uint64_t position(unsigned level) const { return size_ >> tile_height * (level + 1); }

  std::uint64_t size_ = 0;
  queue_number last_number_{};
  std::string bundle_;
  std::vector<std::string> levels_; ///< of each level the hashes of the tile that is not full
  std::vector<log_part> full_;
  std::uint64_t told_ = 0; ///< size at the last take()
};

} // namespace fq
