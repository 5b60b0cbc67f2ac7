// SPDX-License-Identifier: Apache-2.0
#include "net/pages/seat_text.hpp"

namespace fq::net {

std::string seat_text(language in, const seat_place& place) {
  if (place.seat.empty()) return {};
  const auto key = place.row.empty()       ? "seat_place_table"
                   : place.section.empty() ? "seat_place_row"
                                           : "seat_place";
  const auto where = text(in, key, {{"section", place.section}, {"row", place.row}, {"seat", place.seat}});
  return place.obstructed ? text(in, "seat_place_obstructed", {{"place", where}}) : where;
}

} // namespace fq::net
