// SPDX-License-Identifier: Apache-2.0
#include "config/urls.hpp"

#include "config/limits.hpp"
#include "config/options.hpp"
#include "config/table.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

#include <algorithm>
#include <optional>

namespace fq::config {
namespace {

/// The parts of "scheme://user:password@hosts/path?query" that may hold a secret.
struct secret_parts {
  std::string_view login; ///< "user:password", without the @
  std::string_view query; ///< without the question mark
};

/// Nothing if "://" is missing.
std::optional<secret_parts> secrets_in(std::string_view url) {
  const auto colon = url.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  const auto rest = url.substr(colon + 3);
  const auto mark = std::min(rest.find('?'), rest.size());
  const auto authority = rest.substr(0, std::min(rest.find('/'), mark));
  const auto at = authority.rfind('@');
  return secret_parts{at == std::string_view::npos ? std::string_view{} : authority.substr(0, at),
                      rest.substr(std::min(mark + 1, rest.size()))};
}

/// A query with password values masked, and a check of its parameter names.
struct masked_query {
  bool plain_names = true; ///< only lower-case letters and underscores: no %-encoding
  std::string text;

  explicit masked_query(std::string_view query) {
    while (!query.empty()) {
      const auto end = query.find('&');
      const auto pair = query.substr(0, end);
      const auto name = pair.substr(0, pair.find('='));
      plain_names = plain_names && std::all_of(name.begin(), name.end(), [](char c) {
                      return c == '_' || (c >= 'a' && c <= 'z');
                    });
      const bool is_password = name.ends_with("password") && name.size() != pair.size();
      text.append(text.empty() ? "" : "&")
        .append(is_password ? name : pair)
        .append(is_password ? "=***" : "");
      query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    }
  }
};

/// Refuses reserved characters in a password: the client library would cut it at another place.
std::string login_problem(std::string_view text, std::string_view login) {
  const bool once = std::count(text.begin(), text.end(), '@') == (login.empty() ? 0 : 1);
  if (once && std::count(login.begin(), login.end(), ':') <= 1) return {};
  return "must have at most one @ and user:password before it; write other such characters as %40, %3A, %2F, "
         "%3F";
}

/// Boost 1.81 ends a host or port at the first unexpected character and treats the rest as a path.
std::optional<boost::urls::url> parse_whole(const std::string& text) {
  const auto parsed = boost::urls::parse_uri(text);
  if (!parsed || !(parsed->encoded_path().empty() || parsed->encoded_path().starts_with('/')))
    return std::nullopt;
  return boost::urls::url{*parsed};
}

/// Parses a url with one host and without fragment.
std::optional<boost::urls::url> parse_server(std::string_view text) {
  std::string whole{text};
  auto url = parse_whole(whole);
  if (const auto colon = whole.find("://"); !url && colon != std::string::npos)
    url =
      parse_whole(whole.insert(colon + 3, "x")); // a name that begins like an IPv4 address: 10.0.0.1.example
  if (!url || !is_plain_url_text(text) || url->has_fragment()) return std::nullopt;
  const std::string_view host = url->encoded_host();
  const bool is_one_host = !host.empty() && host.find_first_of(",%") == std::string_view::npos;
  if (!is_one_host || (url->has_port() && url->port_number() == 0)) return std::nullopt;
  return url;
}

bool has_scheme(const boost::urls::url& url, std::string_view one, std::string_view other) {
  return url.scheme() == one || url.scheme() == other;
}

/// Does not check hosts and parameters: libpq's parser does that at the start.
std::string postgres_url_problem(std::string_view text) {
  const auto parts = secrets_in(text);
  if (!parts || !is_plain_url_text(text)) return "must be like postgres://user:password@host:5432/database";
  if (auto wrong = login_problem(text, parts->login); !wrong.empty()) return wrong;
  if (!masked_query{parts->query}.plain_names) return "has a parameter whose name is not one of libpq's";
  return {};
}

std::string redis_server_problem(std::string_view text) {
  const auto url = parse_server(text);
  const std::string_view path = url ? std::string_view{url->encoded_path()} : std::string_view{};
  constexpr std::size_t path_max = 5; // a slash and four digits
  if (!url || !has_scheme(*url, "redis", "rediss") || url->has_query() || path.size() > path_max
      || path.find_first_not_of("0123456789", 1) != std::string_view::npos)
    return "must be like redis://user:password@host:6379/0, with rediss:// for TLS";
  return {};
}

bool is_sentinel_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || std::string_view{"._-"}.find(c) != std::string_view::npos;
  });
}

/// Checks each Sentinel as if it were the server.
std::string sentinel_url_problem(std::string_view text) {
  const std::string form =
    "must be like redis-sentinel://user:password@host:26379,host:26379/mymaster, with at "
    "most 8 hosts and rediss-sentinel:// for TLS";
  const auto scheme = text.substr(0, text.find('-'));
  const auto rest = text.substr(text.find("://") + 3);
  const auto slash = std::min(rest.find('/'), rest.size());
  const auto at = rest.substr(0, slash).rfind('@') + 1; // 0: no login
  const auto list = rest.substr(at, slash - at);
  const auto path = rest.substr(std::min(slash + 1, rest.size()));
  const auto name = path.substr(0, path.find('/'));
  const auto servers = split_list(list);
  const auto commas = static_cast<std::size_t>(std::count(list.begin(), list.end(), ','));
  if (!is_sentinel_name(name) || servers.size() != commas + 1 || servers.size() > limits::sentinels_max)
    return form;
  for (const auto& server : servers) {
    std::string url{scheme};
    url.append("://").append(rest.substr(0, at)).append(server).append(path.substr(name.size()));
    if (!redis_server_problem(url).empty()) return form;
  }
  return {};
}

} // namespace

