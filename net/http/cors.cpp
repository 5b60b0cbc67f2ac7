// SPDX-License-Identifier: Apache-2.0
// An allow-list of origins; no wildcard and no credentials, because tokens travel in a header, not in a
// cookie.
#include "net/http/cors.hpp"

#include <algorithm>

namespace fq::net {
namespace {

constexpr std::string_view exposed =
  "X-Request-Id, Retry-After, Idempotency-Replayed, Location, RateLimit, RateLimit-Policy";
constexpr std::string_view allowed_fields =
  "Authorization, Content-Type, Idempotency-Key, X-Request-Id, traceparent, tracestate";

} // namespace

bool origin_allowed(const std::vector<std::string>& allowed, std::string_view origin) {
  if (origin.empty() || same_text(origin, "null")) return false;
  return std::any_of(allowed.begin(), allowed.end(), [&](const auto& a) { return same_text(a, origin); });
}

void add_cors(const std::vector<std::string>& allowed, const request& rq, response& answer) {
  if (allowed.empty()) return; // without a list no answer depends on Origin, so no Vary
  answer.fields.emplace_back("Vary", "Origin");
  const auto origin = rq.field("Origin");
  if (!origin_allowed(allowed, origin)) return;
  answer.fields.emplace_back("Access-Control-Allow-Origin", std::string{origin});
  answer.fields.emplace_back("Access-Control-Expose-Headers", std::string{exposed});
}

std::string_view origin_of(std::string_view url) {
  const auto scheme = url.starts_with("https://") ? 8u : url.starts_with("http://") ? 7u : 0u;
  if (scheme == 0) return {};
  return url.substr(0, std::min(url.find_first_of("/?#", scheme), url.size()));
}

bool is_own_origin(const request& rq, std::string_view public_url, std::string_view origin) {
  if (origin.empty() || origin_of(origin) != origin) // "null", or more than an origin
    return false;
  if (same_text(origin, origin_of(public_url))) return true;
  const auto host = rq.field("Host");
  return !host.empty() && same_text(origin.substr(origin.find("://") + 3), host);
}

bool is_preflight(const request& rq) {
  return rq.verb == method::options && !rq.field("Origin").empty()
         && !rq.field("Access-Control-Request-Method").empty();
}

response preflight(const std::vector<std::string>& allowed, const request& rq, std::string_view allow) {
  response answer;
  answer.status = 204;
  add_cors(allowed, rq, answer);
  if (!origin_allowed(allowed, rq.field("Origin"))) return answer;
  answer.fields.emplace_back("Access-Control-Allow-Methods", std::string{allow});
  answer.fields.emplace_back("Access-Control-Allow-Headers", std::string{allowed_fields});
  answer.fields.emplace_back("Access-Control-Max-Age", "600");
  return answer;
}

} // namespace fq::net
