// SPDX-License-Identifier: Apache-2.0
// The promo codes of an event and their use counts. A use belongs to a claim: it starts with the claim and
// ends when the claim is released or fully refunded.
#pragma once
#include "domain/model/change.hpp"
#include "domain/model/refusal.hpp"
#include "domain/money/limits.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// The stored and compared form of a code: upper case, without surrounding blanks. Empty unless it is 1 to
/// promo_code_length_max of A-Z, 0-9, '-' and '_'.
[[nodiscard]] std::optional<std::string> normalized_code(std::string_view text);

/// What is wrong with a new or changed code; `ticket_types`: their number in the event. None if it may be
/// stored.
[[nodiscard]] refusal validate(const promo_code_row& row, std::size_t ticket_types);

/// Why a customer with `own_uses` uses may not use the code again; none if it may.
[[nodiscard]] refusal may_use(const promo_code_row& row, std::uint64_t own_uses, timestamp now);

/// Whether the total limit allows another use.
[[nodiscard]] inline bool has_room(const promo_code_row& row) {
  return row.uses_max == 0 || row.uses < row.uses_max;
}
/// Whether the limit per customer allows another use after `own_uses`.
[[nodiscard]] inline bool has_room(const promo_code_row& row, std::uint64_t own_uses) {
  return row.uses_per_customer == 0 || own_uses < row.uses_per_customer;
}

/// Whether a code lets its user buy this hidden type: only if it names the type. A code for all types opens
/// none. `promo` null: no code.
[[nodiscard]] inline bool opens(const promo_code_row* promo, const ticket_type_row& type) {
  return promo != nullptr && promo->reduction.ticket_types != 0 && promo->reduction.covers(type.ordinal);
}

class promo_codes_book {
public:
  void load(promo_code_row row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] const std::vector<promo_code_row>& all() const { return rows_; } ///< by ordinal
  [[nodiscard]] const promo_code_row* find(const promo_code_id& id) const;
  /// `code`: normalized form.
  [[nodiscard]] const promo_code_row* find(std::string_view code) const;

  /// Preconditions, checked by the caller: valid, unique word, room.
  const promo_code_row& add(promo_code_row row, changes& out);
  void change_code(promo_code_row row, changes& out); ///< all but uses
  /// Adds `delta` to the uses of the code claim_row::promo; 0 is ignored.
  void move_uses(std::uint32_t promo, std::int64_t delta, changes& out);

private:
  std::vector<promo_code_row> rows_; ///< by ordinal
};

} // namespace fq
