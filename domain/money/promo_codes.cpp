// SPDX-License-Identifier: Apache-2.0
#include "domain/money/promo_codes.hpp"

#include "domain/model/invalid_field.hpp"

#include <algorithm>

namespace fq {
namespace {

constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr bool is_code_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

constexpr std::int64_t whole = 10'000; ///< basis points

refusal validate(const discount& d, std::size_t ticket_types) {
  switch (d.kind) {
    case discount_kind::none: break;
    case discount_kind::percent:
      if (d.value < 1 || d.value > whole) return invalid_field("discount.percent", "must be 0.01 to 100");
      break;
    case discount_kind::amount:
      if (d.value < 1 || d.value > promo_amount_max)
        return invalid_field("discount.amount", "must be 1 to 1000000000000");
      break;
  }
  if (ticket_types < 64 && (d.ticket_types >> ticket_types) != 0)
    return invalid_field("ticket_type_ids", "no such ticket type");
  return {};
}

} // namespace

std::optional<std::string> normalized_code(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.empty() || text.size() > promo_code_length_max) return std::nullopt;
  std::string code{text};
  std::ranges::transform(code, code.begin(), upper);
  if (!std::ranges::all_of(code, is_code_character)) return std::nullopt;
  return code;
}

refusal validate(const promo_code_row& row, std::size_t ticket_types) {
  if (normalized_code(row.code) != row.code)
    return invalid_field("code", "must be 1 to 40 of A-Z, 0-9, '-' and '_'");
  if (is_set(row.valid_from) && is_set(row.valid_until) && row.valid_until <= row.valid_from)
    return invalid_field("valid_until", "must be after valid_from");
  return validate(row.reduction, ticket_types);
}

refusal may_use(const promo_code_row& row, std::uint64_t own_uses, timestamp now) {
  if (!row.is_active) return reason::promo_code_invalid;
  const bool is_early = is_set(row.valid_from) && now < row.valid_from;
  const bool is_late = is_set(row.valid_until) && now >= row.valid_until;
  if (is_early || is_late) {
    refusal no{reason::promo_code_expired};
    if (is_early) no.at = row.valid_from;
    return no;
  }
  if (!has_room(row)) return reason::promo_code_exhausted;
  if (!has_room(row, own_uses)) return reason::promo_code_limit;
  return {};
}

const promo_code_row* promo_codes_book::find(const promo_code_id& id) const {
  const auto i = std::ranges::find(rows_, id, &promo_code_row::id);
  return i == rows_.end() ? nullptr : &*i;
}

const promo_code_row* promo_codes_book::find(std::string_view code) const {
  const auto i = std::ranges::find(rows_, code, &promo_code_row::code);
  return i == rows_.end() ? nullptr : &*i;
}

const promo_code_row& promo_codes_book::add(promo_code_row row, changes& out) {
  row.ordinal = static_cast<std::uint32_t>(rows_.size());
  row.uses = 0;
  rows_.push_back(row);
  out.emplace_back(std::in_place_type<promo_code_added>, promo_code_added{std::move(row)});
  return rows_.back();
}

void promo_codes_book::change_code(promo_code_row row, changes& out) {
  auto& stored = rows_[row.ordinal];
  row.uses = stored.uses;
  stored = row;
  out.emplace_back(std::in_place_type<promo_code_changed>, promo_code_changed{std::move(row)});
}

void promo_codes_book::move_uses(std::uint32_t promo, std::int64_t delta, changes& out) {
  if (promo == 0) return;
  auto& row = rows_[promo - 1];
  row.uses = static_cast<std::uint32_t>(std::int64_t{row.uses} + delta);
  out.emplace_back(std::in_place_type<promo_uses_moved>, promo_uses_moved{row.ordinal, delta});
}

} // namespace fq
