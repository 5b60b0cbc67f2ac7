// SPDX-License-Identifier: Apache-2.0
// Conversion between text and typed values, one function per type. Error texts state what is allowed.
#include "config/table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <type_traits>

namespace fq::config {
namespace {

struct unit {
  std::string_view name;
  std::int64_t factor;
};
constexpr std::array duration_units{unit{"ms", 1}, unit{"s", 1000}, unit{"m", 60'000}, unit{"h", 3'600'000},
                                    unit{"d", 86'400'000}};
constexpr std::array byte_units{unit{"", 1}, unit{"B", 1}, unit{"KiB", 1024}, unit{"MiB", 1024 * 1024}};
constexpr std::array no_units{unit{"", 1}};

std::string in_quotes(std::string_view text) { return std::string{"\""}.append(text).append("\""); }

/// Parses an integer followed by one of `units`; empty if either is invalid or the product overflows.
template <std::size_t N>
std::optional<std::int64_t> parse_with_unit(std::string_view text, const std::array<unit, N>& units) {
  std::int64_t number = 0;
  const auto* end_of_text = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), end_of_text, number);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view name{end, static_cast<std::size_t>(end_of_text - end)};
  const auto found = std::find_if(units.begin(), units.end(), [&](const unit& u) { return u.name == name; });
  if (found == units.end()) return std::nullopt;
  std::int64_t product = 0;
  if (__builtin_mul_overflow(number, found->factor, &product)) return std::nullopt;
  return product;
}

std::string bytes_text(std::int64_t value) {
  for (auto u = byte_units.rbegin(); u != byte_units.rend(); ++u)
    if (value != 0 && value % u->factor == 0)
      return std::to_string(value / u->factor).append(u->factor == 1 ? "" : u->name);
  return std::to_string(value);
}

std::string number_text(const option_row& row, std::int64_t value) {
  if (row.type == value_type::duration) return duration_text(milliseconds{value});
  if (row.type == value_type::bytes) return bytes_text(value);
  return std::to_string(value);
}

std::string between(const option_row& row) {
  return number_text(row, row.low).append(" to ").append(number_text(row, row.high));
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const auto comma = text.find(',');
    auto item = text.substr(0, comma);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    items.emplace_back(item);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return items;
}

bool is_plain_url_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<'; });
}

/// The part after "http://" or "https://"; empty for another start.
std::optional<std::string_view> without_scheme(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (text.starts_with(scheme)) return text.substr(scheme.size());
  return std::nullopt;
}

bool is_host_and_port(std::string_view text) {
  return !text.empty() && is_plain_url_text(text) && text.find_first_of("/?#@") == std::string_view::npos;
}

bool is_url(std::string_view text) {
  const auto rest = without_scheme(text);
  if (!rest || !is_plain_url_text(*rest) || rest->ends_with('/')) return false;
  return is_host_and_port(rest->substr(0, rest->find('/')))
         && rest->find_first_of("?#") == std::string_view::npos;
}

bool is_origin(std::string_view text) {
  if (text == "*") return true;
  const auto rest = without_scheme(text);
  return rest && is_host_and_port(*rest)
         && std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// The parts of "scheme://authority/path?query"; empty if "://" is missing.
struct url_parts {
  std::string_view scheme;
  std::string_view user_info; ///< "user:password", without the @
  std::string_view hosts;
  std::string_view path; ///< without the leading slash
  std::string_view query; ///< without the question mark
};

std::optional<url_parts> split_url(std::string_view text) {
  const auto colon = text.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  url_parts parts{.scheme = text.substr(0, colon), .user_info = {}, .hosts = {}, .path = {}, .query = {}};
  auto rest = text.substr(colon + 3);
  if (const auto mark = rest.find('?'); mark != std::string_view::npos) {
    parts.query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    parts.path = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    parts.user_info = rest.substr(0, at);
    rest = rest.substr(at + 1);
  }
  parts.hosts = rest;
  return parts;
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
      text.append(text.empty() ? "" : "&");
      if (is_password)
        text.append(name).append("=***");
      else
        text.append(pair);
      query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    }
  }
};

