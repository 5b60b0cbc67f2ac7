// SPDX-License-Identifier: Apache-2.0
// The stock of an event: free, held and sold units per ticket type. Keeps I1, which the ledger checks again.
#pragma once
#include "domain/model/change.hpp"
#include "domain/model/rows.hpp"

#include <span>
#include <vector>

namespace fq {

class inventory {
public:
  void load(std::vector<ticket_type_row> types);

  [[nodiscard]] const std::vector<ticket_type_row>& types() const { return types_; }
  [[nodiscard]] const ticket_type_row* find(const ticket_type_id& id) const;
  /// Free units of `type`: total - held - sold.
  [[nodiscard]] static std::int64_t free_units(const ticket_type_row& type) {
    return type.total - type.held - type.sold;
  }
  /// Has units that are not sold: free, or held and perhaps free again.
  [[nodiscard]] static bool has_unsold(const ticket_type_row& type) {
    return free_units(type) > 0 || type.held > 0;
  }
  /// Its own window is over.
  [[nodiscard]] static bool has_ended(const ticket_type_row& type, timestamp now);
  /// On sale now or later.
  [[nodiscard]] static bool may_sell(const ticket_type_row& type, timestamp now);
  /// On sale, and inside its own window.
  [[nodiscard]] static bool is_open(const ticket_type_row& type, timestamp now);
  /// Free units of public types on sale. If no public type is on sale: free units of all types on sale.
  [[nodiscard]] std::int64_t available() const;
  /// The next start of a window of a type on sale; `never` if none is ahead.
  [[nodiscard]] timestamp next_opening(timestamp now) const;
  /// The next end of a window of a type; `never` if none is ahead.
  [[nodiscard]] timestamp next_closing(timestamp now) const;
  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] std::int64_t held() const;
  [[nodiscard]] std::int64_t sold() const;
  /// No type has a free or a held unit. May become false again.
  [[nodiscard]] bool sold_out() const;
  /// A unit is held, or free in a type whose window is not over: also in one that is switched off, which the
  /// organizer may switch on again.
  [[nodiscard]] bool has_units_to_sell(timestamp now) const;
  [[nodiscard]] bool has_free(std::span<const claim_item> items) const;

  // Each function moves counters and appends one stock_moved per item. Callers check preconditions (has_free
  // for hold and sell).
  void hold(std::span<const claim_item> items, changes& out); ///< free -> held
  void release(std::span<const claim_item> items, changes& out); ///< held -> free
  void confirm(std::span<const claim_item> items, changes& out); ///< held -> sold
  void sell(std::span<const claim_item> items, changes& out); ///< free -> sold
  void take_back(std::span<const refund_item> items, changes& out); ///< sold -> free

  void add(ticket_type_row row, changes& out);
  void change_type(const ticket_type_row& row, changes& out); ///< all fields but the counters

private:
  void move(std::uint32_t type, std::int64_t held, std::int64_t sold, changes& out);
  std::vector<ticket_type_row> types_; ///< by ordinal
};

} // namespace fq