bool is_plain_url_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<'; });
}

bool is_web_url(std::string_view text) {
  const auto url = parse_server(text);
  return url && has_scheme(*url, "http", "https") && !url->has_query() && !text.ends_with('/')
         && !url->has_userinfo();
}

bool is_origin(std::string_view text) {
  if (text == "*") return true;
  return is_web_url(text) && std::count(text.begin(), text.end(), '/') == 2
         && std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_page_address(std::string_view text) {
  if (text.starts_with('/')) return text.size() > 1 && text[1] != '/' && is_plain_url_text(text);
  const auto url = parse_server(text.substr(0, text.find('#')));
  return url && has_scheme(*url, "http", "https") && !url->has_userinfo() && is_plain_url_text(text);
}

bool is_verifier_key(std::string_view text) {
  const auto first = text.find('+');
  if (first == 0 || first == text.npos || !is_plain_url_text(text)) return false;
  const auto digits = text.substr(first + 1, 8);
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  constexpr std::size_t base64_size = 44; // of 33 bytes
  return digits.size() == 8 && std::ranges::all_of(digits, is_digit)
         && text.size() == first + 1 + digits.size() + 1 + base64_size && text[first + 9] == '+';
}

bool is_host_and_port(std::string_view text) {
  const auto server = parse_server(std::string{"tcp://"}.append(text));
  return server && server->has_port() && !server->has_userinfo() && server->encoded_path().empty();
}

bool names_this_machine(std::string_view url) {
  const auto server = parse_server(url);
  if (!server) return false;
  const auto host = server->host_address();
  return host == "localhost" || is_loopback({host, 0});
}

std::string ledger_url_problem(std::string_view text) {
  const auto colon = text.find(':');
  const auto scheme = text.substr(0, colon);
  if (colon == std::string_view::npos) return "is not a ledger url; use sqlite:<file> or postgres://…";
  if (scheme == "postgres" || scheme == "postgresql") return postgres_url_problem(text);
  if (scheme == "sqlite") return text.size() == colon + 1 ? "names no file; use sqlite:<file>" : "";
  if (scheme == "memory") return text.size() == colon + 1 ? "" : "memory: takes no path";
  return std::string{"unsupported scheme \""}.append(scheme).append(
    "\"; supported are sqlite:<file>, postgres://…, postgresql://… and memory:");
}

std::string redis_url_problem(std::string_view text) {
  const bool has_sentinels = text.starts_with("redis-sentinel://") || text.starts_with("rediss-sentinel://");
  auto problem = has_sentinels ? sentinel_url_problem(text) : redis_server_problem(text);
  return problem.empty() ? login_problem(text, secrets_in(text)->login) : problem;
}

std::string smtp_url_problem(std::string_view text) {
  const auto url = parse_server(text);
  const bool ok = url && has_scheme(*url, "smtp", "smtps")
                  && text.find_first_of("?#@%") == std::string_view::npos
                  && url->encoded_path().find('/', 1) == std::string_view::npos;
  return ok ? ""
            : "must be like smtp://mail.example.com:587 or smtps://mail.example.com:465, without user and "
              "password";
}

std::string nats_urls_problem(std::string_view list) {
  const std::string form =
    "must be like nats://user:password@host:4222 or tls://host:4222, several with commas";
  const auto commas = static_cast<std::size_t>(std::count(list.begin(), list.end(), ','));
  const auto urls = split_list(list);
  if (!is_plain_url_text(list) || (!list.empty() && urls.size() != commas + 1)) return form;
  for (const auto& text : urls) {
    const auto url = parse_server(text);
    if (!url || !has_scheme(*url, "nats", "tls") || !url->encoded_path().empty() || url->has_query())
      return form;
    if (auto wrong = login_problem(text, secrets_in(text)->login); !wrong.empty()) return wrong;
  }
  return {};
}

std::string without_logins(std::string_view list) {
  std::string out;
  for (const auto& url : split_list(list)) {
    auto shown = without_password(url);
    const auto parts = secrets_in(url);
    if (parts && !parts->login.empty() && parts->login.find(':') == std::string_view::npos)
      shown.replace(static_cast<std::size_t>(parts->login.data() - url.data()), parts->login.size(), "***");
    out.append(out.empty() ? "" : ",").append(shown);
  }
  return out;
}

std::string without_password(std::string_view url) {
  std::string text{url};
  const auto parts = secrets_in(url);
  if (!parts) return text;
  const auto offset = [&](std::string_view part) {
    return static_cast<std::size_t>(part.data() - url.data());
  };
  // From the back, so that earlier offsets stay valid.
  if (!parts->query.empty())
    text.replace(offset(parts->query), parts->query.size(), masked_query{parts->query}.text);
  if (const auto colon = parts->login.find(':'); colon != std::string_view::npos)
    text.replace(offset(parts->login) + colon + 1, parts->login.size() - colon - 1, "***");
  return text;
}

std::optional<std::vector<witness_address>> witness_options::parsed_urls() const {
  std::vector<witness_address> all;
  for (const auto& one : split_list(urls)) {
    const auto blank = one.find(' ');
    if (blank == one.npos) return std::nullopt;
    const auto key_at = one.find_first_not_of(' ', blank);
    witness_address w{one.substr(0, blank), one.substr(key_at)};
    while (w.url.ends_with('/')) w.url.pop_back();
    if (!is_web_url(w.url) || !is_verifier_key(w.key)) return std::nullopt;
    all.push_back(std::move(w));
  }
  if (all.size() > limits::witnesses_max) return std::nullopt;
  return all;
}

} // namespace fq::config
