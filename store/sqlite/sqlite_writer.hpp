// SPDX-License-Identifier: Apache-2.0
// SQL for changes: prepared statements for every kind of change, and the guard of a batch. Called by
// sqlite_ledger inside its transaction.
#pragma once
#include "store/port/history.hpp"
#include "store/port/ledger.hpp"
#include "store/sqlite/sqlite.hpp"

#include <cstdint>
#include <span>

namespace fq {

class sqlite_writer {
public:
  explicit sqlite_writer(sqlite_db& db);

  /// Applies guard and content of one batch in the open transaction. On `conflict` or sqlite_error some
  /// statements may have been executed: the caller rolls back.
  commit_outcome apply(const batch& b);

  std::size_t prune_idempotency(timestamp before, std::size_t limit);
  std::size_t prune_receipts(timestamp before, std::size_t limit);
  std::size_t prune_entries(timestamp before, std::size_t limit);
  std::size_t prune_statistics(timestamp before, std::size_t limit);
  std::size_t prune_logs(timestamp before, std::size_t limit);

private:
  class content;

  commit_outcome judge_skipped(const batch& b);

  struct statements {
    explicit statements(sqlite_db& db);
    sqlite_statement guard, head, raise_generation;
    sqlite_statement insert_aggregate, insert_event, update_event;
    sqlite_statement insert_ticket_type, update_ticket_type, move_stock;
    sqlite_statement join_one, join_few, join_many, join_admitted, update_entry;
    sqlite_statement insert_claim, insert_claim_item, update_claim, update_claim_item;
    sqlite_statement insert_payment, update_payment, insert_refund, update_refund;
    sqlite_statement insert_promo_code, update_promo_code, move_promo_uses, insert_order, update_order;
    sqlite_statement insert_event_ticket, update_event_ticket;
    sqlite_statement store_seat_plan, remove_seat_plan, insert_event_plan, set_seat_rules, remove_event_plan,
      store_lobby, insert_claim_seat, end_claim_seat, store_seat_setting;
    sqlite_statement insert_transfer, update_transfer, insert_statistics;
    sqlite_statement insert_log_batch, remove_log_batches, store_log_state, store_log_tile;
    sqlite_statement store_checkin_list, store_checkin_device, insert_scan;
    sqlite_statement store_dead_letter, store_priority, remove_priority, store_invitation, insert_access;
    sqlite_statement insert_lock, remove_lock;
    sqlite_statement store_block, remove_block, store_setting;
    sqlite_statement insert_idempotency, insert_receipt, insert_outbox;
    sqlite_statement store_organizer, store_customer, store_otp, store_tenant, store_api_key, insert_audit,
      remove_otp, remove_organizer, store_organizer_session, remove_organizer_session;
    sqlite_statement insert_history;
    sqlite_statement prune_idempotency, prune_receipts, prune_access, prune_entries, prune_history, is_queue;
    sqlite_statement prune_statistics, prune_logs;
  };
  statements sql_;
};

} // namespace fq
