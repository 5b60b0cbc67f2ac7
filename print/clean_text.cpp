// SPDX-License-Identifier: Apache-2.0
#include "print/clean_text.hpp"

#include "print/limits.hpp"

#include <glib.h>

#include <vector>

namespace fq::print {
namespace {

constexpr char32_t replacement = 0xfffd;
constexpr char32_t pop_isolate = 0x2069;

bool is_line_break(char32_t c) { return c == '\n' || c == 0x85 || c == 0x2028 || c == 0x2029; }
bool opens_isolate(char32_t c) { return c >= 0x2066 && c <= 0x2068; }

bool is_removed(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) || c == 0xfeff
         || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c < 0xe0100); // annotations, tags
}

std::u32string decoded(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const auto c =
      text.front() == '\0' ? 0 : g_utf8_get_char_validated(text.data(), static_cast<gssize>(text.size()));
    const bool valid = c < static_cast<gunichar>(-2);
    out += valid ? static_cast<char32_t>(c) : replacement;
    text.remove_prefix(valid ? static_cast<std::size_t>(g_unichar_to_utf8(c, nullptr)) : 1);
  }
  return out;
}

std::string encoded(std::u32string_view text) {
  std::string out;
  for (const auto c : text) {
    char bytes[6];
    out.append(bytes, static_cast<std::size_t>(g_unichar_to_utf8(c, bytes)));
  }
  return out;
}

std::string_view cut(std::string_view text) {
  auto size = text_bytes_max;
  while (size > 0 && (text[size] & 0xc0) == 0x80) --size; // not within a character
  return text.substr(0, size);
}

std::u32string without_controls(std::u32string_view text, line_breaks breaks) {
  std::u32string out;
  int marks = 0;
  for (const auto c : text) {
    marks = g_unichar_ismark(c) ? marks + 1 : 0;
    if (is_line_break(c))
      out += breaks == line_breaks::keep ? U'\n' : U' ';
    else if (c == '\t')
      out += U' ';
    else if (!is_removed(c) && marks <= marks_max)
      out += c;
  }
  return out;
}

std::u32string without_open_isolates(std::u32string_view text) {
  std::vector<bool> kept(text.size(), true);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (opens_isolate(text[i])) {
      kept[i] = false;
      open.push_back(i);
    } else if (text[i] == pop_isolate) {
      kept[i] = !open.empty();
      if (open.empty()) continue;
      kept[open.back()] = true;
      open.pop_back();
    } else if (text[i] == '\n')
      open.clear();
  }
  std::u32string out;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (kept[i]) out += text[i];
  return out;
}

} // namespace

std::string clean_text(std::string_view text, line_breaks breaks) {
  const bool is_long = text.size() > text_bytes_max;
  auto clean = encoded(without_open_isolates(without_controls(decoded(is_long ? cut(text) : text), breaks)));
  return is_long ? clean + "…" : clean;
}

} // namespace fq::print
