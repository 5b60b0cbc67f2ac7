// SPDX-License-Identifier: Apache-2.0
// Limits of one HTTP request, of lists, and of certificates.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fq::net {

/// Bytes of a request header, including the request line: browsers send up to 4 KB with cookies and a token.
inline constexpr std::size_t request_header_max = 8192;
/// Header fields of a request: browsers send about 20, proxies add some.
inline constexpr std::size_t request_fields_max = 100;
/// 18 digits fit into 64 bits, so the number needs no check for overflow.
inline constexpr std::size_t content_length_digits_max = 18;
/// Bytes of all chunk extensions of a body: they are not used here, and few clients send any.
inline constexpr std::size_t chunk_extensions_max = 256;
/// Bytes of one chunk's size line, which is buffered whole.
inline constexpr std::size_t chunk_line_max = 1024;
/// Segments of a path; the longest routes, of tiles, have 8, and a longer path matches none.
inline constexpr std::size_t path_segments_max = 8;
/// Languages or codings read from a field: browsers send up to about 10.
inline constexpr std::size_t preferences_max = 32;
/// Hops read from X-Forwarded-For, from the right; the client writes what is left of them, as much as it
/// likes.
inline constexpr std::size_t forwarded_hops_max = 32;

/// Sockets that are served before Asio's other handlers get their turn: a millisecond's work.
inline constexpr std::size_t ready_sockets_per_turn = 128;

/// From this share of http.max_connections on, addresses that hold most lose connections. The share below is
/// free for all: a stadium may be behind one address.
inline constexpr std::int64_t crowded_percent = 80;
/// WebSockets have at most this share; the rest is for short requests.
inline constexpr std::int64_t sockets_percent_max = 90;
/// Connections of one address on one io thread that are never closed for its number: more than a household or
/// an office has.
inline constexpr std::size_t address_share_min = 16;
/// Addresses asked for a connection to close: the largest may have none that is dispensable.
inline constexpr std::size_t crowd_looks_max = 16;
/// Connections of one address with one standing that are asked to give way: those with unread input do not.
inline constexpr std::size_t standing_looks_max = 4;
/// Bytes of output that may wait for clients which do not read: of one address, and of all. Beyond, the
/// oldest of these connections is closed. The kernel takes the first 16 KiB or more of an answer, so output
/// waits rarely; 16 MiB are a thousand pages.
inline constexpr std::size_t pending_of_address_max = 16 * 1024 * 1024, pending_of_all_max = 64 * 1024 * 1024;

/// Rows of one page of a list, if the request has no `limit`.
inline constexpr std::uint32_t list_limit_default = 50;
/// A larger `limit` counts as this, which bounds the memory of one answer.
inline constexpr std::uint32_t list_limit_max = 200;

/// Retry-After of a 503: a new owner or ledger connection is there within about a second.
inline constexpr std::int64_t retry_unavailable_seconds = 1;
/// Retry-After of a 429 whose refusal has no time: the window of most limits.
inline constexpr std::int64_t retry_limited_seconds = 60;

/// A certificate with less time left is reported: ACME clients renew 30 days before the end.
inline constexpr auto renewal_warning = std::chrono::days{14};

} // namespace fq::net
