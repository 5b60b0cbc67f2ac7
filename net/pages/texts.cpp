// SPDX-License-Identifier: Apache-2.0
#include "net/pages/texts.hpp"

#include "net/wire/codec.hpp"
#include "web/page_texts.hpp"

#include <algorithm>
#include <stdexcept>

namespace fq::net {
namespace {

struct locale {
  std::string_view group; ///< separator of thousands
  std::uint64_t group_from; ///< smallest number with separators: Spanish writes 1234 but 12.345
};
constexpr std::array<locale, all_languages.size()> locales{{
  {",", 1'000}, // en
  {"\u202f", 1'000}, // fr
  {".", 10'000}, // es
  {".", 1'000}, // hr
  {",", 1'000}, // ar
}};

const locale& locale_of(language l) { return locales[static_cast<std::size_t>(l)]; }

const web::page_text& row_of(language l, std::string_view key) {
  const auto all = web::page_texts(static_cast<std::size_t>(l));
  const auto found = std::ranges::lower_bound(all, key, {}, &web::page_text::key);
  if (found == all.end() || found->key != key)
    throw std::logic_error("no text of the name " + std::string{key});
  return *found;
}

std::string_view form_of(const web::page_text& text, plural_form wanted) {
  const auto given = text.forms[static_cast<std::size_t>(wanted)];
  return given.empty() ? text.forms[static_cast<std::size_t>(plural_form::other)] : given;
}

std::string filled(std::string_view pattern, words values) {
  std::string out;
  while (!pattern.empty()) {
    const auto open = std::min(pattern.find('{'), pattern.size());
    out += pattern.substr(0, open);
    pattern.remove_prefix(open);
    const auto close = pattern.find('}');
    if (close == std::string_view::npos) {
      out += pattern;
      break;
    }
    const auto name = pattern.substr(1, close - 1);
    const auto found = std::ranges::find(values, name, [](const auto& v) { return v.first; });
    out += found == values.end() ? pattern.substr(0, close + 1) : found->second;
    pattern.remove_prefix(close + 1);
  }
  return out;
}

/// French and Spanish use the form "many" ("un million de") for multiples of 1,000,000.
bool is_millions(std::uint64_t n) { return n != 0 && n % 1'000'000 == 0; }

constexpr std::array form_names{"zero", "one", "two", "few", "many", "other"};

/// Appends "key": {"other": "..."} to an object.
void append_forms(std::string& out, const web::page_text& row) {
  if (out.back() != '{') out += ',';
  append_text(out, row.key);
  out += ":{";
  for (std::size_t i = 0; i < row.forms.size(); ++i) {
    if (row.forms[i].empty()) continue;
    if (out.back() != '{') out += ',';
    append_text(out, form_names[i]);
    out += ':';
    append_text(out, row.forms[i]);
  }
  out += '}';
}

} // namespace

plural_form plural_of(language l, std::uint64_t n) {
  const auto tens = n % 100, ones = n % 10;
  switch (l) {
    case language::en: return n == 1 ? plural_form::one : plural_form::other;
    case language::fr:
      return n <= 1 ? plural_form::one : is_millions(n) ? plural_form::many : plural_form::other;
    case language::es:
      return n == 1 ? plural_form::one : is_millions(n) ? plural_form::many : plural_form::other;
    case language::hr:
      if (ones == 1 && tens != 11) return plural_form::one;
      return ones >= 2 && ones <= 4 && (tens < 12 || tens > 14) ? plural_form::few : plural_form::other;
    case language::ar:
      if (n <= 2) return n == 0 ? plural_form::zero : n == 1 ? plural_form::one : plural_form::two;
      if (tens >= 3 && tens <= 10) return plural_form::few;
      return tens >= 11 ? plural_form::many : plural_form::other;
  }
  return plural_form::other;
}

std::string number_text(language l, std::uint64_t n) {
  auto digits = std::to_string(n);
  const auto& locale = locale_of(l);
  if (n < locale.group_from) return digits;
  for (auto at = digits.size(); at > 3;) digits.insert(at -= 3, locale.group);
  return digits;
}

std::string_view text(language l, std::string_view key) {
  return form_of(row_of(l, key), plural_form::other);
}

std::string text(language l, std::string_view key, words values) { return filled(text(l, key), values); }

std::string counted(language l, std::string_view key, std::uint64_t n, words values) {
  const auto number = number_text(l, n);
  const auto once = filled(form_of(row_of(l, key), plural_of(l, n)), values);
  return filled(once, {{"n", number}});
}

std::string wait_text(language l, std::int64_t low_seconds, std::int64_t high_seconds) {
  if (low_seconds < 0 || high_seconds < 0) return std::string{text(l, "wait_unknown")};
  if (high_seconds < 60) return std::string{text(l, "wait_short")};
  const bool in_hours = high_seconds >= 7'200;
  const std::int64_t unit = in_hours ? 3'600 : 60;
  const auto low = static_cast<std::uint64_t>(low_seconds / unit),
             high = static_cast<std::uint64_t>((high_seconds + unit - 1) / unit);
  if (low == 0) return counted(l, in_hours ? "wait_up_to_hours" : "wait_up_to_minutes", high);
  if (low == high) return counted(l, in_hours ? "wait_hours" : "wait_minutes", high);
  const auto low_text = number_text(l, low);
  return counted(l, in_hours ? "wait_range_hours" : "wait_range_minutes", high, {{"low", low_text}});
}

std::string odds_text(language l, const outlook& odds) {
  if (!odds.is_known || odds.waiting_list) return {};
  const auto left = number_text(l, odds.free + odds.held);
  if (!odds.has_share || odds.ahead < 2) return text(l, "odds_left", {{"left", left}});
  const auto buyers = number_text(l, odds.buyers), ahead = number_text(l, odds.ahead),
             wanted = number_text(l, odds.wanted);
  return text(l, "odds_line", {{"buyers", buyers}, {"ahead", ahead}, {"wanted", wanted}, {"left", left}});
}

std::string chance_text(language l, const outlook& odds) {
  if (!odds.is_known || odds.chance == likelihood::unknown) return {};
  const auto range = range_of(odds.chance);
  const auto low = number_text(l, range.low), high = number_text(l, range.high);
  const auto word = text(l, std::string{"chance_"}.append(name_of(odds.chance)));
  return text(l, "odds_chance", {{"low", low}, {"high", high}, {"word", word}});
}

std::string texts_json(language l, std::initializer_list<std::string_view> keys) {
  std::string out = "{";
  for (const auto key : keys) append_forms(out, row_of(l, key));
  return out + '}';
}

std::string prefixed_texts_json(language l, std::string_view prefix) {
  std::string out = "{";
  for (const auto& row : web::page_texts(static_cast<std::size_t>(l)))
    if (row.key.starts_with(prefix)) append_forms(out, row);
  return out + '}';
}

} // namespace fq::net
