// SPDX-License-Identifier: Apache-2.0
// Conversion between text and typed values, one function per type. Error texts state what is allowed.
#include "config/table.hpp"
#include "config/urls.hpp"

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
  return !text.empty() && text.size() <= limits::value_bytes_max
         && std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string read(const option_row& row, std::string_view text, std::string& out) {
  switch (row.type) {
    case value_type::url_path: return read_url_path(text, out);
    case value_type::choice: return read_choice(row, text, out);
    case value_type::url:
      if (!is_web_url(text) && !(text.empty() && row.default_text.empty()))
        return "must be like https://tickets.example.com, without a slash at the end";
      break;
    case value_type::ledger_url:
      if (auto wrong = ledger_url_problem(text); !wrong.empty()) return wrong;
      break;
    case value_type::cache_url:
      if (auto wrong = text.empty() ? std::string{} : redis_url_problem(text); !wrong.empty()) return wrong;
      break;
    case value_type::smtp_url:
      if (auto wrong = text.empty() ? std::string{} : smtp_url_problem(text); !wrong.empty()) return wrong;
      break;
    case value_type::nats_url:
      if (auto wrong = nats_urls_problem(text); !wrong.empty()) return wrong;
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
    case value_type::address_port:
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
      return "\"" + item + "\" is not an origin like https://shop.example.com (lower case, no path)";
  out = std::move(items);
  return {};
}

std::string read(const option_row&, std::string_view text, std::vector<address_block>& out) {
  std::vector<address_block> parsed_blocks;
  for (const auto& item : split_list(text)) {
    const auto block = parse_address_block(item);
    if (!block)
      return "\"" + item + "\" is not an address block like 10.0.0.0/8 (bits beyond the prefix must be zero)";
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
  if (row.type == value_type::nats_url) return without_logins(value);
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
    case value_type::address_port: return "address:port";
    case value_type::url: return "url";
    case value_type::ledger_url: return "sqlite:<file>, postgres://…, or memory:";
    case value_type::cache_url: return "redis://…, rediss://…, redis-sentinel://…, or empty";
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