/// Refuses reserved characters in a password: this parser (which masks it) and the client library would cut
/// it at the wrong place.
std::string check_credentials(std::string_view text, const url_parts& parts) {
  const bool once = std::count(text.begin(), text.end(), '@') == (parts.user_info.empty() ? 0 : 1);
  if (once && std::count(parts.user_info.begin(), parts.user_info.end(), ':') <= 1) return {};
  return "must have at most one @ and user:password before it; write other such characters as %40, %3A, %2F, "
         "%3F";
}

/// Does not check hosts and parameters: libpq's parser does that at the start.
std::string check_postgres_url(std::string_view text) {
  const auto parts = split_url(text);
  if (!parts || !is_plain_url_text(text)) return "must be like postgres://user:password@host:5432/database";
  if (auto wrong = check_credentials(text, *parts); !wrong.empty()) return wrong;
  if (!masked_query{parts->query}.plain_names) return "has a parameter whose name is not one of libpq's";
  return {};
}

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port >= 1 && port <= 65535;
}

bool is_one_host(std::string_view text) {
  const auto colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos && !text.ends_with(']');
  if (has_port && !is_port(text.substr(colon + 1))) return false;
  const auto host = has_port ? text.substr(0, colon) : text;
  if (host.starts_with('['))
    return host.ends_with(']') && parse_ip(host.substr(1, host.size() - 2)).has_value();
  return !host.empty() && host.find_first_of(":,[]#%") == std::string_view::npos;
}

std::string check_redis_url(std::string_view text) {
  const auto parts = split_url(text);
  if (parts && parts->scheme == "rediss")
    return "rediss:// needs TLS, which Debian's hiredis is built without";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!parts || parts->scheme != "redis" || !is_plain_url_text(text)
      || text.find('?') != std::string_view::npos || !is_one_host(parts->hosts) || parts->path.size() > 4
      || !std::all_of(parts->path.begin(), parts->path.end(), is_digit))
    return "must be like redis://user:password@host:6379/0";
  return check_credentials(text, *parts);
}

/// "smtp://host:587/name"; user and password are separate options.
std::string check_smtp_url(std::string_view text) {
  const auto parts = split_url(text);
  const bool ok = parts && (parts->scheme == "smtp" || parts->scheme == "smtps") && is_plain_url_text(text)
                  && is_one_host(parts->hosts) && text.find_first_of("?#@%") == std::string_view::npos
                  && parts->path.find('/') == std::string_view::npos;
  return ok ? ""
            : "must be like smtp://mail.example.com:587 or smtps://mail.example.com:465, without user and "
              "password";
}

bool is_nats_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '-' || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

bool is_nats_subject(std::string_view text) {
  for (auto dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    if (!is_nats_word(text.substr(0, dot))) return false;
    text.remove_prefix(dot + 1);
  }
  return is_nats_word(text);
}

std::string check_nats_urls(std::string_view list) {
  const std::string form =
    "must be like nats://user:password@host:4222 or tls://host:4222, several with commas";
  if (!is_plain_url_text(list) || list.ends_with(',')) return form;
  for (const auto& url : split_list(list)) {
    const auto parts = split_url(url);
    if (!parts || (parts->scheme != "nats" && parts->scheme != "tls") || !is_one_host(parts->hosts)
        || !parts->path.empty() || url.find_first_of("?#/", parts->scheme.size() + 3) != std::string::npos)
      return form;
    if (auto wrong = check_credentials(url, *parts); !wrong.empty()) return wrong;
  }
  return {};
}

