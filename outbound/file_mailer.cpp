// SPDX-License-Identifier: Apache-2.0
// RFC 5322 text and its way to the disk.
#include "outbound/file_mailer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

namespace fq {
namespace {

constexpr std::size_t header_bytes_max = 320; // the longest address SMTP can carry; ample for a subject
constexpr std::size_t line_bytes_max = 998;   // RFC 5322 section 2.1.1
constexpr std::size_t body_bytes_max = 1024 * 1024;

bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool is_ascii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x80; });
}

bool is_address(std::string_view text) {
  const auto at = text.rfind('@');
  return at != std::string_view::npos && at > 0 && at + 1 < text.size() && text.size() <= header_bytes_max
         && is_printable(text) && text.find_first_of(" <>,;\"") == std::string_view::npos;
}

std::string to_base64(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= bytes.size() - i ? digits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

/// RFC 2047: ASCII stays as it is, anything else becomes encoded words of at most 75 characters, cut between
/// characters.
std::string header_text(std::string_view text) {
  if (is_ascii(text)) return std::string{text};
  constexpr std::size_t chunk_bytes_max = 45; // 60 characters of base64, with the 12 of "=?UTF-8?B?" and "?="
  std::string out;
  while (!text.empty()) {
    auto size = std::min(chunk_bytes_max, text.size());
    while (size > 1 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
    out.append(out.empty() ? "=?UTF-8?B?" : "\r\n =?UTF-8?B?")
        .append(to_base64(text.substr(0, size)))
        .append("?=");
    text.remove_prefix(size);
  }
  return out;
}

/// Lines ended by CRLF; nothing when a line is too long to travel.
bool append_body(std::string& out, std::string_view body) {
  while (!body.empty()) {
    const auto end = body.find('\n');
    auto line = body.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.size() > line_bytes_max
        || line.find_first_of(std::string_view{"\r\0", 2}) != std::string_view::npos)
      return false;
    out.append(line).append("\r\n");
    body = end == std::string_view::npos ? std::string_view{} : body.substr(end + 1);
  }
  return true;
}

/// A moment taken apart, UTC.
struct civil_time {
  std::chrono::year_month_day date;
  std::chrono::weekday weekday;
  std::chrono::hh_mm_ss<milliseconds> clock;

  explicit civil_time(timestamp t)
    : date{std::chrono::floor<std::chrono::days>(t)},
      weekday{std::chrono::floor<std::chrono::days>(t)},
      clock{t - std::chrono::floor<std::chrono::days>(t)} {}
};

std::string date_header(timestamp t) {
  static constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const civil_time c{t};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d +0000",
                days[c.weekday.c_encoding()], static_cast<unsigned>(c.date.day()),
                months[static_cast<unsigned>(c.date.month()) - 1], static_cast<int>(c.date.year()),
                static_cast<int>(c.clock.hours().count()), static_cast<int>(c.clock.minutes().count()),
                static_cast<int>(c.clock.seconds().count()));
  return text.data();
}

std::string sortable_time(timestamp t) {
  const civil_time c{t};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d%02u%02uT%02d%02d%02d.%03dZ", static_cast<int>(c.date.year()),
                static_cast<unsigned>(c.date.month()), static_cast<unsigned>(c.date.day()),
                static_cast<int>(c.clock.hours().count()), static_cast<int>(c.clock.minutes().count()),
                static_cast<int>(c.clock.seconds().count()), static_cast<int>(c.clock.subseconds().count()));
  return text.data();
}

std::string hex_of(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

bool write_and_sync(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd) == 0;
}

bool sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = ::fsync(fd) == 0;
  ::close(fd);
  return synced;
}

/// All of `text` under `file`, or nothing.
bool write_whole(const std::filesystem::path& folder, const std::string& name, std::string_view text) {
  const auto unfinished = folder / ("." + name + ".new");
  const int fd = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool written = write_and_sync(fd, text);
  const bool closed = ::close(fd) == 0;
  if (written && closed && ::rename(unfinished.c_str(), (folder / name).c_str()) == 0)
    return sync_folder(folder);
  ::unlink(unfinished.c_str());
  return false;
}

} // namespace

file_mailer::file_mailer(std::filesystem::path folder, std::string sender, environment& env)
  : folder_{std::move(folder)},
    sender_{std::move(sender)},
    env_{env} {
  if (std::filesystem::create_directories(folder_))
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
}

mail_result file_mailer::send(const mail_message& message) {
  if (!is_address(message.to) || !is_address(sender_) || !is_printable(message.subject)
      || message.subject.size() > header_bytes_max || message.body.size() > body_bytes_max)
    return mail_result::invalid_message;
  const auto now = env_.wall_now();
  const auto id = hex_of(env_.random_u64());
  std::string text;
  text.append("From: ").append(sender_).append("\r\nTo: ").append(message.to);
  text.append("\r\nSubject: ")
      .append(header_text(message.subject))
      .append("\r\nDate: ")
      .append(date_header(now));
  text.append("\r\nMessage-ID: <").append(sortable_time(now)).append(".").append(id).append("@fairqueue>");
  text.append("\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; "
              "charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n");
  if (!append_body(text, message.body)) return mail_result::invalid_message;
  const auto name = sortable_time(now) + "-" + id + ".eml";
  return write_whole(folder_, name, text) ? mail_result::accepted : mail_result::unavailable;
}

} // namespace fq
