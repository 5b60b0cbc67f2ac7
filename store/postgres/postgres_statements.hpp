// SPDX-License-Identifier: Apache-2.0
// The statements that write the content of batches. Each takes many rows at once, one array per column, and
// touches every given row or ends the transaction. postgres_rounds makes the rows, postgres_writer sends
// them.
#pragma once
#include "store/postgres/postgres.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace fq {

/// In the order of execution within a round: referenced rows come first.
enum class postgres_write : std::uint8_t {
  move_aggregate,
  raise_generation,
  insert_aggregate,
  insert_event,
  update_event,
  insert_ticket_type,
  update_ticket_type,
  move_stock,
  join,
  join_as_is,
  update_entry,
  insert_claim,
  insert_claim_item,
  update_claim,
  update_claim_item,
  insert_payment,
  update_payment,
  insert_refund,
  update_refund,
  insert_promo_code,
  update_promo_code,
  move_promo_uses,
  insert_order,
  update_order,
  insert_event_ticket,
  update_event_ticket,
  store_seat_plan,
  remove_seat_plan,
  remove_event_plan,
  insert_event_plan,
  set_seat_rules,
  insert_claim_seat,
  end_claim_seat,
  store_seat_setting,
  store_log_state,
  store_log_tile,
  insert_log_batch,
  remove_log_batches,
  insert_transfer,
  update_transfer,
  store_checkin_list,
  store_checkin_device,
  insert_scan,
  insert_statistics,
  store_dead_letter,
  store_priority,
  remove_priority,
  store_invitation,
  insert_access,
  insert_lock,
  remove_lock,
  store_lobby,
  store_block,
  remove_block,
  remove_organizer,
  store_organizer,
  store_customer,
  store_tenant,
  store_setting,
  store_api_key,
  store_otp,
  remove_otp,
  store_organizer_session,
  remove_organizer_session,
  insert_idempotency,
  insert_receipt,
  insert_audit,
  insert_outbox,
  insert_history,
};
inline constexpr std::size_t postgres_write_count =
  static_cast<std::size_t>(postgres_write::insert_history) + 1;

/// SQLSTATE of move_aggregate if it could not move every given aggregate.
inline constexpr const char* postgres_guard_failed = "FQ002";

/// All statements, by number.
std::span<const postgres_statement> postgres_writes();

} // namespace fq
