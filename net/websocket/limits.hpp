// SPDX-License-Identifier: Apache-2.0
// Limits of WebSockets: of one socket, of one event's sockets, and of one io thread's.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq::net {

/// Bytes of a client's message, over all its frames: clients send a word or two.
inline constexpr std::size_t ws_message_max = 8192;
/// RFC 6455, 5.5: bytes of a control frame.
inline constexpr std::size_t control_payload_max = 125;
/// Bytes that wait for a slow client; at the limit its socket is closed, and the client reads the state
/// again.
inline constexpr std::size_t pending_bytes_max = 64 * 1024;
/// Same in frames, so that many small ones close it too.
inline constexpr std::uint8_t pending_frames_max = 64;
/// Messages a second from one client, which needs about one in 15 s.
inline constexpr std::uint8_t inbound_per_second_max = 20;
/// Bytes a second from one client, in frames of any kind and also while its socket closes.
inline constexpr std::uint32_t inbound_bytes_per_second_max = 64 * 1024;

/// Tabs and devices of one entry; more get 1013.
inline constexpr std::size_t sockets_per_entry_max = 64;
/// Per event, after its owner was replaced: its sockets must not flood the new one.
inline constexpr std::size_t snapshots_in_flight_max = 256;

/// Max rate of small position updates over all sockets; each socket still gets one within 15 s. 10,000
/// waiters see each admission within 1 s, and 100,000 cost no more than that.
inline constexpr std::int64_t small_moves_a_second = 10'000;
/// Interval of small position updates of one socket, by that rate.
inline constexpr milliseconds refresh_min{1'000}, refresh_max{15'000};
/// Frames about seats a second over all sockets of a node. 2,000 shoppers hear of each change four times a
/// second; more hear less often, and all within a second.
inline constexpr std::int64_t seat_frames_a_second = 10'000;
/// A tick of the hub is 250 ms.
inline constexpr milliseconds seats_refresh_min{200}, seats_refresh_max{900};
/// Until the next question to an owner that did not answer, or whose event has no seats.
inline constexpr milliseconds seats_retry_after{2'000};
/// Bytes of a frame about seats: about 1,000 changed seats. Beyond it clients read the map.
inline constexpr std::size_t seats_frame_max = 8 * 1024;
/// The first places see every move, because their turn is near.
inline constexpr std::uint64_t always_updated_places = 100;
/// presence_timeout is at least four times as long.
inline constexpr milliseconds presence_interval{5'000};
/// Ticks of 250 ms between two sweeps over all sockets: 1 s, the unit of their deadlines.
inline constexpr unsigned peer_sweep_ticks = 4;
/// A drained server's clients return within 5 s, spread so that the next server can take them.
inline constexpr std::uint64_t reconnect_min_ms = 500, reconnect_spread_ms = 4500;

} // namespace fq::net
