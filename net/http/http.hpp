// SPDX-License-Identifier: Apache-2.0
// Request, response and route table as handlers see them: plain values, no Beast, no sockets. The
// connection (net/server/connection) parses and writes them.
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

/// "GET", "DELETE", …
[[nodiscard]] std::string_view name_of(method verb);
/// Exact, upper case. Returns nothing for an unsupported method.
[[nodiscard]] std::optional<method> method_of(std::string_view text);

/// Compares texts of equal length without the case of ASCII letters.
[[nodiscard]] bool same_letters(std::string_view left, std::string_view right);
/// Compares without the case of ASCII letters.
[[nodiscard]] inline bool same_text(std::string_view left, std::string_view right) {
  return left.size() == right.size() && same_letters(left, right);
}

/// A framed, complete request. Its views point into the connection's buffer and are valid until the
/// response is written.
struct request {
  method verb = method::get;
  std::string_view target; ///< path and query as sent, in origin form
  std::string_view path; ///< without base_path; percent-encoding is refused, because all routes are ASCII
  std::string_view query; ///< text after '?', raw; never logged
  std::string_view body;
  std::vector<std::pair<std::string_view, std::string_view>>
    fields; ///< names as sent; compare case-insensitively
  boost::asio::ip::address peer; ///< the client, behind trusted proxies (net/http/client_address)
  std::string request_id; ///< the client's X-Request-Id if valid, else generated
  trace_context trace = {}; ///< parent span of the handler's work; nil: not traced
  bool keep_alive = true;
  bool http_1_0 = false;

  /// First field of that name (case-insensitive), or empty.
  [[nodiscard]] std::string_view field(std::string_view name) const;
  /// Whether the field is present, even if empty.
  [[nodiscard]] bool has_field(std::string_view name) const;
};

/// Replaces the body: the connection becomes a WebSocket that follows one entry. The connection writes the
/// 101 (or 400 or 426 if the handshake is invalid) and passes the socket to the hub. The hub sends the
/// `state` frame.
struct ws_upgrade {
  uuid holder; ///< a customer, whose newest entry is followed; or a ticket id, for that entry only
  bool by_ticket = false;
  event_id event;
  queue_number number{};
  std::string_view protocol; ///< answered as Sec-WebSocket-Protocol; empty: none. Static storage.
  timestamp authorized_until = never; ///< the socket is then closed with 4401
  std::uint64_t seats_version = 0; ///< of the seat map that the client has; 0: it does not follow the map
};

/// A body that is produced while it is sent, for answers too long for memory. Sent chunked, or until the
/// end of the connection to HTTP/1.0. The next part is requested after the previous one is written, so a
/// slow reader costs one part.
class body_source {
public:
  virtual ~body_source() = default;
  /// Returns the next part; empty: the end. If it throws, the connection is closed, so that the client
  /// notices the truncation. The source outlives the coroutine, as the request does.
  virtual awaitable<std::string> next() = 0;
};

/// A handler's result. The connection adds Content-Length, Date, X-Request-Id, nosniff, and no-store unless
/// `fields` has a Cache-Control. A HEAD gets the same without the body.
struct response {
  unsigned status = 200;
  std::string_view content_type = "application/json"; ///< static storage; empty: no Content-Type
  std::string body = {};
  std::string_view static_body = {}; ///< replaces `body`; static storage, sent without a copy
  std::shared_ptr<body_source> source = {}; ///< replaces both
  std::vector<std::pair<std::string_view, std::string>> fields = {}; ///< names: static storage
  /// Further fields as they are sent, Cache-Control among them; each begins with CRLF.
  std::shared_ptr<const std::string> lines = {};
  bool close = false;
  std::optional<ws_upgrade> upgrade = {};
};

/// Values of the route's `{}` segments, in order.
struct path_parameters {
  std::array<std::string_view, 5> values;
  std::size_t count = 0;
};

