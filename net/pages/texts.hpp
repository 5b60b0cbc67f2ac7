// SPDX-License-Identifier: Apache-2.0
// Texts of pages: the visitor's language, CLDR plural rules, numbers and waiting times. Pure functions over
// web/page_texts; web/sdk/estimate.mjs does the same in browsers. Independent of HTML.
#pragma once
#include "domain/model/language.hpp"
#include "domain/sale/views.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace fq::net {

/// CLDR's categories, in the order of web/texts.mjs.
enum class plural_form : std::uint8_t { zero, one, two, few, many, other };
/// For a whole number.
[[nodiscard]] plural_form plural_of(language l, std::uint64_t n);

/// With the language's grouping and Latin digits: "12,345".
[[nodiscard]] std::string number_text(language l, std::uint64_t n);

using words = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// The text of a key. Throws std::logic_error for an unknown key, which is a defect.
[[nodiscard]] std::string_view text(language l, std::string_view key);
/// Replaces every {name}.
[[nodiscard]] std::string text(language l, std::string_view key, words values);
/// The plural form for `n`, which replaces {n}.
[[nodiscard]] std::string counted(language l, std::string_view key, std::uint64_t n, words values = {});

/// A range: the low end rounded down, the high end up, in minutes, or in hours from 2 h. Negative: unknown.
[[nodiscard]] std::string wait_text(language l, std::int64_t low_seconds, std::int64_t high_seconds);

/// Tickets left, and tickets that the people ahead will buy. Empty for a place without odds.
[[nodiscard]] std::string odds_text(language l, const outlook& odds);
/// The chance that a ticket is left; empty: not known.
[[nodiscard]] std::string chance_text(language l, const outlook& odds);

/// {"key": {"other": "..."}, ...}: for scripts, in the format of web/sdk/estimate.mjs.
[[nodiscard]] std::string texts_json(language l, std::initializer_list<std::string_view> keys);
/// Of all keys that begin so.
[[nodiscard]] std::string prefixed_texts_json(language l, std::string_view prefix);

} // namespace fq::net
