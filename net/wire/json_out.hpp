// SPDX-License-Identifier: Apache-2.0
// Values that all codecs by Boost.JSON write the same way. Absent is null.
#pragma once
#include "domain/seats/seat_place.hpp"
#include "net/http/json_text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <string_view>

namespace fq::net {

inline boost::json::value text_or_null(std::string_view text) {
  return text.empty() ? boost::json::value{} : boost::json::value(text);
}
inline boost::json::value time_or_null(timestamp t) {
  return is_set(t) ? boost::json::value(rfc3339(t)) : boost::json::value{};
}
inline boost::json::value id_or_null(const uuid& id) {
  return id.is_nil() ? boost::json::value{} : boost::json::value(to_string(id));
}

inline boost::json::object place_object(const seat_place& p) {
  boost::json::object out{
    {"section", text_or_null(p.section)}, {"row", text_or_null(p.row)}, {"seat", p.seat}};
  if (p.obstructed) out["obstructed"] = true;
  return out;
}
/// `seat`: name; empty: nothing is added.
inline void add_seat(boost::json::object& out, const std::string& seat, const seat_place& place) {
  if (seat.empty()) return;
  out["seat"] = seat;
  out["seat_place"] = place_object(place);
}

} // namespace fq::net