/// Masks the password of "user:password@", and all of "token@".
std::string without_secrets(std::string_view list) {
  std::string out;
  for (const auto& url : split_list(list)) {
    auto shown = without_password(url);
    const auto parts = split_url(url);
    if (parts && !parts->user_info.empty() && parts->user_info.find(':') == std::string_view::npos)
      shown.replace(parts->scheme.size() + 3, parts->user_info.size(), "***");
    out.append(out.empty() ? "" : ",").append(shown);
  }
  return out;
}

bool is_mail_address(std::string_view text) {
  const auto at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at > 64 || text.size() > 320) return false;
  const auto host = text.substr(at + 1);
  const auto plain = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return c > 0x20 && c < 0x7f && std::string_view{"\"(),:;<>@[\\]"}.find(c) == std::string_view::npos;
    });
  };
  return plain(text.substr(0, at)) && plain(host) && host.front() != '.' && host.back() != '.'
         && host.find("..") == std::string_view::npos;
}

std::string check_ledger_url(std::string_view text) {
  const auto colon = text.find(':');
  const auto scheme = text.substr(0, colon);
  if (colon == std::string_view::npos) return "is not a ledger url; use sqlite:<file> or postgres://…";
  if (scheme == "postgres" || scheme == "postgresql") return check_postgres_url(text);
  if (scheme == "sqlite") return text.size() == colon + 1 ? "names no file; use sqlite:<file>" : "";
  if (scheme == "memory") return text.size() == colon + 1 ? "" : "memory: takes no path";
  return std::string{"unsupported scheme "}
    .append(in_quotes(scheme))
    .append("; supported are sqlite:<file>, postgres://…, postgresql://… and memory:");
}

bool is_node_id(std::string_view text) {
  return text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
         });
}

std::string read_url_path(std::string_view text, std::string& out) {
  const bool ok = text.starts_with('/') && is_plain_url_text(text)
                  && text.find("//") == std::string_view::npos
                  && text.find_first_of("?#%") == std::string_view::npos;
  if (!ok || (text.size() > 1 && text.ends_with('/')))
    return "must be \"/\" or like \"/tickets\", without a slash at the end";
  out = text == "/" ? std::string_view{} : text;
  return {};
}

/// Not "/" itself: GET / would redirect to itself.
bool is_page_address(std::string_view text) {
  if (const auto rest = without_scheme(text))
    return is_plain_url_text(text) && is_host_and_port(rest->substr(0, rest->find_first_of("/?#")));
  return text.size() > 1 && text[0] == '/' && text[1] != '/' && is_plain_url_text(text);
}

std::string read_choice(const option_row& row, std::string_view text, std::string& out) {
  for (auto rest = row.choices; !rest.empty();) {
    const auto bar = rest.find('|');
    if (rest.substr(0, bar) == text) {
      out = text;
      return {};
    }
    rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 1);
  }
  return std::string{"must be one of "}.append(row.choices);
}

