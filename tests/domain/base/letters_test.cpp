// SPDX-License-Identifier: Apache-2.0
#define CAF_SUITE letters
#include "caf/test/unit_test.hpp"

#include "domain/base/letters.hpp"

namespace letters_test {

using fq::folded;

CAF_TEST(names are found without case and accents) {
  for (const auto* same : {"ŠIMIĆ", "šimić", "Simic", "S\u030cimic\u0301"})
    CAF_CHECK_EQUAL(folded(same), "simic");
  CAF_CHECK_EQUAL(folded("Đorđe Žižek"), "dorde zizek");
  CAF_CHECK_EQUAL(folded("ÀÉÎÕÜ Çelik Łódź Şahin"), "aeiou celik lodz sahin");
  CAF_CHECK_EQUAL(folded("Weiß Lœtitia Ærø Þór"), "weiss loetitia aero thor");
  CAF_CHECK_EQUAL(folded("ÿŸſ"), "yys"); // the last of their blocks
  CAF_CHECK_EQUAL(folded("Ștefan ȘȚșț"), "stefan stst");
  CAF_CHECK_EQUAL(folded("АНЯ Ёлкина Ђорђе"), "аня ёлкина ђорђе");
}

CAF_TEST(other letters and broken text stay as they are) {
  for (const auto* as_it_is :
       {"", "o'brien-2", "مريم", "Γιώργος", "李雷", "🎫", "\xc5", "\xc5z", "\x80\xbf", "\xe2\x80"})
    CAF_CHECK_EQUAL(folded(as_it_is), as_it_is);
}

} // namespace letters_test
