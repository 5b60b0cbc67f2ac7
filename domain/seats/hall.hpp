// SPDX-License-Identifier: Apache-2.0
// Makes the draft of a simple hall: sections behind each other, rows straight or curved, aisles.
#pragma once
#include "domain/seats/plan.hpp"

namespace fq {

struct hall_section {
  std::string code = {}, name = {}, ticket_type = {};
  std::uint32_t rows = 1; ///< at most hall_rows_max
  std::uint32_t seats = 1; ///< of its first row; at most hall_row_seats_max
  std::uint32_t widening = 0; ///< more seats in each following row
  std::uint32_t accessible = 0; ///< seats for wheelchairs in its last row, each with a companion's beside
};

/// Lengths in centimetres.
struct hall {
  std::string name;
  std::vector<hall_section> sections; ///< from the front to the back
  std::uint32_t aisles = 0; ///< through each row, evenly spread
  bool has_lettered_rows = false; ///< A to Z, AA, ...; else 1, 2, ...
  std::int32_t radius = 0; ///< of the first row; 0: straight rows
  std::int32_t stage_distance = 500; ///< of the first row
  std::int32_t seat_width = 55, row_depth = 90, aisle_width = 120, section_gap = 200;
};

/// Rows and seats beyond the limits are left out; lengths beyond a plan's extent are cut.
[[nodiscard]] plan_draft draft_of(const hall& hall);

/// 0: "A", 25: "Z", 26: "AA".
[[nodiscard]] std::string letters_of(std::uint32_t index);

} // namespace fq
