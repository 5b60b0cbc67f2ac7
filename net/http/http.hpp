// SPDX-License-Identifier: Apache-2.0
// A request and a response as handlers see them, and the table they are found in: plain values, no Beast, no
// sockets. The session (net/server/connection) parses and writes them.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/base/trace.hpp"
#include "net/http/awaitable.hpp"

#include <boost/asio/ip/address.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fq::net {

struct context;

enum class method : std::uint8_t { get, head, post, put, patch, del, options };

/// "GET", "DELETE", ...
[[nodiscard]] std::string_view name_of(method verb);
/// Exact, upper case; nothing for a method we do not have.
[[nodiscard]] std::optional<method> method_of(std::string_view text);

/// Equal but for the case of ASCII letters.
[[nodiscard]] bool same_text(std::string_view left, std::string_view right);

/// A framed, complete request. Views point into the connection's buffer and live until the response is
/// written.
struct request {
  method verb = method::get;
  std::string_view target; ///< as sent, path and query, origin form
  std::string_view path; ///< percent-decoding is refused: our paths are ASCII; base_path removed
  std::string_view query; ///< after '?', raw; never logged
  std::string_view body;
  std::vector<std::pair<std::string_view, std::string_view>>
    fields; ///< names as sent, compare case-insensitively
  boost::asio::ip::address peer; ///< the client, after trusted proxies are walked (net/http/client_address)
  std::string request_id; ///< X-Request-Id: the client's if sane, else made
  trace_context trace = {}; ///< what the handler's work is a part of; nil: nobody asked
  bool keep_alive = true;
  bool http_1_0 = false;

  /// First field of that name (case-insensitive), or empty.
  [[nodiscard]] std::string_view field(std::string_view name) const;
  /// Whether a field of that name is there, empty or not.
  [[nodiscard]] bool has_field(std::string_view name) const;
};

/// Instead of a body: this connection becomes a WebSocket that follows one place. The session then writes the
/// 101 (or, when the request is no proper WebSocket handshake, 400 or 426) and hands the socket to the hub,
/// which sends the `state` frame itself.
struct ws_upgrade {
  uuid holder; ///< the customer, whose newest place it follows; or the ticket, and no other place
  bool by_ticket = false;
  event_id event;
  queue_number number{};
  std::string_view protocol; ///< answered as Sec-WebSocket-Protocol; empty: none. Static storage.
  timestamp authorized_until = never; ///< then it is closed with 4401; not set: never
};

/// A body that is made while it is sent, a part at a time: what is too long to be kept whole. Goes out
/// chunked; to HTTP/1.0 until the end of the connection. The next part is asked for when the one before has
/// left us, so a client that reads slowly costs one part.
class body_source {
public:
  virtual ~body_source() = default;
  /// The next part; empty: that was all. If it throws, the connection breaks off, so that nobody takes what
  /// came for the whole. Outlives the coroutine, as the request does.
  virtual awaitable<std::string> next() = 0;
};

/// What a handler returns. The session adds Content-Length, Date, X-Request-Id, no-store (unless `fields` has
/// a Cache-Control) and nosniff; to a HEAD it sends the same without the body.
struct response {
  unsigned status = 200;
  std::string_view content_type = "application/json"; ///< static storage; empty: no Content-Type
  std::string body = {};
  std::string_view static_body =
    {}; ///< instead of `body`: static storage, sent without a copy of it for each connection
  std::shared_ptr<body_source> source = {}; ///< instead of both
  std::vector<std::pair<std::string_view, std::string>> fields = {}; ///< extra ones; names in static storage
  bool close = false;
  std::optional<ws_upgrade> upgrade = {};
};

/// The values of `{}` segments of the route, in order.
struct path_parameters {
  std::array<std::string_view, 4> values;
  std::size_t count = 0;
};

/// Its arguments outlive the coroutine's last step.
using handler = awaitable<response> (*)(context&, const request&, const path_parameters&);

/// One row of the route table (net/site/routes.cpp); docs/openapi.yaml is compared with it by a test. GET
/// answers HEAD as well.
struct route {
  method verb;
  std::string_view pattern; ///< "/events/{id}/queue"
  handler handle;
  std::size_t body_limit; ///< bytes; 0: the default of http.body_limit
};

/// Why the session itself refuses a request; `site::refuse` words it.
enum class http_refusal : std::uint8_t {
  bad_request, ///< 400: framing or syntax; the connection is closed
  header_too_large, ///< 431, closed
  body_too_large, ///< 413, closed unless the body was read
  version_not_supported, ///< 505, closed
  not_implemented, ///< 501: a transfer coding we do not have; closed
  method_unknown, ///< 405 without Allow; closed
  expectation_failed, ///< 417
  request_timeout, ///< 408, closed
  not_found, ///< 404
  method_not_allowed, ///< 405; `allow` is filled
  internal_error, ///< 500: the handler threw
  overloaded, ///< 503 with Retry-After
  upgrade_required, ///< 426: a WebSocket route without a handshake
  bad_handshake, ///< 400: a malformed WebSocket handshake
};
[[nodiscard]] unsigned status_of(http_refusal why);

/// Everything the session asks of the layer above it: the routes of one listener and the words around them.
/// Plain functions: no state but the context. Any of the functions may be null.
struct site {
  std::span<const route> routes;
  /// The body and extra fields of a refusal (problem+json). The session enforces the status and `close`.
  response (*refuse)(context&, const request&, http_refusal, std::string_view detail,
                     std::string_view allow) = nullptr;
  /// Before routing, for every framed request: finds the client behind proxies, answers CORS preflights. A
  /// response ends it.
  std::optional<response> (*before)(context&, request&) = nullptr;
  /// After the handler, before the response is written: CORS fields, metrics, access log. `found` is null
  /// when no route matched.
  void (*after)(context&, const request&, const route* found, response&, milliseconds took) = nullptr;
};

} // namespace fq::net
