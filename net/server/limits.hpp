// SPDX-License-Identifier: Apache-2.0
// Limits of connections: memory of one, evictions among many, and the time that a close may take.
#pragma once
#include "net/http/limits.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fq::net {

/// Bytes of a request's first buffer: most requests fit, and one page holds it.
inline constexpr std::size_t buffer_first_size = 4096;
/// For the longest header and the beginning of its body. A larger buffer is not reused.
inline constexpr std::size_t buffer_head_size = request_header_max + 4096;
/// A larger buffer of an answer is freed, so that one long list does not stay in memory.
inline constexpr std::size_t output_kept_max = 16 * 1024;
/// Unused exchanges that one io thread keeps: 2 to 6 MB.
inline constexpr std::size_t exchanges_kept_max = 512;
/// Pipelined requests of one connection per wake-up; then the others have their turn.
inline constexpr std::size_t requests_per_turn_max = 16;
/// Characters of a client's X-Request-Id: a UUID has 36. A longer one is replaced.
inline constexpr std::size_t request_id_max = 64;

/// Bytes of output that the kernel keeps for a connection, which it doubles for its own overhead. Its
/// automatic size would be up to 4 MB for a client that does not read.
inline constexpr int send_buffer_size = 32 * 1024;
/// Bytes of a TCP segment, more than real networks have. One of loopback, 32 to 64 KiB, would fill the send
/// buffer, and a client acknowledges a single one only after 40 ms.
inline constexpr int segment_size_max = 16 * 1024;
/// The kernel limits it to somaxconn.
inline constexpr int backlog = 16'384;
/// Then the connections that were accepted have their turn.
inline constexpr int accepts_per_wakeup = 128;
/// Without a free descriptor, the listener pauses for this time.
inline constexpr std::chrono::milliseconds back_off_time{50};
/// Connections that the admin listener accepts beyond http.max_connections: a full server is still watched.
inline constexpr std::int64_t admin_reserve = 64;

/// Two round trips of a slow phone. Connections and handshakes that waited for less are not evicted.
inline constexpr std::chrono::milliseconds evictable_after{1000};
/// Each costs a system call.
inline constexpr std::size_t eviction_looks_max = 16;
/// Connections that one sweep of a crowded server closes: about 5 ms.
inline constexpr std::size_t thinned_out_max = 512;

/// A close waits for unread input, because a reset would destroy the answer on its way. This long,
inline constexpr std::chrono::milliseconds linger_timeout{2000};
/// and for so many bytes.
inline constexpr std::size_t linger_bytes_max = 256 * 1024;

/// Interval of the deadlines' sweep: deadlines have a precision of 250 ms.
inline constexpr std::chrono::milliseconds sweep_interval{250};
/// Interval at which a draining server looks for its last connection.
inline constexpr std::chrono::milliseconds drain_poll{10};

} // namespace fq::net
