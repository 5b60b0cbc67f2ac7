// SPDX-License-Identifier: Apache-2.0
// Sorted vectors as tables of rows.
#pragma once
#include "store/port/ledger.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace fq {

inline std::uint32_t key_of(const ticket_type_row& r) { return r.ordinal; }
inline queue_number key_of(const entry_row& r) { return r.number; }
inline const uuid& key_of(const claim_row& r) { return r.id; }
inline const uuid& key_of(const payment_row& r) { return r.id; }
inline const uuid& key_of(const refund_row& r) { return r.id; }
inline std::uint32_t key_of(const promo_code_row& r) { return r.ordinal; }
inline const uuid& key_of(const order_row& r) { return r.id; }
inline const uuid& key_of(const event_ticket_row& r) { return r.id; }
inline const uuid& key_of(const seat_plan_row& r) { return r.id; }
inline std::pair<claim_id, std::uint32_t> key_of(const claim_seat_row& r) { return {r.claim, r.seat}; }
inline std::uint32_t key_of(const seat_setting_row& r) { return r.seat; }
inline const uuid& key_of(const transfer_row& r) { return r.id; }
inline const uuid& key_of(const checkin_list_row& r) { return r.id; }
inline const uuid& key_of(const checkin_device_row& r) { return r.id; }
inline const uuid& key_of(const scan_row& r) { return r.id; }
inline const uuid& key_of(const dead_letter_row& r) { return r.id; }
inline const uuid& key_of(const priority_row& r) { return r.customer; }
inline const uuid& key_of(const invitation_row& r) { return r.customer; }
inline std::pair<queue_number, std::uint32_t> key_of(const entry_access_row& r) {
  return {r.number, r.promo_code};
}
inline const std::string& key_of(const session_lock_row& r) { return r.name; }
inline timestamp key_of(const statistics_row& r) { return r.at; }
inline std::tuple<std::uint32_t, std::uint32_t, std::uint64_t> key_of(const log_tile_row& r) {
  return {r.number, r.level, r.position};
}
inline std::tuple<tenant_id, organizer_id, customer_id> key_of(const block_row& r) {
  return {r.tenant, r.organizer, r.customer};
}
inline const std::string& key_of(const setting_row& r) { return r.name; }
inline const uuid& key_of(const organizer_row& r) { return r.id; }
inline const uuid& key_of(const customer_row& r) { return r.id; }
inline const uuid& key_of(const organizer_session_row& r) { return r.id; }
inline const std::string& key_of(const otp_row& r) { return r.handle_hash; }
inline tenant_id key_of(const tenant_row& r) { return r.id; }
inline const uuid& key_of(const api_key_row& r) { return r.id; }

template <class Rows, class Key>
auto lower_bound_of(Rows& rows, const Key& key) {
  return std::lower_bound(rows.begin(), rows.end(), key,
                          [](const auto& row, const Key& k) { return key_of(row) < k; });
}

template <class Rows, class Key>
auto* find_row(Rows& rows, const Key& key) {
  auto i = lower_bound_of(rows, key);
  return i != rows.end() && key_of(*i) == key ? &*i : nullptr;
}

template <class Row, class Key>
void erase_row(std::vector<Row>& rows, const Key& key) {
  auto i = lower_bound_of(rows, key);
  if (i != rows.end() && key_of(*i) == key) rows.erase(i);
}

/// Inserts, or overwrites the row of the same key.
template <class Row>
void put_row(std::vector<Row>& rows, const Row& row) {
  auto i = lower_bound_of(rows, key_of(row));
  if (i != rows.end() && key_of(*i) == key_of(row))
    *i = row;
  else
    rows.insert(i, row);
}

} // namespace fq
