// SPDX-License-Identifier: Apache-2.0
// What the HTTP gateways share: requests with a deadline over several steps, answers that are JSON, and which
// failures are worth a retry. Called by the gateways only; knows neither's API.
#pragma once
#include "outbound/gateway.hpp"
#include "outbound/http_client.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <optional>

namespace fq {

/// What a gateway said to one request: an answer (2xx) or a refusal (4xx) with its JSON, or a failure, which
/// says nothing about either.
struct api_answer {
  int status = 0; ///< 0: there was none
  boost::json::object body; ///< of a refusal empty if it was no JSON object
  std::optional<gateway_error>
    failure; ///< network, 408, 409, 425, 429, 5xx, 401, 403, a redirect, or a 2xx without a JSON object
  [[nodiscard]] bool is_refusal() const { return !failure && status >= 400; }
};

/// What the requests of one call share.
struct api_call {
  milliseconds deadline; ///< steady time: when it must have answered
  trace_context trace; ///< that they are a part of
};

class json_api {
public:
  struct settings {
    std::string name; ///< begins every error's `what`
    std::string url; ///< scheme and host, without a trailing slash
    milliseconds call_timeout; ///< of a whole call, whatever steps it takes
    http_client::settings http;
  };

  json_api(settings options, environment& env);

  /// A call that begins now.
  [[nodiscard]] api_call begin(const trace_context& trace) const {
    return {env_.steady_now() + settings_.call_timeout, trace};
  }
  /// `request.url` is the path and the query. `done` as http_client's.
  void send(http_request request, const api_call& of, std::function<void(api_answer)> done);

  /// The error for a refusal; `code`: the gateway's own word for it, which is cleaned: it ends up in logs.
  [[nodiscard]] gateway_error rejected(int status, std::string_view code) const;
  [[nodiscard]] gateway_error unavailable(std::string_view what, milliseconds retry_after = {}) const;

private:
  [[nodiscard]] api_answer answer_of(http_result result) const;
  [[nodiscard]] milliseconds pause_of(const std::string& retry_after) const;

  settings settings_;
  environment& env_;
  http_client http_; // last, so that it ends first: the steps of a call come back to the members above
};

// Members of a JSON object; absent, null and of another type are the same.
[[nodiscard]] std::string text_at(const boost::json::object& object, std::string_view name);
[[nodiscard]] std::optional<std::int64_t> integer_at(const boost::json::object& object,
                                                     std::string_view name);
/// An empty one if there is none.
[[nodiscard]] const boost::json::object& object_at(const boost::json::object& object, std::string_view name);
[[nodiscard]] const boost::json::array& array_at(const boost::json::object& object, std::string_view name);
/// An empty one if `text` is no JSON object.
[[nodiscard]] boost::json::object parse_object(std::string_view text);

/// Somebody else's word, fit for a log: letters, digits, blanks and -._ of it, 64 characters at most.
[[nodiscard]] std::string plain_word(std::string_view code);

/// Everything but letters, digits and -._~ as %XX: for a path segment, a query, a form.
[[nodiscard]] std::string percent_encode(std::string_view text);

} // namespace fq
