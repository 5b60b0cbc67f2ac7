// SPDX-License-Identifier: Apache-2.0
// Calendar files: RFC 5545's lines, folding and escaping.
#define CAF_SUITE calendar_file
#include "display/calendar_file.hpp"

#include "caf/test/unit_test.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace calendar_file_test {

using namespace fq;

namespace {

calendar_event sample() {
  calendar_event e;
  e.id = "0197@fairqueue";
  e.name = "Derby; one, two\\three";
  e.place = "The Arena, Main Road";
  e.description = "Doors\nopen";
  e.url = "https://t.example/wait/0197";
  e.starts_at = from_unix_ms(1'796'149'800'000); // 2026-12-01T18:30:00Z
  e.ends_at = e.starts_at + std::chrono::hours{2};
  e.changed_at = from_unix_ms(1'795'000'000'000);
  e.at = calendar_event::position{6.4461, -3.4};
  return e;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const auto end = text.find("\r\n", from);
    CAF_REQUIRE(end != std::string::npos);
    lines.push_back(text.substr(from, end - from));
    from = end + 2;
  }
  return lines;
}

/// Folded lines put together.
std::vector<std::string> unfolded(const std::string& text) {
  std::vector<std::string> whole;
  for (const auto& line : lines_of(text))
    if (line.starts_with(' '))
      whole.back() += line.substr(1);
    else
      whole.push_back(line);
  return whole;
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

} // namespace

CAF_TEST(an event is one entry with its times in UTC) {
  const auto lines = unfolded(calendar_text(sample()));
  CAF_CHECK_EQUAL(lines.front(), "BEGIN:VCALENDAR");
  CAF_CHECK_EQUAL(lines.back(), "END:VCALENDAR");
  for (const auto* line : {"VERSION:2.0", "UID:0197@fairqueue", "DTSTART:20261201T183000Z",
                           "DTEND:20261201T203000Z", "STATUS:CONFIRMED", "URL:https://t.example/wait/0197"})
    if (!has(lines, line)) CAF_ERROR(std::string{"no line "} + line);
}

CAF_TEST(texts are escaped) {
  const auto lines = unfolded(calendar_text(sample()));
  CAF_CHECK(has(lines, "SUMMARY:Derby\\; one\\, two\\\\three"));
  CAF_CHECK(has(lines, "LOCATION:The Arena\\, Main Road"));
  CAF_CHECK(has(lines, "DESCRIPTION:Doors\\nopen"));
}

CAF_TEST(a name cannot add a line) {
  auto e = sample();
  e.name = "A\r\nATTENDEE:mailto:x@y.example";
  for (const auto& line : unfolded(calendar_text(e))) CAF_CHECK(!line.starts_with("ATTENDEE"));
}

CAF_TEST(long lines are folded between characters) {
  auto e = sample();
  e.name.clear();
  for (int i = 0; i < 60; ++i) e.name += "€ä ";
  const auto text = calendar_text(e);
  for (const auto& line : lines_of(text)) {
    CAF_CHECK(line.size() <= 75);
    const auto first = static_cast<unsigned char>(line.starts_with(' ') ? line[1] : line[0]);
    CAF_CHECK((first & 0xc0) != 0x80);
  }
  CAF_CHECK(has(unfolded(text), "SUMMARY:" + e.name));
}

CAF_TEST(what is not known is left out) {
  calendar_event e;
  e.id = "1";
  e.name = "A";
  e.starts_at = e.changed_at = sample().starts_at;
  e.is_cancelled = true;
  const auto lines = unfolded(calendar_text(e));
  for (const auto& line : lines)
    for (const auto* name : {"DTEND", "LOCATION", "DESCRIPTION", "URL", "GEO"})
      CAF_CHECK(!line.starts_with(name));
  CAF_CHECK(has(lines, "STATUS:CANCELLED"));
}

} // namespace calendar_file_test
