// SPDX-License-Identifier: Apache-2.0
// Rows of a line's public log (docs/design/fairness.md). Each struct is followed by its description.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/model/description.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace fq {

/// How far a log has come. A checkpoint follows from it, so none is given out that is not stored.
struct log_state_row {
  std::uint32_t number = 0; ///< of the origin: 1; after each accepted loss a higher one
  std::string origin; ///< name of the log and its key, as when it began
  std::uint64_t size = 0; ///< records
  std::vector<char> root; ///< of the tree over them, 32 bytes
  std::uint64_t taken_seq = 0, taken_ordinal = 0; ///< last log_batch_row that is in it
  queue_number last_number{}; ///< of those that joined
  std::string cosignatures = {}; ///< of witnesses, over the checkpoint of this size: lines
  bool is_lost = false; ///< the ledger has gone back, and a person has accepted that
  std::string cosigned =
    {}; ///< of each witness the newest checkpoint that it cosigned (fair/last_cosigned.hpp)
  std::string closing = {}; ///< the first checkpoint over a closing, until the draw (fair/closing.hpp)
  friend bool operator==(const log_state_row&, const log_state_row&) = default;
};
FQ_ROW(log_state_row, "log_state", aggregate, row_field("number", &row::number),
       row_field("origin", &row::origin), row_field("size", &row::size), row_field("root", &row::root),
       row_field("taken_seq", &row::taken_seq), row_field("taken_ordinal", &row::taken_ordinal),
       row_field("last_number", &row::last_number), row_field("cosignatures", &row::cosignatures),
       row_field("is_lost", &row::is_lost), row_field("cosigned", &row::cosigned),
       row_field("closing", &row::closing))

/// The number of a line's first log, or of the log that replaces the one with the `last` number: the minutes
/// since 1970, because a ledger that went back may not know the numbers that it has given since.
constexpr std::uint32_t next_log_number(std::uint32_t last, timestamp now) {
  if (last == 0) return 1;
  const auto minutes = unix_ms(now) / 60'000;
  return std::max(last + 1, minutes < 0 ? 0u : static_cast<std::uint32_t>(minutes));
}

/// What the decisions of a batch have noted (fair/noted.hpp), until it is in the log.
struct log_batch_row {
  std::vector<char> content;
  friend bool operator==(const log_batch_row&, const log_batch_row&) = default;
};
FQ_ROW(log_batch_row, "log_batch", batch, row_field("content", &row::content, once))

/// The level of bundles.
inline constexpr std::uint32_t bundle_level = 255;

/// A tile of hashes or a bundle of records; one that is not full is replaced by a longer one.
struct log_tile_row {
  std::uint32_t number = 0; ///< of the origin
  std::uint32_t level = 0;
  std::uint64_t position = 0;
  queue_number last_number{}; ///< bundles: the last that joined, up to their end
  std::vector<char> content;
  friend bool operator==(const log_tile_row&, const log_tile_row&) = default;
};
FQ_ROW(log_tile_row, "log_tile", aggregate, row_field("number", &row::number, key),
       row_field("level", &row::level, key), row_field("position", &row::position, key),
       row_field("last_number", &row::last_number), row_field("content", &row::content))

} // namespace fq
