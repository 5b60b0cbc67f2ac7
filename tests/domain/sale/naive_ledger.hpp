// SPDX-License-Identifier: Apache-2.0
// The simplest correct ledger: maps of rows, every guard checked, every step recorded. The oracle of the
// domain's tests; independent of the stores.
#pragma once
#include "domain/line/ranks.hpp"
#include "domain/model/change.hpp"

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq::test {

class naive_ledger {
public:
  event_row event;
  std::vector<ticket_type_row> types;
  std::map<queue_number, entry_row> entries;
  std::map<claim_id, claim_row> claims;
  std::map<payment_id, payment_row> payments;
  std::map<refund_id, refund_row> refunds;
  std::map<order_id, order_row> orders;
  std::map<event_ticket_id, event_ticket_row> event_tickets;
  std::optional<event_plan_row> plan;
  std::map<std::uint32_t, seat_setting_row> seat_settings;
  std::map<std::pair<claim_id, std::uint32_t>, claim_seat_row> claim_seats; ///< by claim and seat
  std::map<transfer_id, transfer_row> transfers;
  std::map<checkin_list_id, checkin_list_row> checkin_lists;
  std::map<checkin_device_id, checkin_device_row> checkin_devices;
  std::map<scan_id, scan_row> scans;
  std::vector<promo_code_row> promo_codes;
  std::map<uuid, dead_letter_row> dead_letters; ///< open dead letters
  std::map<customer_id, priority_row> priorities;
  std::map<customer_id, invitation_row> invitations;
  std::vector<entry_access_row> access;
  std::map<std::string, session_lock_row> locks;
  std::vector<idempotency_row> answers;
  std::vector<receipt_row> receipts;
  std::optional<lobby_row> lobby;
  line_ranks ranks; ///< what a draw gave; no row

  /// Throws with the reason if a guard fails.
  void apply(const changes& content);
  [[nodiscard]] line_totals totals() const;

private:
  bool slot_is_free(const claim_row& row) const;
  bool attempt_is_alone(const payment_row& row) const;
  void one(const event_changed& x);
  void one(const ticket_type_added& x);
  void one(const ticket_type_changed& x);
  void one(const stock_moved& x);
  void one(const entry_joined& x);
  void one(const entry_moved& x);
  void one(const claim_opened& x);
  void one(const claim_moved& x);
  void one(const payment_opened& x);
  void one(const payment_moved& x);
  void one(const refund_opened& x);
  void one(const refund_moved& x);
  void one(const order_placed& x);
  void one(const order_moved& x);
  void one(const event_ticket_issued& x);
  void one(const event_ticket_moved& x);
  void one(const event_plan_set& x);
  void one(const seat_rules_set& x);
  void one(const event_plan_removed& x);
  void one(const seats_taken& x);
  void one(const seats_ended& x);
  void one(const seats_set& x);
  void one(const transfer_offered& x);
  void one(const transfer_moved& x);
  void one(const checkin_list_stored& x) { checkin_lists[x.row.id] = x.row; }
  void one(const checkin_device_stored& x) { checkin_devices[x.row.id] = x.row; }
  void one(const scan_recorded& x);
  void one(const promo_code_added& x);
  void one(const promo_code_changed& x);
  void one(const promo_uses_moved& x);
  void one(const dead_letter_stored& x);
  void one(const priority_stored& x);
  void one(const priority_removed& x);
  void one(const invitation_stored& x);
  void one(const access_given& x);
  void one(const lock_taken& x);
  void one(const lock_freed& x);
  void one(const lobby_stored& x);
  void one(const entries_forgotten&) {} // totals() counts the rows
  void one(const idempotency_stored& x);
  void one(const receipt_stored& x);
  template <class Other>
  void one(const Other&) {
    throw std::runtime_error{"not a change of a sale"};
  }
};

} // namespace fq::test
