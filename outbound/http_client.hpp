// SPDX-License-Identifier: Apache-2.0
// Many HTTP requests at once on one thread. Called by the payment gateways and the push channels from any
// thread; knows nothing of what it carries. Follows no redirects, uses no proxy, trusts only verified
// certificates, and answers every request exactly once and in bounded time.
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
  std::string url; ///< http or https; its path is sent as it is written, dots too
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body; ///< of a POST
  milliseconds timeout{0}; ///< from submit to answer, waiting for a turn included; 0: the client's
  /// libcurl repeats a request by itself when the kept connection it used dies before a byte of an answer,
  /// though the other side may have acted on it. Set this for what must not happen twice: a connection of its
  /// own is never tried again.
  bool fresh_connection = false;
};

struct http_response {
  int status = 0;
  std::string body;
  std::string content_type; ///< as sent; empty: absent
  std::string retry_after; ///< as sent; empty: absent
};

enum class http_error {
  network, ///< name, connection, certificate, reset, half an answer: the other side may or may not have acted
  timeout, ///< likewise
  too_large, ///< an answer beyond response_bytes_max; the other side has acted
  overloaded, ///< too many outstanding; never sent
  cancelled, ///< the client was destroyed; may have been sent
  malformed, ///< the url or a header cannot be sent; never sent
  forbidden, ///< of all addresses of the host none is public, and `public_addresses_only`; never sent
};

struct http_failure {
  http_error kind = http_error::network;
  std::string what; ///< libcurl's words: may name the host, never a header or a body
  std::string_view
    step{}; ///< of `network` before anything was sent: "unknown_host", "unreachable" or "tls"; else empty
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
    std::size_t waiting_max = 1'000; ///< beyond in_flight_max; one more is `overloaded`
    std::string ca_file; ///< PEM certificates to trust in place of the system's; empty: the system's
    std::string user_agent = "FairQueue";
    bool https_only = false; ///< http: urls are `malformed`
    /// For urls that somebody else chose: connects only where domain/base/address_guard says so, judged after
    /// the name was resolved.
    bool public_addresses_only = false;
    bool cuts_long_answers = false; ///< what exceeds response_bytes_max is not read, and the answer stands
    std::vector<std::string>
      resolve{}; ///< "host:port:address" as libcurl's RESOLVE wants it: names without a DNS, for tests
    std::vector<std::string> connect_to{}; ///< HOST:PORT:ADDRESS:PORT, as curl's --connect-to: asks there,
                                           ///< with the names as they were in TLS too
    /// Requests wait for a connection that is being made, and share it if it speaks HTTP/2; at most eight to
    /// a host. None is sent twice: what libcurl would repeat by itself is `network`.
    bool multiplexed = false;
    /// After so many requests new ones go over new connections, and the old ones are left when they have
    /// answered; 0: never. libcurl 7.88 resets every stream whose answer has no length, and servers that
    /// count resets (nghttp2: 1,000) end such a connection with all that is under way.
    std::size_t requests_per_connections = 0;
    bool http2_only = false; ///< an answer by an older version is `network`
    /// Its threads are nicer by 10 than the one that makes it: where the machine is full, a notice waits and
    /// an admission does not.
    bool is_background = false;
  };

  /// Throws std::runtime_error without libcurl. `env` must outlive the client.
  http_client(settings options, environment& env);
  /// Answers `cancelled` to everything outstanding, then ends the thread. Not from a callback.
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  /// From any thread, callbacks included. `done` is called exactly once and must not throw: on the client's
  /// thread, so it must not block; only `overloaded`, control characters, and `cancelled` for a call from a
  /// callback while the client ends are answered on the caller's, before this returns. No lock is held
  /// meanwhile.
  void submit(http_request request, http_callback done);

private:
  class engine;
  engine* take_engine(std::vector<std::unique_ptr<engine>>& idle);
  void leave_idle(std::vector<std::unique_ptr<engine>>& idle);

  const settings settings_;
  environment& env_;
  const int niceness_; ///< of the thread that made the client
  std::mutex mutex_; // guards these three
  std::vector<std::unique_ptr<engine>>
    engines_; ///< the last one takes requests, the others end when they have answered
  std::size_t taken_ = 0; ///< by the last one
  bool is_ending_ = false;
};

} // namespace fq
