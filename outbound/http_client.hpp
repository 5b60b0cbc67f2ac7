// SPDX-License-Identifier: Apache-2.0
// Runs many HTTP requests in parallel on one thread. Called by the payment gateways and the push channels
// from any thread. Follows no redirects, uses no proxy, accepts only verified certificates. Answers every
// request exactly once and in bounded time.
#pragma once
#include "domain/base/environment.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fq {

struct http_request {
  enum class method_type { get, post } method = method_type::get;
  std::string url; ///< http or https; the path is sent unchanged, dots included
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body; ///< for POST
  milliseconds timeout{0}; ///< from submit to answer, queueing included; 0: the client's timeout
  /// libcurl repeats a request when a kept connection breaks before the first byte of an answer, although the
  /// server may have acted on it. Set this for requests that must not run twice: they get a new connection
  /// and are never repeated.
  bool fresh_connection = false;
};

struct http_response {
  int status = 0;
  std::string body;
  std::string content_type; ///< unparsed field; empty: absent
  std::string retry_after; ///< unparsed field; empty: absent
};

enum class http_error {
  network, ///< DNS, connection, certificate, reset, partial answer: the server may or may not have acted
  timeout, ///< the server may or may not have acted
  too_large, ///< answer longer than response_bytes_max; the server has acted
  overloaded, ///< too many outstanding requests; never sent
  cancelled, ///< the client was destroyed; may have been sent
  malformed, ///< invalid URL or header; never sent
  forbidden, ///< public_addresses_only is set and the host has no public address; never sent
};

struct http_failure {
  http_error kind = http_error::network;
  std::string what; ///< libcurl's message: may name the host, never a header or a body
  /// for `network` before anything was sent: "unknown_host", "unreachable" or "tls"; else empty
  std::string_view step{};
};

using http_result = std::variant<http_response, http_failure>;
using http_callback = std::function<void(http_result)>;

class http_client {
public:
  struct settings {
    milliseconds timeout{10'000};
    milliseconds connect_timeout{3'000};
    std::size_t response_bytes_max = 1024 * 1024;
    std::size_t in_flight_max = 32;
    /// queued requests beyond in_flight_max; further requests are `overloaded`
    std::size_t waiting_max = 1'000;
    std::string ca_file; ///< trusted PEM certificates; empty: the system's
    std::string user_agent = "FairQueue";
    bool https_only = false; ///< http: URLs are `malformed`
    /// For URLs from untrusted sources: connects only to addresses that domain/base/address_guard allows,
    /// checked after DNS resolution.
    bool public_addresses_only = false;
    /// reads response_bytes_max of a longer answer, drops the rest and reports success
    bool cuts_long_answers = false;
    std::vector<std::string> resolve{}; ///< "host:port:address" for libcurl's RESOLVE: replaces DNS in tests
    std::vector<std::string> connect_to{}; ///< "HOST:PORT:ADDRESS:PORT" as in curl's --connect-to: redirects
                                           ///< the connection, TLS still uses the original name
    /// Requests wait for a connection in progress and share it over HTTP/2; at most eight connections per
    /// host. Requests that libcurl would repeat fail with `network` instead.
    bool multiplexed = false;
    /// After this number of requests, new requests use new connections; the old connections close when they
    /// have answered. 0: never. Reason: libcurl 7.88 resets every stream whose answer has no length. Servers
    /// that count resets (nghttp2: 1,000) close such a connection with all its streams.
    std::size_t requests_per_connections = 0;
    bool http2_only = false; ///< fail with `network` if the server answers with an older version
    /// Raises the nice value of its threads by 10, so that admissions have priority over notices on a busy
    /// machine.
    bool is_background = false;
  };

  /// Throws std::runtime_error without libcurl. `env` must outlive the client.
  http_client(settings options, environment& env);
  /// Answers `cancelled` to all outstanding requests, then ends the thread. Not from a callback.
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  /// Thread-safe, also from callbacks. Calls `done` exactly once, without a lock; it must not throw or block.
  /// It runs on the client's thread. Three answers come on the caller's thread before this returns:
  /// `overloaded`, `malformed` for control characters, and `cancelled` for calls from a callback during
  /// destruction.
  void submit(http_request request, http_callback done);

private:
  class engine;
  engine* take_engine(std::vector<std::unique_ptr<engine>>& idle);
  void leave_idle(std::vector<std::unique_ptr<engine>>& idle);

  const settings settings_;
  environment& env_;
  const int niceness_; ///< nice value of the thread that created the client
  std::mutex mutex_; // guards the members below
  /// the last engine accepts requests; the others finish their requests and end
  std::vector<std::unique_ptr<engine>> engines_;
  std::size_t taken_ = 0; ///< requests accepted by the last engine
  bool is_ending_ = false;
};

} // namespace fq
