// SPDX-License-Identifier: Apache-2.0
#include "net/http/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace fq::net {
namespace {

void write_digits(char* to, unsigned value, int count) {
  for (int i = count - 1; i >= 0; --i, value /= 10) to[i] = static_cast<char>('0' + value % 10);
}

constexpr std::size_t time_size = 24; ///< "2026-11-21T02:43:18.123Z"

void write_time(timestamp when, char* to) {
  using namespace std::chrono;
  const auto day = floor<days>(when);
  const year_month_day date{day};
  const hh_mm_ss clock{when - day};
  write_digits(to, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  to[4] = '-';
  write_digits(to + 5, static_cast<unsigned>(date.month()), 2);
  to[7] = '-';
  write_digits(to + 8, static_cast<unsigned>(date.day()), 2);
  to[10] = 'T';
  write_digits(to + 11, static_cast<unsigned>(clock.hours().count()), 2);
  to[13] = ':';
  write_digits(to + 14, static_cast<unsigned>(clock.minutes().count()), 2);
  to[16] = ':';
  write_digits(to + 17, static_cast<unsigned>(clock.seconds().count()), 2);
  to[19] = '.';
  write_digits(to + 20, static_cast<unsigned>(clock.subseconds().count()), 3);
  to[23] = 'Z';
}

/// Reads exactly `count` digits; returns -1 if there are fewer.
int read_digits(std::string_view text, std::size_t from, std::size_t count) {
  if (from + count > text.size()) return -1;
  int value = 0;
  for (const char c : text.substr(from, count)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

/// Reads ".123456" as milliseconds and moves `at` behind it; returns -1 if malformed.
int read_fraction(std::string_view text, std::size_t& at) {
  if (at >= text.size() || text[at] != '.') return 0;
  int value = 0, digits = 0;
  for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits)
    if (digits < 3) value = value * 10 + (text[at] - '0');
  if (digits == 0 || digits > 9) return -1;
  for (; digits < 3; ++digits) value *= 10;
  return value;
}

/// Reads "Z" or "+01:00": the offset to subtract to get UTC.
std::optional<std::chrono::minutes> read_offset(std::string_view text) {
  if (text == "Z" || text == "z") return std::chrono::minutes{0};
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const int hours = read_digits(text, 1, 2), minutes = read_digits(text, 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  const std::chrono::minutes offset{hours * 60 + minutes};
  return text[0] == '+' ? offset : -offset;
}

} // namespace

void append_text(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  std::size_t clean_from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, clean_from, i - clean_from);
    clean_from = i + 1;
    out += '\\';
    if (c == '"' || c == '\\') {
      out += static_cast<char>(c);
    } else {
      out += "u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    }
  }
  out.append(text, clean_from, std::string_view::npos);
  out += '"';
}

void append_number(std::string& out, std::int64_t value) { append_integer(out, value); }

void append_unsigned(std::string& out, std::uint64_t value) { append_integer(out, value); }

void append_id(std::string& out, const uuid& id) {
  char buffer[38];
  buffer[0] = buffer[37] = '"';
  write_text(id, buffer + 1);
  out.append(buffer, sizeof buffer);
}

void append_time(std::string& out, timestamp when) {
  if (!is_set(when)) {
    out += "null";
    return;
  }
  char buffer[time_size + 2];
  buffer[0] = buffer[time_size + 1] = '"';
  write_time(when, buffer + 1);
  out.append(buffer, sizeof buffer);
}

void append_hundredths(std::string& out, std::uint64_t hundredths) {
  append_integer(out, hundredths / 100);
  const auto rest = static_cast<unsigned>(hundredths % 100);
  if (rest == 0) return;
  out += '.';
  out += static_cast<char>('0' + rest / 10);
  if (rest % 10 != 0) out += static_cast<char>('0' + rest % 10);
}

std::string rfc3339(timestamp when) {
  std::string text(time_size, '\0');
  write_time(when, text.data());
  return text;
}

std::optional<timestamp> parse_rfc3339(std::string_view text) {
  using namespace std::chrono;
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't')
      || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const int y = read_digits(text, 0, 4), mo = read_digits(text, 5, 2), d = read_digits(text, 8, 2);
  const int h = read_digits(text, 11, 2), mi = read_digits(text, 14, 2), s = read_digits(text, 17, 2);
  if (y < 1 || mo < 1 || d < 1 || h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 59)
    return std::nullopt;
  const year_month_day date{year{y}, month{static_cast<unsigned>(mo)}, day{static_cast<unsigned>(d)}};
  if (!date.ok()) return std::nullopt;
  std::size_t at = 19;
  const int ms = read_fraction(text, at);
  const auto offset = read_offset(text.substr(at));
  if (ms < 0 || !offset) return std::nullopt;
  return time_point_cast<milliseconds>(sys_days{date} + hours{h} + minutes{mi} + std::chrono::seconds{s}
                                       + std::chrono::milliseconds{ms} - *offset);
}

} // namespace fq::net
