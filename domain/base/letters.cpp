// SPDX-License-Identifier: Apache-2.0
#include "domain/base/letters.hpp"

namespace fq {
namespace {

constexpr unsigned latin_first = 0xc0, latin_last = 0x17f;
/// The first letter of each, 16 a line.
constexpr std::string_view latin = "aaaaaaaceeeeiiii"
                                   "dnooooo*ouuuuyts"
                                   "aaaaaaaceeeeiiii"
                                   "dnooooo/ouuuuyty"
                                   "aaaaaaccccccccdd"
                                   "ddeeeeeeeeeegggg"
                                   "gggghhhhiiiiiiii"
                                   "iiiijjkkklllllll"
                                   "lllnnnnnnnnnoooo"
                                   "oooorrrrrrssssss"
                                   "ssttttttuuuuuuuu"
                                   "uuuuwwyyyzzzzzzs";
static_assert(latin.size() == latin_last - latin_first + 1);

/// Of the letters that are two in ASCII; 0: one.
constexpr char second_letter(unsigned code) {
  switch (code) {
    case 0xc6: // Æ
    case 0xe6:
    case 0x152: // Œ
    case 0x153: return 'e';
    case 0xde: // Þ
    case 0xfe: return 'h';
    case 0xdf: return 's'; // ß
    default: return 0;
  }
}

constexpr bool is_within(unsigned code, unsigned first, unsigned last) {
  return code >= first && code <= last;
}

/// `code`: of a character with two bytes.
void add(unsigned code, std::string& out) {
  if (is_within(code, latin_first, latin_last)) {
    out += latin[code - latin_first];
    if (const char second = second_letter(code)) out += second;
    return;
  }
  if (is_within(code, 0x218, 0x21b)) { // Romanian, with a comma below
    out += code < 0x21a ? 's' : 't';
    return;
  }
  if (is_within(code, 0x300, 0x36f)) return; // an accent behind its letter, as some phones write
  if (is_within(code, 0x400, 0x40f)) code += 0x50;
  if (is_within(code, 0x410, 0x42f)) code += 0x20;
  out += static_cast<char>(0xc0 | code >> 6);
  out += static_cast<char>(0x80 | (code & 0x3f));
}

} // namespace

std::string folded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    if ((c & 0xe0) == 0xc0 && (next & 0xc0) == 0x80) {
      add((c & 0x1fu) << 6 | (next & 0x3fu), out);
      ++i;
    } else {
      out += is_within(c, 'A', 'Z') ? static_cast<char>(c + ('a' - 'A')) : text[i];
    }
  }
  return out;
}

} // namespace fq
