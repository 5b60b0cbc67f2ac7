// SPDX-License-Identifier: Apache-2.0
// Requests built from strings, for tests without sockets.
#pragma once
#include "net/http/http.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fq::net::made {

using text_fields = std::vector<std::pair<std::string, std::string>>;

/// A request and the text that its views point into.
class made_request {
public:
  made_request(method verb, std::string target, std::string body = {}, text_fields fields = {},
               std::string peer = "192.0.2.1") :
      target_(std::move(target)), body_(std::move(body)), fields_(std::move(fields)) {
    rq.verb = verb;
    rq.target = target_;
    const auto mark = std::min(target_.find('?'), target_.size());
    rq.path = rq.target.substr(0, mark);
    rq.query = rq.target.substr(std::min(mark + 1, target_.size()));
    rq.body = body_;
    for (const auto& [name, value] : fields_) rq.fields.emplace_back(name, value);
    rq.peer = boost::asio::ip::make_address(peer);
    rq.request_id = "test-request";
  }
  made_request(const made_request&) = delete;
  made_request& operator=(const made_request&) = delete;

  request rq;

private:
  std::string target_, body_;
  text_fields fields_;
};

inline made_request json_post(std::string body) {
  return {method::post, "/x", std::move(body), {{"Content-Type", "application/json"}}};
}

/// The first one, in the order in which they are sent.
inline std::string field_of(const response& answer, std::string_view name) {
  const auto begin = "\r\n" + std::string{name} + ": ";
  const auto at = answer.lines ? answer.lines->find(begin) : std::string::npos;
  if (at != std::string::npos) {
    const auto from = at + begin.size();
    return answer.lines->substr(from, answer.lines->find("\r\n", from) - from);
  }
  for (const auto& [n, value] : answer.fields)
    if (same_text(n, name)) return value;
  return {};
}

inline boost::json::object body_of(const response& answer) {
  return boost::json::parse(answer.body).get_object();
}

/// By value: CAF's check macros keep references to their arguments.
inline std::string text_in(const response& answer, std::string_view name) {
  return std::string{body_of(answer).at(name).get_string()};
}
inline std::int64_t number_in(const response& answer, std::string_view name) {
  return body_of(answer).at(name).get_int64();
}

inline std::string code_of(const response& answer) {
  const auto body = body_of(answer);
  const auto* code = body.if_contains("code");
  return code ? std::string{code->get_string()} : std::string{};
}

inline text_fields with(text_fields fields, std::string name, std::string value) {
  fields.emplace_back(std::move(name), std::move(value));
  return fields;
}

} // namespace fq::net::made
