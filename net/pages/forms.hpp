// SPDX-License-Identifier: Apache-2.0
// Input from browsers' plain pages: forms, cookies, and a form's origin. Called by the routes of pages. The
// API reads none of it, so a cookie never authorizes API requests.
#pragma once
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"
#include "net/pages/limits.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fq::net {

/// Whether the Content-Type is application/x-www-form-urlencoded.
[[nodiscard]] bool is_form(const request& rq);

/// The decoded fields of an application/x-www-form-urlencoded body.
class form {
public:
  /// Sets `no` to the problem to answer with: another media type, too many fields, a repeated field, no
  /// UTF-8 or control characters.
  [[nodiscard]] static form read(const request& rq, std::optional<response>& no);

  /// Trimmed; empty if absent.
  [[nodiscard]] std::string_view find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

private:
  [[nodiscard]] bool has_repeated_field() const;

  std::vector<std::pair<std::string, std::string>> fields_;
};

/// The cookie's value; empty if absent.
[[nodiscard]] std::string_view cookie(const request& rq, std::string_view name);

/// Over TLS a prefix makes browsers refuse a cookie that another host, or a request without TLS, planted.
/// Only a cookie for all paths (`path` empty) can have the stronger prefix.
[[nodiscard]] std::string cookie_name(std::string_view name, std::string_view path, bool is_secure);

struct cookie_scope {
  std::string path; ///< path prefix for which it is sent
  std::int64_t seconds; ///< life in seconds; 0: delete the cookie
  bool is_secure; ///< sent over https only
};
/// Sets a cookie that scripts cannot read and that other sites' POSTs do not send.
void set_cookie(response& answer, std::string_view name, std::string_view value, const cookie_scope& scope);

/// Whether one of our own pages sent the form. Prevents other sites' forms from acting for a visitor or
/// signing one in with another account.
[[nodiscard]] bool is_from_own_page(const request& rq, std::string_view public_url);

} // namespace fq::net
