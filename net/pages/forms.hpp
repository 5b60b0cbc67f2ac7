// SPDX-License-Identifier: Apache-2.0
// What browsers send from plain pages: forms, cookies, and where a form came from. Called by the routes of
// pages; the API reads none of it, so a cookie never opens it.
#pragma once
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fq::net {

inline constexpr std::size_t form_fields_max = 100;

/// Whether the body says it is application/x-www-form-urlencoded.
[[nodiscard]] bool is_form(const request& rq);

/// The fields of an application/x-www-form-urlencoded body, decoded.
class form {
public:
  /// The problem to answer with in `no`: another media type, too many fields, a field twice, no UTF-8 or
  /// control characters.
  [[nodiscard]] static form read(const request& rq, std::optional<response>& no);

  /// Without blanks at its ends; empty if it is not there.
  [[nodiscard]] std::string_view find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

/// The value of that cookie; empty if there is none.
[[nodiscard]] std::string_view cookie(const request& rq, std::string_view name);

struct cookie_scope {
  std::string path; ///< below which it is sent
  std::int64_t seconds; ///< 0: forgets it
  bool is_secure; ///< over https only
};
/// Out of reach of scripts, and not sent with what other sites post.
void set_cookie(response& answer, std::string_view name, std::string_view value, const cookie_scope& scope);

/// Whether a form was sent by one of our own pages: other sites' forms must not act for a visitor, nor sign
/// one in as somebody else.
[[nodiscard]] bool is_from_own_page(const request& rq, std::string_view public_url);

} // namespace fq::net
