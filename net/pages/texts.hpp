// SPDX-License-Identifier: Apache-2.0
// What pages say and how: the visitor's language, CLDR plural rules, numbers and waits in words. Pure
// functions over web/page_texts; web/sdk/estimate.mjs says the same in browsers. Knows no HTML.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace fq::net {

/// In the order of web/texts.mjs.
enum class language : std::uint8_t { en, fr, es, hr, ar };
inline constexpr std::array all_languages{language::en, language::fr, language::es, language::hr,
                                          language::ar};

/// "en", ...
[[nodiscard]] std::string_view tag_of(language l);
[[nodiscard]] std::optional<language> language_of(std::string_view tag);
[[nodiscard]] bool is_right_to_left(language l);
/// The best of an Accept-Language (RFC 9110 section 12.5.4); English if there is none that we have.
[[nodiscard]] language negotiate(std::string_view accept_language);

/// CLDR's categories, in the order of web/texts.mjs.
enum class plural_form : std::uint8_t { zero, one, two, few, many, other };
/// Of a whole number.
[[nodiscard]] plural_form plural_of(language l, std::uint64_t n);

/// With the language's grouping and Latin digits: "12,345".
[[nodiscard]] std::string number_text(language l, std::uint64_t n);

using words = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// The text of that key. A misspelt key is a programmer's mistake: std::logic_error, which the first test
/// that asks for the page meets.
[[nodiscard]] std::string_view text(language l, std::string_view key);
/// With every {name} replaced.
[[nodiscard]] std::string text(language l, std::string_view key, words values);
/// In the form that goes with `n`, which {n} stands for.
[[nodiscard]] std::string counted(language l, std::string_view key, std::uint64_t n, words values = {});

/// An honest range: the low end rounded down, the high end up, in minutes and from two hours on in hours.
/// Negative: nobody knows.
[[nodiscard]] std::string wait_text(language l, std::int64_t low_seconds, std::int64_t high_seconds);

/// {"key": {"other": "..."}, ...}: for scripts, in the form that web/sdk/estimate.mjs reads.
[[nodiscard]] std::string texts_json(language l, std::initializer_list<std::string_view> keys);

} // namespace fq::net
