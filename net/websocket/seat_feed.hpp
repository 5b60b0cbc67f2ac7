// SPDX-License-Identifier: Apache-2.0
// What sockets hear of the seat map of their event. The hub asks the owner for the changes since the version
// that it knows, once for all sockets of an io thread, and no socket has two such frames waiting. Pure.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fq::net {

/// The seat map of an event at the hub.
struct seat_feed {
  std::uint64_t version = 0; ///< seen last; 0: none
  std::size_t sockets = 0; ///< that asked for the map
  milliseconds ask_at{0}; ///< steady time of the next question
  bool is_asking = false;
};

/// An answer of the owner.
struct seat_answer {
  std::uint64_t from = 0; ///< it has the changes since this version; 0: the whole map
  std::uint64_t version = 0;
  std::size_t bytes = 0; ///< of the frame with the changes
};

enum class seat_news : std::uint8_t {
  none, ///< the socket's map is this one
  changes,
  reload, ///< the client reads the changes since its own version over HTTP
};

/// `has`: the version of the socket's map, as its client or our last frame said.
[[nodiscard]] seat_news news_for(std::uint64_t has, const seat_answer& got);

/// Time between two questions. `sockets`: of the event on this io thread that asked for the map; the other
/// threads are assumed to have as many.
[[nodiscard]] milliseconds seats_refresh_of(std::size_t sockets, std::int64_t io_threads);

/// {"type":"seats","from":5,"version":7,"held":"4"}. `changes`: text of append_seat_changes.
[[nodiscard]] std::string seats_frame(std::string_view changes);
/// {"type":"seats","version":7,"reload":true}.
[[nodiscard]] std::string seats_reload_frame(std::uint64_t version);

} // namespace fq::net