bool is_line(std::string_view text) {
  return !text.empty() && text.size() <= 1024
         && std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string read(const option_row& row, std::string_view text, std::string& out) {
  switch (row.type) {
    case value_type::url_path: return read_url_path(text, out);
    case value_type::choice: return read_choice(row, text, out);
    case value_type::url:
      if (!is_url(text) && !(text.empty() && row.default_text.empty()))
        return "must be like https://tickets.example.com, without a slash at the end";
      break;
    case value_type::ledger_url:
      if (auto wrong = check_ledger_url(text); !wrong.empty()) return wrong;
      break;
    case value_type::cache_url:
      if (auto wrong = text.empty() ? std::string{} : check_redis_url(text); !wrong.empty()) return wrong;
      break;
    case value_type::smtp_url:
      if (auto wrong = text.empty() ? std::string{} : check_smtp_url(text); !wrong.empty()) return wrong;
      break;
    case value_type::nats_url:
      if (auto wrong = check_nats_urls(text); !wrong.empty()) return wrong;
      break;
    case value_type::nats_name:
      if (!is_nats_word(text)) return "must be letters, digits, - and _";
      break;
    case value_type::optional_nats_subject:
      if (!text.empty() && !is_nats_subject(text)) return "must be like mail.send, without wildcards";
      break;
    case value_type::nats_subject:
      if (!is_nats_subject(text)) return "must be like mail.send, without wildcards";
      break;
    case value_type::page_address:
      if (!is_page_address(text)) return "must be like /shop or https://www.example.com/tickets";
      break;
    case value_type::mail_address:
      if (!is_mail_address(text)) return "must be a mail address like no-reply@example.com";
      break;
    case value_type::optional_text:
    case value_type::password:
      if (!text.empty() && !is_line(text)) return "must be one line of at most 1024 characters";
      break;
    case value_type::node_id:
      if (!is_node_id(text)) return "must be at most 64 of a-z, 0-9 and -";
      break;
    case value_type::text:
    case value_type::path:
    case value_type::optional_path:
    case value_type::endpoint:
    case value_type::origins:
    case value_type::blocks:
    case value_type::count:
    case value_type::bytes:
    case value_type::duration:
    case value_type::boolean:
      if (!is_line(text)) return "must be one line of 1 to 1024 characters";
  }
  out = text;
  return {};
}

std::string read(const option_row& row, std::string_view text, std::filesystem::path& out) {
  const bool none = text.empty() && row.type == value_type::optional_path;
  if (!none && !is_line(text)) return "must be a path";
  out = std::filesystem::path{text};
  return {};
}

std::string read(const option_row&, std::string_view text, endpoint& out) {
  const auto parsed = parse_endpoint(text);
  if (!parsed) return "must be a numeric address with a port, like 127.0.0.1:8080 or [::1]:8080";
  out = *parsed;
  return {};
}

std::string read(const option_row&, std::string_view text, std::vector<std::string>& out) {
  auto items = split_list(text);
  for (const auto& item : items)
    if (!is_origin(item))
      return in_quotes(item).append(" is not an origin like https://shop.example.com (lower case, no path)");
  out = std::move(items);
  return {};
}

std::string read(const option_row&, std::string_view text, std::vector<address_block>& out) {
  std::vector<address_block> parsed_blocks;
  for (const auto& item : split_list(text)) {
    const auto block = parse_address_block(item);
    if (!block)
      return in_quotes(item).append(
        " is not an address block like 10.0.0.0/8 (bits beyond the prefix must be zero)");
    parsed_blocks.push_back(*block);
  }
  out = std::move(parsed_blocks);
  return {};
}

std::string read(const option_row& row, std::string_view text, std::int64_t& out) {
  const auto value =
    row.type == value_type::bytes ? parse_with_unit(text, byte_units) : parse_with_unit(text, no_units);
  if (!value) return row.type == value_type::bytes ? "must be a size like 16KiB" : "must be a whole number";
  if (*value < row.low || *value > row.high) return std::string{"must be "}.append(between(row));
  out = *value;
  return {};
}

std::string read(const option_row& row, std::string_view text, milliseconds& out) {
  const auto value = parse_with_unit(text, duration_units);
  if (!value) return "must be a time with a unit (ms, s, m, h, d), like 500ms or 10m";
  if (*value < row.low || *value > row.high) return std::string{"must be "}.append(between(row));
  out = milliseconds{*value};
  return {};
}

std::string read(const option_row&, std::string_view text, bool& out) {
  if (text != "true" && text != "false") return "must be true or false";
  out = text == "true";
  return {};
}

std::string read(const option_row& row, std::string_view text, environment_kind& out) {
  std::string chosen;
  auto wrong = read_choice(row, text, chosen);
  if (wrong.empty())
    out = chosen == "production" ? environment_kind::production : environment_kind::development;
  return wrong;
}

std::string show(const option_row& row, const std::string& value) {
  if (row.type == value_type::password) return value.empty() ? "" : "***";
  if (row.type == value_type::nats_url) return without_secrets(value);
  return row.type == value_type::url_path && value.empty() ? "/" : value;
}
std::string show(const option_row&, const std::filesystem::path& value) { return value.string(); }
std::string show(const option_row&, const endpoint& value) { return to_string(value); }
std::string show(const option_row& row, std::int64_t value) { return number_text(row, value); }
std::string show(const option_row&, milliseconds value) { return duration_text(value); }
std::string show(const option_row&, bool value) { return value ? "true" : "false"; }
std::string show(const option_row&, environment_kind value) {
  return value == environment_kind::production ? "production" : "development";
}
std::string show(const option_row&, const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text.append(text.empty() ? "" : ",").append(item);
  return text;
}
std::string show(const option_row& row, const std::vector<address_block>& items) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(to_string(item));
  return show(row, texts);
}

} // namespace

