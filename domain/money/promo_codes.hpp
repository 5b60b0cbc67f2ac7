// SPDX-License-Identifier: Apache-2.0
// The promo codes of an event: words, and how often they are used. A use belongs to a claim: it begins with
// it and comes back when the claim is given up or wholly refunded.
#pragma once
#include "domain/model/change.hpp"
#include "domain/model/refusal.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

inline constexpr std::size_t promo_codes_max = 1'000; ///< of an event
inline constexpr std::size_t promo_code_length_max = 40;

/// As codes are stored and compared: upper case, without blanks around. Nothing unless it is 1 to
/// promo_code_length_max of A-Z, 0-9, '-' and '_': what people type is not told from what they read aloud.
[[nodiscard]] std::optional<std::string> normalized_code(std::string_view text);

/// What is wrong with a new or changed code of an event with so many ticket types; none if it may be stored.
[[nodiscard]] refusal validate(const promo_code_row& row, std::size_t ticket_types);

/// Whether a customer who has used it `own_uses` times may use it once more; the reason if not.
[[nodiscard]] refusal may_use(const promo_code_row& row, std::uint64_t own_uses, timestamp now);

/// Whether its total limit allows one more use.
[[nodiscard]] inline bool has_room(const promo_code_row& row) {
  return row.uses_max == 0 || row.uses < row.uses_max;
}
/// The same for the limit of a customer who has used it `own_uses` times.
[[nodiscard]] inline bool has_room(const promo_code_row& row, std::uint64_t own_uses) {
  return row.uses_per_customer == 0 || own_uses < row.uses_per_customer;
}

/// Hidden types are opened by a code that names them; one for all types opens none. `promo` null: there is
/// none.
[[nodiscard]] inline bool opens(const promo_code_row* promo, const ticket_type_row& type) {
  return promo != nullptr && promo->reduction.ticket_types != 0 && promo->reduction.covers(type.ordinal);
}

class promo_codes_book {
public:
  void load(promo_code_row row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] const std::vector<promo_code_row>& all() const { return rows_; } ///< by ordinal
  [[nodiscard]] const promo_code_row* find(const promo_code_id& id) const;
  /// `code`: normalized.
  [[nodiscard]] const promo_code_row* find(std::string_view code) const;

  /// Preconditions (validated, another word, room) are the caller's.
  const promo_code_row& add(promo_code_row row, changes& out);
  void change_code(promo_code_row row, changes& out); ///< all but uses
  /// Moves the uses of claim_row::promo; 0 moves nothing.
  void move_uses(std::uint32_t promo, std::int64_t delta, changes& out);

private:
  std::vector<promo_code_row> rows_; ///< by ordinal
};

} // namespace fq
