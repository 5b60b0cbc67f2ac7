// SPDX-License-Identifier: Apache-2.0
#include "net/http/http.hpp"

#include <algorithm>

namespace fq::net {

namespace {

struct named_method {
  method verb;
  std::string_view name;
};
constexpr std::array<named_method, 7> methods{{{method::get, "GET"},
                                               {method::head, "HEAD"},
                                               {method::post, "POST"},
                                               {method::put, "PUT"},
                                               {method::patch, "PATCH"},
                                               {method::del, "DELETE"},
                                               {method::options, "OPTIONS"}}};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

} // namespace

std::string_view name_of(method verb) { return methods[static_cast<std::size_t>(verb)].name; }

std::optional<method> method_of(std::string_view text) {
  for (const auto& m : methods)
    if (m.name == text) return m.verb;
  return std::nullopt;
}

bool same_letters(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(),
                    [](char a, char b) { return a == b || lower(a) == lower(b); });
}

std::string_view request::field(std::string_view name) const {
  for (const auto& [key, value] : fields)
    if (same_text(key, name)) return value;
  return {};
}

bool request::has_field(std::string_view name) const {
  return std::any_of(fields.begin(), fields.end(), [&](const auto& f) { return same_text(f.first, name); });
}

unsigned status_of(http_refusal why) {
  switch (why) {
    case http_refusal::bad_request: return 400;
    case http_refusal::header_too_large: return 431;
    case http_refusal::body_too_large: return 413;
    case http_refusal::unauthenticated: return 401;
    case http_refusal::version_not_supported: return 505;
    case http_refusal::not_implemented: return 501;
    case http_refusal::method_unknown: return 405;
    case http_refusal::expectation_failed: return 417;
    case http_refusal::request_timeout: return 408;
    case http_refusal::not_found: return 404;
    case http_refusal::method_not_allowed: return 405;
    case http_refusal::internal_error: return 500;
    case http_refusal::overloaded: return 503;
    case http_refusal::upgrade_required: return 426;
    case http_refusal::bad_handshake: return 400;
  }
  return 500;
}

} // namespace fq::net
