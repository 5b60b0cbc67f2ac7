// SPDX-License-Identifier: Apache-2.0
// How likely a place in line gets a ticket, from what the sale has seen so far. Pure: an io thread computes
// it from one set of facts of the line and the position. Method and calibration: docs/design/odds.md.
#pragma once
#include <cstdint>
#include <string_view>

namespace fq {

/// What has been seen of a sale. Units are tickets of public types.
struct sale_evidence {
  bool sells = false; ///< false: a standalone queue, which has no odds
  bool waiting_list = false;
  std::uint64_t free = 0, held = 0; ///< units
  std::uint64_t claims = 0; ///< that hold the held units
  std::uint64_t most = 1; ///< units that one person may buy at once
  std::uint64_t choosing = 0; ///< people admitted, without a live claim
  // of the first people admitted, up to one whose session is not over
  std::uint64_t decided = 0;
  std::uint64_t claimed = 0; ///< held units at some time
  std::uint64_t buyers = 0, bought = 0, squares = 0; ///< units that they bought, sum of their squares
  std::uint64_t joined = 0, waiting = 0; ///< people ever in line, and now
  std::uint64_t admitted = 0, left = 0; ///< people who left the line by an admission, or without one
  friend bool operator==(const sale_evidence&, const sale_evidence&) = default;
};

/// The chance that a ticket is left when the place's turn comes.
enum class likelihood : std::uint8_t {
  unknown, ///< too little was seen, or what comes is stock that others give back
  very_unlikely, ///< below 5 %
  unlikely, ///< 5 to 20 %
  less_likely, ///< 20 to 40 %
  even, ///< 40 to 60 %
  likely, ///< 60 to 80 %
  very_likely, ///< 80 to 95 %
  almost_certain, ///< from 95 %
};
struct percent_range {
  std::uint32_t low = 0, high = 0;
  friend bool operator==(const percent_range&, const percent_range&) = default;
};
[[nodiscard]] percent_range range_of(likelihood chance);
[[nodiscard]] std::string_view name_of(likelihood chance);

struct outlook {
  bool is_known = false; ///< false: the place has none, and the rest means nothing
  bool waiting_list = false;
  bool has_share = false; ///< whether enough was seen for `share` and what follows from it
  likelihood chance = likelihood::unknown;
  percent_range share; ///< of the people admitted who buy; 95 % confidence
  std::uint64_t free = 0, held = 0; ///< units
  std::uint64_t ahead = 0; ///< people before this place
  std::uint64_t buyers = 0, wanted = 0; ///< of those ahead: expected buyers, and units that they buy
  friend bool operator==(const outlook&, const outlook&) = default;
};

/// Of a place in line; `position` counts from 1.
[[nodiscard]] outlook outlook_of(const sale_evidence& seen, std::uint64_t position);

} // namespace fq
