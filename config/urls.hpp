// SPDX-License-Identifier: Apache-2.0
// The forms of urls in options. A problem is a text for the person who configures; empty: none. Boost.URL
// parses everything except logins and the hosts of Postgres, where libpq and NATS accept more than RFC 3986.
#pragma once

#include <string>
#include <string_view>

namespace fq::config {

/// Printable ASCII that fits a header, a log line and a TOML string.
[[nodiscard]] bool is_plain_url_text(std::string_view text);
/// http:// or https://, without login, query, fragment and slash at the end.
[[nodiscard]] bool is_web_url(std::string_view text);
/// The same without a path and in lower case, or "*".
[[nodiscard]] bool is_origin(std::string_view text);
/// A path of this server other than "/", or http:// or https:// with any path, query and fragment.
[[nodiscard]] bool is_page_address(std::string_view text);
/// A name or address with a port: "a.example:443", "[::1]:443".
[[nodiscard]] bool is_host_and_port(std::string_view text);
/// The form of a verifier key, "<name>+<8 hex digits>+<base64>". Not whether the digits fit.
[[nodiscard]] bool is_verifier_key(std::string_view text);
/// True if the url's host is a loopback address or localhost.
[[nodiscard]] bool names_this_machine(std::string_view url);

[[nodiscard]] std::string ledger_url_problem(std::string_view text);
[[nodiscard]] std::string redis_url_problem(std::string_view text);
/// "smtp://host:587/name"; user and password are separate options.
[[nodiscard]] std::string smtp_url_problem(std::string_view text);
[[nodiscard]] std::string nats_urls_problem(std::string_view list);

/// Masks the password of "user:password@", and all of "token@", in each url of a list.
[[nodiscard]] std::string without_logins(std::string_view list);

} // namespace fq::config
