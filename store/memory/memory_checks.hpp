// SPDX-License-Identifier: Apache-2.0
// The CHECKs and the unique indexes of the schema.
#pragma once
#include "store/port/history.hpp"

#include <algorithm>
#include <vector>

namespace fq {

inline bool is_sound(const event_row& r) {
  return r.async_percent >= async_inherited && r.async_percent <= 100;
}

inline bool is_sound(const ticket_type_row& r) {
  return r.price >= 0 && r.total >= 0 && r.total <= ticket_total_max && r.held >= 0 && r.sold >= 0
         && r.held <= r.total && r.sold <= r.total - r.held;
}

inline bool is_sound(const entry_row& r) {
  return value_of(r.number) >= 1 && value_of(r.number) <= queue_number_max;
}

inline bool is_sound(const entry_access_row&) { return true; }
inline bool is_sound(const session_lock_row&) { return true; }
inline bool is_sound(const event_ticket_row& r) { return r.generation >= 1; }
inline bool is_sound(const lobby_row& r) {
  return !r.seed.empty() && (!is_set(r.drawn_at) || (is_set(r.closed_at) && !r.root.empty()));
}
inline bool is_sound(const event_plan_row& r) { return r.singles <= 2; }
inline bool is_sound(const seat_rules_set& r) { return r.singles <= 2; }
inline bool is_sound(const claim_seat_row&) { return true; }
inline bool is_sound(const transfer_row&) { return true; }
inline bool is_sound(const checkin_list_row& r) { return !r.name.empty(); }
inline bool is_sound(const checkin_device_row& r) { return !r.secret_hash.empty(); }
inline bool is_sound(const scan_row& r) { return r.is_admitted || r.objection != scan_objection::none; }
inline bool is_sound(const statistics_row& r) {
  return r.waiting_peak >= r.waiting && r.arrivals_total >= r.arrivals && r.admissions_total >= r.admissions;
}
inline bool is_sound(const claim_item& i) {
  return i.quantity >= 1 && i.unit_price >= 0 && i.refunded <= i.quantity && i.donation >= 0
         && i.unit_discount >= 0 && i.unit_discount <= i.unit_price;
}

inline bool is_sound(const claim_row& r) {
  const auto item_is_sound = [](const claim_item& i) { return is_sound(i); };
  return r.amount >= 0 && std::all_of(r.items.begin(), r.items.end(), item_is_sound);
}

inline bool is_sound(const payment_row& r) {
  return r.amount >= 0 && r.captured >= 0 && r.tax >= 0 && r.tax <= r.captured && r.refunded >= 0
         && r.refunded <= r.captured;
}

inline bool is_sound(const refund_row& r) {
  return r.amount >= 0 && std::ranges::all_of(r.items, [](const refund_item& i) { return i.quantity >= 1; });
}

inline bool is_sound(const promo_code_row& r) {
  return !r.code.empty() && r.reduction.value >= 0 && (r.uses_max == 0 || r.uses <= r.uses_max);
}

inline bool is_sound(const order_row& r) {
  return r.subtotal >= 0 && r.discount >= 0 && r.donations >= 0 && r.platform_fee >= 0
         && r.processing_fee >= 0
         && r.total == r.subtotal - r.discount + r.donations + r.platform_fee + r.processing_fee
         && r.total >= 0;
}

/// No other promo code of the event has the same word; no other order has the same claim.
inline bool is_alone(const std::vector<promo_code_row>& codes, const promo_code_row& row) {
  return std::ranges::none_of(codes,
                              [&](const auto& c) { return c.ordinal != row.ordinal && c.code == row.code; });
}
inline bool is_alone(const std::vector<order_row>& orders, const order_row& row) {
  return std::ranges::none_of(orders, [&](const auto& o) { return o.id != row.id && o.claim == row.claim; });
}

/// At most one open offer of a ticket.
inline bool is_alone(const std::vector<transfer_row>& offers, const transfer_row& row) {
  return row.status != transfer_status::offered || std::ranges::none_of(offers, [&](const auto& o) {
           return o.id != row.id && o.ticket == row.ticket && o.status == transfer_status::offered;
         });
}

inline bool takes_a_slot(claim_status s) { return is_live(s) || s == claim_status::confirmed; }

/// No other claim of this customer occupies the same live slot.
inline bool slot_is_free(const std::vector<claim_row>& claims, const claim_row& row) {
  return !takes_a_slot(row.status) || std::none_of(claims.begin(), claims.end(), [&](const claim_row& c) {
    return c.id != row.id && c.customer == row.customer && c.live_slot == row.live_slot
           && takes_a_slot(c.status);
  });
}

/// No other open attempt pays for the same claim.
inline bool attempt_is_alone(const std::vector<payment_row>& payments, const payment_row& row) {
  return !is_open(row.status) || std::none_of(payments.begin(), payments.end(), [&](const payment_row& p) {
    return p.id != row.id && p.claim == row.claim && is_open(p.status);
  });
}

template <class Row>
bool email_is_free(const std::vector<Row>& rows, const Row& row) {
  return std::none_of(rows.begin(), rows.end(),
                      [&](const Row& r) { return r.id != row.id && r.email == row.email; });
}

} // namespace fq
