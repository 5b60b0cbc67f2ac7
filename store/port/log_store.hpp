// SPDX-License-Identifier: Apache-2.0
// The public logs of lines, as reads need them. Owners write them with their batches (log_noted, log_kept).
#pragma once
#include "domain/model/log_rows.hpp"

#include <compare>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace fq {

/// Place of a noted row: its batch, and its position in it.
struct log_place {
  std::uint64_t seq = 0, ordinal = 0;
  friend auto operator<=>(const log_place&, const log_place&) = default;
};

struct log_tile_key {
  std::uint32_t level = 0;
  std::uint64_t position = 0;
  friend auto operator<=>(const log_tile_key&, const log_tile_key&) = default;
};

struct noted_rows {
  log_place place;
  log_batch_row row;
  friend bool operator==(const noted_rows&, const noted_rows&) = default;
};

/// What is read of an aggregate's logs, at one moment. The state always.
struct log_wish {
  std::uint32_t number = 0; ///< of the origin; 0: the newest
  std::size_t noted = 0; ///< at most so many rows that are not in the log yet, the first ones
  bool edge = false; ///< the tiles and the bundle that are not full
  std::vector<log_tile_key> tiles = {};
  queue_number joined{}; ///< the bundle with this number's join; 0: none
};

struct log_rows {
  std::optional<log_state_row> state; ///< empty: there is no log
  std::vector<noted_rows> noted;
  std::vector<log_tile_row> tiles; ///< those that there are, in the order asked for: edge, tiles, joined
  friend bool operator==(const log_rows&, const log_rows&) = default;
};

/// The tiles and the bundle at the right edge of a log with `size` records that are not full.
[[nodiscard]] std::vector<log_tile_key> log_edge(std::uint64_t size);
/// The keys of a wish's edge and tiles.
[[nodiscard]] std::vector<log_tile_key> keys_of(const log_wish& wish, const log_state_row& state);

class log_store {
public:
  virtual ~log_store() = default;
  virtual log_rows read_log(aggregate_id aggregate, const log_wish& wish) = 0;
};

} // namespace fq