/// The arguments outlive the coroutine.
using handler = awaitable<response> (*)(context&, const request&, const path_parameters&);

/// Clients that may call a route. The core does not read it; a test compares it with `security` in
/// docs/openapi.yaml.
enum class audience : std::uint8_t {
  anybody, ///< no token is read
  anybody_or_persons, ///< a token is optional; customers and managers see more
  customers,
  customers_or_guests,
  managers, ///< organizers, and backends with an operator's token
  operators, ///< backends with an operator's token
  customers_or_managers,
  ticket_holders, ///< with the token of the entry in the path
  session_holders, ///< with the token of an admission
  api_keys,
  devices, ///< that scan tickets at an event
};

/// The bucket of the client's address from which a request takes a token before anything but its header is
/// looked at (net/service/guards). A token's failure takes from the address on every route.
enum class address_limit : std::uint8_t {
  none, ///< health probes, and routes whose bucket belongs to a required token
  without_token, ///< anonymous, unless the guard finds a valid token, whose subject has a bucket
  anonymous,
  public_log, ///< parts of public logs
  checkpoint, ///< of another log, to be cosigned
  sandbox,
  login, ///< the step gives the token back after a success
  code,
  guest,
  webhook, ///< as login: only webhooks that are not genuine count
};

/// A handler, the clients that its checks admit, and their limit.
struct guarded_handler {
  handler handle;
  audience who = audience::anybody;
  address_limit limit = address_limit::none;
};

/// One row of a route table. The tables stand beside the handlers; the core knows none of them. GET also
/// answers HEAD.
struct route {
  method verb;
  std::string_view pattern; ///< segments; "{name}" takes any text, "{name}.pdf" with that ending
  guarded_handler guarded;
  std::size_t body_limit = 0; ///< bytes; 0: http.body_limit
};

/// Reason why the connection refuses a request; `site::refuse` writes the text.
enum class http_refusal : std::uint8_t {
  bad_request, ///< 400: framing or syntax; closes
  header_too_large, ///< 431; closes
  body_too_large, ///< 413; closes unless the body was read
  version_not_supported, ///< 505; closes
  not_implemented, ///< 501: unsupported transfer coding; closes
  method_unknown, ///< 405; `allow` is filled if a route has the path; closes
  expectation_failed, ///< 417
  request_timeout, ///< 408; closes
  not_found, ///< 404
  method_not_allowed, ///< 405; `allow` is filled
  internal_error, ///< 500: the handler threw
  overloaded, ///< 503 with Retry-After
  upgrade_required, ///< 426: a WebSocket route without a handshake
  bad_handshake, ///< 400: a malformed WebSocket handshake
  unauthenticated, ///< 401: a body beyond http.body_limit without a valid token; closes
};
[[nodiscard]] unsigned status_of(http_refusal why);

/// What the connection needs from the layer above: the routes of one listener and its hooks. Plain
/// functions without state except the context; each may be null.
struct site {
  std::span<const route> routes;
  /// Makes the body and extra fields of a refusal (problem+json). The connection sets the status and
  /// `close`.
  response (*refuse)(context&, const request&, http_refusal, std::string_view detail,
                     std::string_view allow) = nullptr;
  /// Called before a body beyond http.body_limit is read for a row with a larger limit: whether the header
  /// has a token of the row's audience.
  bool (*may_send)(context&, const request&, const route& found) = nullptr;
  /// Called for every framed request: finds the client behind proxies, answers CORS preflights, and asks the
  /// limit of the row. `found` is null if no route matched. A returned response skips the handler.
  std::optional<response> (*before)(context&, request&, const route* found) = nullptr;
  /// Called after the handler, before the response is written: adds CORS fields, counts metrics, writes the
  /// access log. `found` is null if no route matched.
  void (*after)(context&, const request&, const route* found, response&, milliseconds took) = nullptr;
};

} // namespace fq::net
