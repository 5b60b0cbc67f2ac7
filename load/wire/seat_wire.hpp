// SPDX-License-Identifier: Apache-2.0
// The seats of an event as its public API shows them: the plan, the map and its changes. Pure.
#pragma once

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::load {

struct hall_seat {
  std::string name;
  std::size_t row = 0; // over all sections
  std::size_t type = 0; // index in the plan's ticket_types
};

// From GET /events/{id}/seat-plan; nothing if it is none.
std::optional<std::vector<hall_seat>> read_hall(const boost::json::value& plan);

struct seat_states {
  std::uint64_t version = 0;
  std::string states; // by number: '0' free, '1' held, '2' sold, '3' blocked
  std::vector<std::string> type_ids; // of each ticket type of the plan
  std::vector<std::size_t> changed; // numbers of the seats that the last answer changed
};

// Applies an answer of GET /events/{id}/seats or a frame with changes. An earlier answer changes nothing.
// False: it is no map and no changes, or the changes begin later.
bool apply_seats(const boost::json::value& answer, seat_states& known);

} // namespace fq::load
