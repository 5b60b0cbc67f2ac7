// SPDX-License-Identifier: Apache-2.0
// The kinds of durable change: a decision appends them to the journal, a ledger applies them. Every change
// names the state it starts from. A ledger in another state refuses the batch, so that divergence cannot
// stay hidden.
#pragma once
#include "domain/model/rows.hpp"

#include <variant>
#include <vector>

namespace fq {

/// Catalog: a new aggregate with epoch 0, its event and its ticket types. Refused if the aggregate number
/// exists.
struct event_created {
  event_row event;
  std::vector<ticket_type_row> ticket_types;
};

/// The whole event row (settings, status, times). Refused unless the stored status is `from`.
struct event_changed {
  event_status from{};
  event_row event;
};

struct ticket_type_added {
  ticket_type_row row; ///< held and sold are 0
};

/// Name, price, total, limit and on_sale, not the counters. Refused if total < held + sold.
struct ticket_type_changed {
  ticket_type_row row;
};

/// Adds to the counters of one ticket type. Refused if a counter would become negative, or held + sold >
/// total (I1).
struct stock_moved {
  std::uint32_t ticket_type = 0;
  std::int64_t held_delta = 0;
  std::int64_t sold_delta = 0;
};

struct entry_joined {
  entry_row row;
};

/// All mutable columns of an entry. Refused unless the stored status is `from`. `from == row.status` is a
/// change without a transition (for example has_claimed) and writes no history.
struct entry_moved {
  entry_status from{};
  entry_row row;
};

/// Standalone queues: entries with lower numbers have ended and left the owner's memory. The number only
/// grows.
struct entries_forgotten {
  queue_number first_kept{};
};

struct claim_opened {
  claim_row row;
};

/// Status, times, live_slot and the items' refunded counts. Refused unless the stored status is `from`.
struct claim_moved {
  claim_status from{};
  claim_row row;
};

struct payment_opened {
  payment_row row;
};

/// Status, claim, authorization_url, gateway_id, captured, tax, other_currency, refunded, recheck_at. Refused
/// unless the stored status is `from`.
struct payment_moved {
  payment_status from{};
  payment_row row;
};

struct refund_opened {
  refund_row row;
};

struct refund_moved {
  refund_status from{};
  refund_row row;
};

struct promo_code_added {
  promo_code_row row; ///< uses is 0. Refused if another promo code of the event has the same word
};

/// Everything but ordinal, id, uses and created_at. Refused if uses > uses_max, or another promo code has
/// the same word.
struct promo_code_changed {
  promo_code_row row;
};

/// Refused if uses would become negative, or exceed uses_max.
struct promo_uses_moved {
  std::uint32_t promo_code = 0; ///< ordinal
  std::int64_t delta = 0;
};

struct order_placed {
  order_row row; ///< refused if another order has its claim
};

/// Status, claim, failure, payment_link_at and updated_at. Refused unless the stored status is `from`.
struct order_moved {
  order_status from{};
  order_row row;
};

struct event_ticket_issued {
  event_ticket_row row;
};

/// Status, holder, generation and updated_at. Refused unless the stored status is `from`.
struct event_ticket_moved {
  event_ticket_status from{};
  event_ticket_row row;
};

/// Catalog: inserted, or replaced by id.
struct seat_plan_stored {
  seat_plan_row row;
};

/// Catalog: no error if absent.
struct seat_plan_removed {
  tenant_id tenant{};
  uuid id;
};

/// Refused if the event has a plan.
struct event_plan_set {
  event_plan_row row;
};

/// The rules of the row, without its content and types. Refused without a plan.
struct seat_rules_set {
  std::uint8_t singles = 0; ///< single_rule
  bool may_split = false;
  bool accessible_for_all = false;
  [[nodiscard]] event_plan_row applied_to(event_plan_row row) const {
    row.singles = singles;
    row.may_split = may_split;
    row.accessible_for_all = accessible_for_all;
    return row;
  }
};

/// With the event's seat settings; no error if absent. Refused if the event has claim seats.
struct event_plan_removed {};

/// Live seats of a claim. Refused without the claim or a plan, or if a live row has the seat (I1).
struct seats_taken {
  std::vector<claim_seat_row> rows;
};

/// The seats are no longer live. Refused unless all were live seats of the claim.
struct seats_ended {
  claim_id claim;
  std::vector<std::uint32_t> seats;
};

/// Inserted, or replaced by seat. Refused without a plan.
struct seats_set {
  std::vector<seat_setting_row> rows;
};

/// Refused if the ticket has another open offer.
struct transfer_offered {
  transfer_row row;
};

/// Status, addresses and ended_at. Refused unless the stored status is `from`.
struct transfer_moved {
  transfer_status from{};
  transfer_row row;
};

/// Inserted, or replaced by id.
struct checkin_list_stored {
  checkin_list_row row;
};

/// Inserted, or replaced by id.
struct checkin_device_stored {
  checkin_device_row row;
};

/// Refused if the event has a scan with this id.
struct scan_recorded {
  scan_row row;
};

/// Inserted; for an existing id, status and updated_at are replaced.
struct dead_letter_stored {
  dead_letter_row row;
};

/// Inserted, or replaced by customer id.
struct priority_stored {
  priority_row row;
};

/// No error if absent.
struct priority_removed {
  customer_id customer;
};

/// Inserted, or replaced by customer id.
struct invitation_stored {
  invitation_row row;
};

/// Inserted. Refused if the entry gave the code before.
struct access_given {
  entry_access_row row;
};

/// Inserted. Refused if the name has a holder.
struct lock_taken {
  session_lock_row row;
};

/// No error if absent.
struct lock_freed {
  std::string name;
};

/// Inserted, or replaced.
struct lobby_stored {
  lobby_row row;
};

/// Accounts: inserted, or replaced by (tenant, organizer, customer).
struct block_stored {
  block_row row;
};

/// Accounts. No error if absent.
struct block_removed {
  tenant_id tenant{};
  organizer_id organizer;
  customer_id customer;
};

/// Accounts: inserted, or replaced by name.
struct setting_stored {
  setting_row row;
};

struct idempotency_stored {
  idempotency_row row;
};

struct receipt_stored {
  receipt_row row;
};

/// Accounts: inserted, or replaced by id. Refused if another id has the e-mail address.
struct organizer_stored {
  organizer_row row;
};

/// Deleted by id. No error if absent.
struct organizer_removed {
  organizer_id id;
};

/// Inserted, or replaced by id.
struct organizer_session_stored {
  organizer_session_row row;
};

/// Deleted once expired. No error if absent.
struct organizer_session_removed {
  uuid id;
};

struct customer_stored {
  customer_row row;
};

/// Inserted, or replaced by handle.
struct otp_stored {
  otp_row row;
};

/// Deleted once used or out of guesses. No error if absent.
struct otp_removed {
  std::string handle_hash;
};

/// Accounts: inserted, or replaced by id. Refused if another id has the name.
struct tenant_stored {
  tenant_row row;
};

/// Accounts: inserted, or replaced by id.
struct api_key_stored {
  api_key_row row;
};

struct audit_recorded {
  audit_row row;
};

/// Published after the commit. The ledger numbers the row by its batch and its position in the batch.
struct outbox_appended {
  outbox_row row;
};

/// Refused if the event has a row of this minute.
struct statistics_stored {
  statistics_row row;
};

/// What the decisions of the batch note for the public log. Appended in pieces.
struct log_noted {
  log_batch_row row;
};

/// The public log has grown, or a new one begins: state and tiles are inserted, or replaced by key. What it
/// has taken in is deleted.
struct log_kept {
  log_state_row state;
  std::vector<log_tile_row> tiles;
};

/// The cache mirror of this aggregate is no longer trusted: its keys get a new name. Refused unless the
/// stored generation is `from`; the new one is from + 1.
struct cache_generation_raised {
  std::uint64_t from = 0;
};

using change =
  std::variant<event_created, event_changed, ticket_type_added, ticket_type_changed, stock_moved,
               entry_joined, entry_moved, claim_opened, claim_moved, payment_opened, payment_moved,
               refund_opened, refund_moved, idempotency_stored, receipt_stored, organizer_stored,
               customer_stored, otp_stored, otp_removed, outbox_appended, cache_generation_raised,
               tenant_stored, api_key_stored, audit_recorded, promo_code_added, promo_code_changed,
               promo_uses_moved, order_placed, order_moved, dead_letter_stored, priority_stored,
               priority_removed, setting_stored, invitation_stored, block_stored, block_removed, access_given,
               entries_forgotten, organizer_removed, organizer_session_stored, organizer_session_removed,
               event_ticket_issued, event_ticket_moved, checkin_list_stored, checkin_device_stored,
               scan_recorded, transfer_offered, transfer_moved, statistics_stored, seat_plan_stored,
               seat_plan_removed, event_plan_set, seat_rules_set, event_plan_removed, seats_taken,
               seats_ended, seats_set, lock_taken, lock_freed, lobby_stored, log_noted, log_kept>;

/// The changes of one decision, in order; committed together or not at all.
using changes = std::vector<change>;

} // namespace fq
