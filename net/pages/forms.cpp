// SPDX-License-Identifier: Apache-2.0
#include "net/pages/forms.hpp"

#include "domain/base/hex.hpp"
#include "net/http/cors.hpp"
#include "net/http/problem.hpp"
#include "net/http/text.hpp"
#include "net/http/utf8.hpp"

#include <algorithm>

namespace fq::net {
namespace {

/// Decodes "a+b%20c"; nothing if the result is no UTF-8, has control characters or a broken escape.
std::optional<std::string> decoded(std::string_view encoded) {
  std::string text;
  utf8_checker utf8;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    char c = encoded[i] == '+' ? ' ' : encoded[i];
    if (encoded[i] == '%') {
      const int high = i + 2 < encoded.size() ? hex_value(encoded[i + 1]) : -1,
                low = high < 0 ? -1 : hex_value(encoded[i + 2]);
      if (low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || !utf8.feed(byte)) return std::nullopt;
    text += c;
  }
  return utf8.complete() ? std::optional{std::move(text)} : std::nullopt;
}

} // namespace

bool is_form(const request& rq) {
  const auto type = rq.field("Content-Type");
  return same_text(trimmed(type.substr(0, type.find(';'))), "application/x-www-form-urlencoded");
}

form form::read(const request& rq, std::optional<response>& no) {
  form out;
  if (!is_form(rq)) {
    no = problem(fault::unsupported_media_type, rq.request_id, "Send application/x-www-form-urlencoded.");
    return out;
  }
  const auto malformed = [&](fault why) { no = problem(why, rq.request_id, "The form is malformed."); };
  auto rest = rq.body;
  if (std::ranges::count(rest, '&') >= std::ptrdiff_t{form_fields_max}) {
    malformed(fault::invalid_field);
    return out;
  }
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    const auto one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = std::min(one.find('='), one.size());
    auto name = decoded(one.substr(0, equals)), value = decoded(one.substr(std::min(equals + 1, one.size())));
    if (!name || !value) {
      malformed(fault::invalid_field);
      return out;
    }
    out.fields_.emplace_back(std::move(*name), std::move(*value));
  }
  if (out.has_repeated_field()) malformed(fault::duplicate_field);
  return out;
}

bool form::has_repeated_field() const {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : fields_) names.push_back(name);
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

std::string_view form::find(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, &std::pair<std::string, std::string>::first);
  return found == fields_.end() ? std::string_view{} : trimmed(found->second);
}

std::string_view cookie(const request& rq, std::string_view name) {
  for (const auto& [field, value] : rq.fields) {
    if (!same_text(field, "Cookie")) continue;
    auto rest = value;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(';'), rest.size());
      const auto one = trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
        return one.substr(name.size() + 1);
    }
  }
  return {};
}

std::string cookie_name(std::string_view name, std::string_view path, bool is_secure) {
  const std::string_view prefix = !is_secure ? "" : path.empty() ? "__Host-" : "__Secure-";
  return std::string{prefix}.append(name);
}

void set_cookie(response& answer, std::string_view name, std::string_view value, const cookie_scope& scope) {
  std::string text{name};
  text.append("=").append(value).append("; Path=").append(scope.path.empty() ? "/" : scope.path);
  text.append("; Max-Age=").append(std::to_string(scope.seconds)).append("; HttpOnly; SameSite=Lax");
  if (scope.is_secure) text += "; Secure";
  answer.fields.emplace_back("Set-Cookie", std::move(text));
}

bool is_from_own_page(const request& rq, std::string_view public_url) {
  // Browsers set this field themselves, whatever the page's referrer policy.
  const auto site = rq.field("Sec-Fetch-Site");
  if (!site.empty()) return site == "same-origin" || site == "none";
  // Older browsers send an Origin with a POST. A client without either field is no browser, so it cannot
  // misuse a visitor's cookies.
  return !rq.has_field("Origin") || is_own_origin(rq, public_url, rq.field("Origin"));
}

} // namespace fq::net
