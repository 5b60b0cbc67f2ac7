// SPDX-License-Identifier: Apache-2.0
// What a handler is given: one `context` per io thread. Everything in it is used from that thread only, or is
// immutable, or says that it is shared. Handlers reach actors through `ask` and `ask_event`
// (net/bridge/actor_bridge.hpp).
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
class hub;
class session_table;
class tls_server;
struct services; ///< what only handlers know: rate limits, metrics, sandbox ledger, mail
                 ///< (net/service/services.hpp, netroutes)

/// Shared by all io threads: the life cycle, and what the transport counts. Relaxed atomics.
struct server_state {
  std::atomic<bool> ready{
    false}; ///< set by the composition when owners are loaded; /readyz also asks `draining`
  std::atomic<bool> draining{false};
  const std::atomic<bool>* ledger_is_reachable = nullptr; ///< told by the ledger workers; null: not watched
  const cache_metrics* cache = nullptr; ///< null: no cache is configured
  const measures* numbers = nullptr; ///< what actors count; null: nobody does
  cluster_links* links = nullptr; ///< null: this node is not one of a cluster
  environment* env = nullptr; ///< for ages in metrics; null: no ages
  std::string release; ///< of this program
  const tls_server* tls = nullptr; ///< null: there is no listener with TLS of our own
  span_sink* spans = nullptr; ///< takes the spans of requests that are traced; null: nobody keeps them

  std::atomic<std::int64_t> connections{0}; ///< open now, WebSockets included
  std::atomic<std::int64_t> websockets{0}; ///< open now
  std::atomic<std::uint64_t> connections_accepted{0};
  std::atomic<std::uint64_t> connections_refused{0}; ///< at http.max_connections
  std::atomic<std::uint64_t> connections_evicted{0}; ///< closed to make room, or beyond their address's share
  std::atomic<std::uint64_t> accept_failures{0}; ///< EMFILE and the like
  std::atomic<std::uint64_t> requests_refused{0}; ///< by framing, limits or deadlines
  std::atomic<std::uint64_t> asks_overloaded{0}; ///< at http.in_flight_per_event
  std::atomic<std::uint64_t> asks_timed_out{0};
  std::atomic<std::uint64_t> frames_sent{0};
  std::atomic<std::uint64_t> frames_coalesced{
    0}; ///< positions overwritten by a later one before they were written
  std::atomic<std::uint64_t> slow_sockets_closed{0};
  std::atomic<std::uint64_t> handler_exceptions{0};
};

/// Times of WebSockets: part of the protocol, so no options.
struct ws_times {
  milliseconds ping_interval{25'000};
  milliseconds silence_max{60'000}; ///< two pings unanswered: the peer is gone
  milliseconds close_timeout{2'000}; ///< for the peer to answer a close frame
  milliseconds unread_output_max{10'000}; ///< a peer that takes nothing for so long does not read
};

struct context {
  boost::asio::io_context& io;
  fq::environment& environment;
  const config::options& options;
  server_state& state;
  region_handle region;
  catalog_handle catalog;
  accounts_handle accounts;
  directory_handle directory = {}; ///< null: nobody reads it here
  notices_handle notices = {}; ///< devices, webhook endpoints, deliveries; null: none are kept here
  session_reader_handle session_reader; ///< null: there are no other nodes, or no cache
  const token_verifier& verifier;
  const token_issuer& issuer;
  const session_keys& sessions; ///< of admission tokens
  services* shared = nullptr; ///< thread-safe; see above
  actor_bridge* bridge = nullptr; ///< set by the server before anything is served
  hub* sockets = nullptr; ///< likewise
  session_table* table = nullptr; ///< likewise
  ws_times ws{};

  unsigned thread_index = 0; ///< 0 .. io.threads - 1
  milliseconds now{0}; ///< environment.steady_now() of the last sweep, at most 250 ms old; for deadlines
  std::array<char, 29> date{}; ///< the Date field of this second: "Sun, 06 Nov 1994 08:49:37 GMT"
};

} // namespace fq::net