std::string assign(const option_row& row, std::string_view text, options& out) {
  return std::visit([&](auto access) { return read(row, text, access(out)); }, row.where);
}

std::string value_text(const option_row& row, const options& from) {
  // The table gives write access, so read from a copy to keep `from` const.
  options copy = from;
  auto shown = std::visit([&](auto access) { return show(row, access(copy)); }, row.where);
  const bool masked = row.type == value_type::password || row.type == value_type::nats_url;
  return row.secret && !masked ? without_password(shown) : shown;
}

std::string without_password(std::string_view url) {
  std::string text{url};
  const auto parts = split_url(url);
  if (!parts) return text;
  const auto offset = [&](std::string_view part) {
    return static_cast<std::size_t>(part.data() - url.data());
  };
  // From the back, so that earlier offsets stay valid.
  if (!parts->query.empty())
    text.replace(offset(parts->query), parts->query.size(), masked_query{parts->query}.text);
  if (const auto colon = parts->user_info.find(':'); colon != std::string_view::npos)
    text.replace(offset(parts->user_info) + colon + 1, parts->user_info.size() - colon - 1, "***");
  return text;
}

std::string duration_text(milliseconds value) {
  for (auto u = duration_units.rbegin(); u != duration_units.rend(); ++u)
    if (value.count() != 0 && value.count() % u->factor == 0) {
      // Days only from 2 on: "24h" is more readable than "1d".
      if (u->name == "d" && value.count() == u->factor) continue;
      return std::to_string(value.count() / u->factor).append(u->name);
    }
  return "0s";
}

std::string range_text(const option_row& row) {
  switch (row.type) {
    case value_type::text: return "text";
    case value_type::optional_text:
    case value_type::password: return "text or empty";
    case value_type::path: return "path";
    case value_type::optional_path: return "path or empty";
    case value_type::endpoint: return "address:port";
    case value_type::url: return "url";
    case value_type::ledger_url: return "sqlite:<file>, postgres://…, or memory:";
    case value_type::cache_url: return "redis://… or empty";
    case value_type::smtp_url: return "smtp://… or smtps://…, or empty";
    case value_type::nats_url: return "nats://… or tls://…, or empty";
    case value_type::nats_name: return "letters, digits, -, _";
    case value_type::nats_subject: return "words with dots between";
    case value_type::optional_nats_subject: return "words with dots between, or empty";
    case value_type::mail_address: return "mail address";
    case value_type::node_id: return "at most 64 of a-z, 0-9, -";
    case value_type::url_path: return "path of a url";
    case value_type::page_address: return "path or url of a page";
    case value_type::origins: return "list of origins";
    case value_type::blocks: return "list of address blocks";
    case value_type::boolean: return "true or false";
    case value_type::choice: {
      std::string text{row.choices};
      for (auto bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar))
        text.replace(bar, 1, ", ");
      return text;
    }
    case value_type::count:
    case value_type::bytes:
    case value_type::duration: return between(row);
  }
  return {};
}

} // namespace fq::config
