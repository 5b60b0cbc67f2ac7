// SPDX-License-Identifier: Apache-2.0
#include "net/pages/seat_text.hpp"

namespace fq::net {

std::string seat_text(language in, const seat_place& place) {
  if (place.seat.empty()) return {};
  const auto key = place.row.empty()       ? "seat_place_table"
                   : place.section.empty() ? "seat_place_row"
                                           : "seat_place";
  return text(in, key, {{"section", place.section}, {"row", place.row}, {"seat", place.seat}});
}

} // namespace fq::net
