// SPDX-License-Identifier: Apache-2.0
// What handlers use: one `context` per io thread. Each member is used by that thread only, is immutable, or
// is marked as shared. Handlers reach actors through `ask` and `ask_event` (net/bridge/actor_bridge.hpp).
#pragma once
#include "actors/base/cache_metrics.hpp"
#include "actors/base/cluster_links.hpp"
#include "actors/protocol/protocol.hpp"
#include "config/options.hpp"
#include "crypto/passes.hpp"
#include "crypto/session_token.hpp"
#include "crypto/tokens.hpp"
#include "domain/base/environment.hpp"
#include "net/http/http.hpp"

#include <boost/asio/io_context.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace fq {
struct measures; ///< actors/base/measures.hpp
}

namespace fq::net {

class actor_bridge;
class crowd; ///< net/http/crowd.hpp
class hub;
class line_table;
class ready_set;
class session_table;
class tls_server;
struct services; ///< shared by handlers: net/service/services.hpp

/// Shared by all io threads: life cycle and transport counters. Relaxed atomics.
struct server_state {
  std::atomic<bool> ready{false}; ///< set by the composition after the owners are loaded
  std::atomic<bool> draining{false};
  const std::atomic<bool>* ledger_is_reachable = nullptr; ///< set by the ledger workers; null: not watched
  const std::atomic<bool>* is_superseded =
    nullptr; ///< set by the ledger workers: a later process has this node's name; null: not watched
  /// Events that are stopped, because the ledger lost commits of them; null: not watched.
  const std::atomic<std::uint64_t>* events_lost = nullptr;
  const cache_metrics* cache = nullptr; ///< null: no cache is configured
  const measures* numbers = nullptr; ///< counters of the actors; null: none
  cluster_links* links = nullptr; ///< null: this node is not in a cluster
  environment* env = nullptr; ///< for ages in metrics; null: no ages
  std::string release; ///< version of this program
  const tls_server* tls = nullptr; ///< null: no TLS listener
  span_sink* spans = nullptr; ///< records spans of traced requests; null: spans are not recorded

  std::atomic<std::int64_t> connections{0}; ///< open now, including WebSockets
  std::atomic<std::int64_t> websockets{0}; ///< open now
  std::atomic<std::uint64_t> connections_accepted{0};
  std::atomic<std::uint64_t> connections_refused{0}; ///< also WebSockets at their share
  std::atomic<std::uint64_t> connections_evicted{0}; ///< to make room, or because too much output waited
  std::atomic<std::uint64_t> accept_failures{0}; ///< EMFILE and similar
  std::atomic<std::uint64_t> requests_refused{0}; ///< by framing, limits or deadlines
  std::atomic<std::uint64_t> asks_overloaded{0}; ///< at http.in_flight_per_event
  std::atomic<std::uint64_t> asks_timed_out{0};
  std::atomic<std::uint64_t> frames_sent{0};
  std::atomic<std::uint64_t> frames_coalesced{
    0}; ///< positions replaced by a later one before they were written
  std::atomic<std::uint64_t> slow_sockets_closed{0};
  std::atomic<std::uint64_t> handler_exceptions{0};
};

/// Times of WebSockets. Constants of the protocol, so not configurable.
struct ws_times {
  milliseconds ping_interval{25'000};
  milliseconds silence_max{60'000}; ///< two unanswered pings: the peer is gone
  milliseconds close_timeout{2'000}; ///< for the peer's answer to a close frame
  milliseconds unread_output_max{10'000}; ///< a peer that accepts no bytes for this time does not read
};

struct context {
  boost::asio::io_context& io;
  fq::environment& environment;
  const config::options& options;
  server_state& state;
  region_handle region;
  catalog_handle catalog;
  accounts_handle accounts;
  directory_handle directory = {}; ///< null: no directory on this node
  notices_handle notices = {}; ///< devices, webhook endpoints, deliveries; null: not available
  session_reader_handle session_reader; ///< null: the ledger is not shared, or no cache
  const token_verifier& verifier;
  const token_issuer& issuer;
  const session_keys& sessions; ///< of admission tokens
  services* shared = nullptr; ///< thread-safe
  ready_set* ready = nullptr; ///< set by the server before the first connection
  actor_bridge* bridge = nullptr; ///< set by the server before the first request
  crowd* guests = nullptr; ///< set by the server before the first connection
  hub* sockets = nullptr; ///< set by the server before the first request
  line_table* lines = nullptr; ///< set by the server before the first request
  session_table* table = nullptr; ///< set by the server before the first request
  ws_times ws{};

  unsigned thread_index = 0; ///< 0 .. io.threads - 1
  milliseconds now{0}; ///< environment.steady_now() of the last sweep, at most 250 ms old; for deadlines
  std::array<char, 29> date{}; ///< the current Date field: "Sun, 06 Nov 1994 08:49:37 GMT"
};

} // namespace fq::net
