// SPDX-License-Identifier: Apache-2.0
// Shared by the HTTP gateways: calls of several requests with one deadline, JSON answers, and the decision
// which failures are worth a retry.
#pragma once
#include "outbound/gateway.hpp"
#include "outbound/http_client.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <optional>

namespace fq {

/// A gateway's answer to one request: success (2xx) or refusal (4xx) with its JSON, or a failure, which
/// proves neither.
struct api_answer {
  int status = 0; ///< HTTP status; 0: no answer
  boost::json::object body; ///< of a refusal: empty if it was not a JSON object
  /// set for: network, 408, 409, 425, 429, 5xx, 401, 403, a redirect, a 2xx without a JSON object
  std::optional<gateway_error> failure;
  [[nodiscard]] bool is_refusal() const { return !failure && status >= 400; }
};

/// Shared by the requests of one call.
struct api_call {
  milliseconds deadline; ///< steady time
  trace_context trace; ///< of the calling request
};

class json_api {
public:
  struct settings {
    std::string name; ///< prefix of every error's `what`
    std::string url; ///< scheme and host, without a trailing slash
    milliseconds call_timeout; ///< of a whole call, for all its requests
    http_client::settings http;
  };

  json_api(settings options, environment& env);

  /// Starts the deadline of a call.
  [[nodiscard]] api_call begin(const trace_context& trace) const {
    return {env_.steady_now() + settings_.call_timeout, trace};
  }
  /// `request.url` is the path and the query. `done` follows http_client's rules.
  void send(http_request request, const api_call& of, std::function<void(api_answer)> done);

  /// The error for a refusal. `code`: the gateway's error code; cleaned here because it is logged.
  [[nodiscard]] gateway_error rejected(int status, std::string_view code) const;
  [[nodiscard]] gateway_error unavailable(std::string_view what, milliseconds retry_after = {}) const;

private:
  [[nodiscard]] api_answer answer_of(http_result result) const;
  [[nodiscard]] milliseconds pause_of(const std::string& retry_after) const;

  settings settings_;
  environment& env_;
  http_client http_; // last, so it is destroyed first: its callbacks use the members above
};

// Members of a JSON object. Absent, null and a wrong type give the same result.
[[nodiscard]] std::string text_at(const boost::json::object& object, std::string_view name);
[[nodiscard]] std::optional<std::int64_t> integer_at(const boost::json::object& object,
                                                     std::string_view name);
/// Empty if absent.
[[nodiscard]] const boost::json::object& object_at(const boost::json::object& object, std::string_view name);
[[nodiscard]] const boost::json::array& array_at(const boost::json::object& object, std::string_view name);
/// Empty if `text` is not a JSON object.
[[nodiscard]] boost::json::object parse_object(std::string_view text);

/// Text from outside, safe for a log: only letters, digits, blanks and -._, at most 64 characters.
[[nodiscard]] std::string plain_word(std::string_view code);

/// Encodes everything except letters, digits and -._~ as %XX: for a path segment, a query or a form.
[[nodiscard]] std::string percent_encode(std::string_view text);

} // namespace fq
