// SPDX-License-Identifier: Apache-2.0
#define CAF_SUITE clean_text
#include "caf/test/unit_test.hpp"

#include "print/clean_text.hpp"
#include "print/limits.hpp"

using namespace fq::print;

namespace {

std::string line(std::string_view text) { return clean_text(text, line_breaks::remove); }
std::string lines(std::string_view text) { return clean_text(text, line_breaks::keep); }

} // namespace

CAF_TEST(ordinary texts stay as they are) {
  for (const std::string text :
       {"", "Zoë Lefèvre", "محمد عبد الرحمن", "日本", "👩‍👩‍👧 <b>&amp;</b>", "עִבְרִית"})
    CAF_CHECK_EQUAL(line(text), text);
  CAF_CHECK_EQUAL(lines("a\nb"), "a\nb");
}

CAF_TEST(control characters go and line breaks become spaces) {
  CAF_CHECK_EQUAL(line(std::string_view{"a\0b\x07\x1b[1m\x7f", 9}), "ab[1m");
  CAF_CHECK_EQUAL(line("a\nb\tc\r\nd\u2028e\u2029f\u0085g"), "a b c d e f g");
  CAF_CHECK_EQUAL(lines("a\r\nb\u2028c\u0085"), "a\nb\nc\n");
  CAF_CHECK_EQUAL(line("\ufeffa\ufff9b\U000e0041c\u0099"), "abc");
}

CAF_TEST(overrides of the direction go and isolates must close) {
  CAF_CHECK_EQUAL(line("a\u202emoc.elpmaxe\u202cb\u202a\u202b\u202d"), "amoc.elpmaxeb");
  CAF_CHECK_EQUAL(line("\u2067a\u2069b"), "\u2067a\u2069b");
  CAF_CHECK_EQUAL(line("\u2067a\u2066b"), "ab");
  CAF_CHECK_EQUAL(line("a\u2069b"), "ab");
  CAF_CHECK_EQUAL(line("\u2067a\u2066b\u2069"), "a\u2066b\u2069");
  CAF_CHECK_EQUAL(lines("\u2067a\nb\u2069"), "a\nb");
}

CAF_TEST(invalid bytes are replaced) {
  CAF_CHECK_EQUAL(line("a\xff\xc3"), "a\ufffd\ufffd");
  CAF_CHECK_EQUAL(line("\xed\xa0\x80"), "\ufffd\ufffd\ufffd"); // a surrogate
  CAF_CHECK_EQUAL(line("\xc0\xaf"), "\ufffd\ufffd"); // a slash in two bytes
}

CAF_TEST(a letter has few marks and a text few bytes) {
  std::string marks;
  for (int i = 0; i < 200; ++i) marks += "\u0301";
  CAF_CHECK_EQUAL(line("e" + marks + "f"), "e\u0301\u0301\u0301\u0301f");
  std::string longest;
  while (longest.size() < text_bytes_max) longest += "ж"; // two bytes
  CAF_CHECK_EQUAL(line(longest), longest);
  CAF_CHECK_EQUAL(line(longest + "a"), longest + "…");
  CAF_CHECK_EQUAL(line("a" + longest), "a" + longest.substr(2) + "…");
}
