// SPDX-License-Identifier: Apache-2.0
// Where a seat is, in words for people. Its name ("P-A-3") is for programs.
#pragma once
#include <string>

namespace fq {

struct seat_place {
  std::string section = {}; ///< its name, else its code; may be empty
  std::string row = {}; ///< label; empty: a table
  std::string seat = {}; ///< label; empty: no seat
  bool obstructed = false; ///< restricted view
  friend bool operator==(const seat_place&, const seat_place&) = default;
};

} // namespace fq
