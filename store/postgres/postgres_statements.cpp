// SPDX-License-Identifier: Apache-2.0
// One table: the statement of each kind of write. Descriptions of rows give the columns.
#include "store/postgres/postgres_statements.hpp"

#include "store/postgres/postgres_rows.hpp"

#include <array>

namespace fq {
namespace {

constexpr sql_column integer(const char* name) { return {name, "bigint"}; }
constexpr sql_column id(const char* name) { return {name, "uuid"}; }
constexpr sql_column text(const char* name) { return {name, "text"}; }

std::string insert(const std::string& table, const sql_columns& items) {
  return "INSERT INTO " + table + " (" + names_of(items) + ") SELECT * FROM " + postgres_given(items);
}

/// `statement` must affect every given row, or it ends the transaction. `before`: a query that it refers to.
std::string every_row(const std::string& statement, const std::string& refusal = "FQ001",
                      const std::string& before = "") {
  return "WITH " + before + "met AS (" + statement + " RETURNING 1) SELECT refuse_batch('" + refusal
         + "') FROM (SELECT count(*) AS rows FROM met) AS met WHERE rows <> cardinality($1)";
}

/// Updates the columns `changed` of the rows that `keys` finds. Each must have the `expected` values, whose
/// parameters are called from_<name>.
std::string update(const std::string& table, const sql_columns& keys, const sql_columns& expected,
                   const sql_columns& changed) {
  std::vector<std::string> aliases;
  for (const auto& e : expected) aliases.push_back(std::string{"from_"} + e.name);
  auto parameters = keys;
  for (std::size_t i = 0; i < expected.size(); ++i)
    parameters.push_back({aliases[i].c_str(), expected[i].type});
  const auto is_given = [&](const sql_column& k) { return table + "." + k.name + " = given." + k.name; };
  const auto was_given = [&](const sql_column& e) {
    return " AND " + table + "." + e.name + " = given.from_" + e.name;
  };
  const auto becomes = [](const sql_column& k) { return std::string{k.name} + " = given." + k.name; };
  return every_row("UPDATE " + table + " SET " + join_columns(changed, ", ", becomes) + " FROM "
                   + postgres_given(parameters + changed) + " WHERE " + join_columns(keys, " AND ", is_given)
                   + join_columns(expected, "", was_given));
}

/// INSERT of rows of this type.
template <class Row>
std::string insert() {
  const auto t = table_of<Row>();
  return insert(t.name, t.place + t.inserted);
}
/// UPDATE of the rows with the keys, all of which must have the expected values.
template <class Row>
std::string update() {
  const auto t = table_of<Row>();
  return update(t.name, t.scope + t.keys, t.expected, t.changed);
}
template <class Row>
std::string store() {
  return postgres_store(table_of<Row>());
}
std::string insert_plain_joins() {
  const auto t = table_of<entry_row>();
  return insert(t.name, t.place + t.inserted_plain);
}

/// Each type once, with the sum of its moves; refused if any intermediate step breaks a rule (I1).
std::string move_stock() {
  const sql_columns moved = {integer("aggregate"), integer("ordinal"),    integer("held"),
                             integer("sold"),      integer("least_held"), integer("least_sold"),
                             integer("most_taken")};
  return every_row(
    "UPDATE ticket_type AS t SET held = t.held + given.held, sold = t.sold + given.sold FROM "
    + postgres_given(moved)
    + " WHERE t.aggregate = given.aggregate AND t.ordinal = given.ordinal AND t.held + given.least_held >= 0"
      " AND t.sold + given.least_sold >= 0 AND t.held + t.sold + given.most_taken <= t.total");
}

/// Each promo code once, with the sum of its moves, like move_stock.
std::string move_promo_uses() {
  const sql_columns moved = {integer("aggregate"), integer("ordinal"), integer("uses"), integer("least"),
                             integer("most")};
  return every_row(
    "UPDATE promo_code AS p SET uses = p.uses + given.uses FROM " + postgres_given(moved)
    + " WHERE p.aggregate = given.aggregate AND p.ordinal = given.ordinal AND p.uses + given.least >= 0"
      " AND (p.uses_max = 0 OR p.uses + given.most <= p.uses_max)");
}

/// The guard of a batch: it must continue applied_seq under the current epoch. Skips locked rows, so that
/// one lock does not delay all batches of the transaction.
std::string move_aggregate() {
  const sql_columns moved = {integer("number"),      integer("epoch"),      integer("from_seq"),
                             integer("to_seq"),      integer("at"),         integer("live_entries"),
                             integer("last_number"), integer("first_kept"), integer("admitted"),
                             integer("completed"),   integer("last_batch")};
  const auto locked = "locked AS MATERIALIZED (SELECT given.* FROM " + postgres_given(moved)
                      + " JOIN aggregate AS a ON a.number = given.number AND a.epoch = given.epoch"
                        " AND a.applied_seq = given.from_seq FOR UPDATE OF a SKIP LOCKED), ";
  return every_row("UPDATE aggregate AS a SET applied_seq = locked.to_seq,"
                   " committed_at = greatest(a.committed_at, locked.at), clock_lag = greatest(0, "
                     + postgres_now
                     + " - locked.at),"
                       " live_entries = a.live_entries + locked.live_entries,"
                       " last_number = greatest(a.last_number, locked.last_number),"
                       " first_kept = greatest(a.first_kept, locked.first_kept),"
                       " admitted_total = a.admitted_total + locked.admitted,"
                       " completed_total = a.completed_total + locked.completed,"
                       " last_batch = greatest(a.last_batch, locked.last_batch), counted_seq = locked.to_seq"
                       " FROM locked WHERE a.number = locked.number",
                   postgres_guard_failed, locked);
}

/// Every claim move includes the claim's items; most are unchanged.
std::string update_claim_item() {
  const sql_columns item = {integer("aggregate"), id("claim"), integer("position"), integer("refunded")};
  return "UPDATE claim_item AS i SET refunded = given.refunded FROM " + postgres_given(item)
         + " WHERE i.aggregate = given.aggregate AND i.claim = given.claim AND i.position = given.position"
           " AND i.refunded <> given.refunded";
}

/// Of live rows only.
std::string end_claim_seat() {
  const sql_columns ended = {integer("aggregate"), id("claim"), integer("seat")};
  return every_row("UPDATE claim_seat AS s SET is_live = false FROM " + postgres_given(ended)
                   + " WHERE s.aggregate = given.aggregate AND s.claim = given.claim AND s.seat = given.seat"
                     " AND s.is_live");
}

/// Ignores absent rows.
std::string remove(const std::string& table, const sql_columns& keys) {
  return "DELETE FROM " + table + " USING " + postgres_given(keys) + " WHERE "
         + join_columns(keys, " AND ",
                        [&](const sql_column& k) { return table + "." + k.name + " = given." + k.name; });
}

/// Of each aggregate all up to this place.
std::string remove_log_batches() {
  return "DELETE FROM log_batch USING "
         + postgres_given({integer("aggregate"), integer("seq"), integer("ordinal")})
         + " WHERE log_batch.aggregate = given.aggregate"
           " AND (log_batch.seq, log_batch.ordinal) <= (given.seq, given.ordinal)";
}

std::array<postgres_statement, postgres_write_count> make_table() {
  const auto aggregate = integer("aggregate");
  return {{
    {"move_aggregate", move_aggregate()},
    {"raise_generation",
     update("aggregate", {integer("number")}, {integer("cache_generation")}, {integer("cache_generation")})},
    {"insert_aggregate",
     insert("aggregate", {integer("number"), integer("kind"), integer("tenant"), integer("committed_at")})},
    {"insert_event", insert<event_row>()},
    {"update_event", update<event_row>()},
    {"insert_ticket_type", insert<ticket_type_row>()},
    {"update_ticket_type", update<ticket_type_row>()},
    {"move_stock", move_stock()},
    {"join", insert_plain_joins()},
    {"join_as_is", insert<entry_row>()},
    {"update_entry", update<entry_row>()},
    {"insert_claim", insert<claim_row>()},
    {"insert_claim_item", insert<claim_item>()},
    {"update_claim", update<claim_row>()},
    {"update_claim_item", update_claim_item()},
    {"insert_payment", insert<payment_row>()},
    {"update_payment", update<payment_row>()},
    {"insert_refund", insert<refund_row>()},
    {"update_refund", update<refund_row>()},
    {"insert_promo_code", insert<promo_code_row>()},
    {"update_promo_code", update<promo_code_row>()},
    {"move_promo_uses", move_promo_uses()},
    {"insert_order", insert<order_row>()},
    {"update_order", update<order_row>()},
    {"insert_event_ticket", insert<event_ticket_row>()},
    {"update_event_ticket", update<event_ticket_row>()},
    {"store_seat_plan", store<seat_plan_row>()},
    {"remove_seat_plan", remove("seat_plan", {integer("tenant"), id("id")})},
    {"remove_event_plan", remove("event_plan", {aggregate})},
    {"insert_event_plan", insert<event_plan_row>()},
    {"set_seat_rules",
     update("event_plan", {aggregate}, {},
            {integer("singles"), {"may_split", "boolean"}, {"accessible_for_all", "boolean"}})},
    {"insert_claim_seat", insert<claim_seat_row>()},
    {"end_claim_seat", end_claim_seat()},
    {"store_seat_setting", store<seat_setting_row>()},
    {"store_log_state", store<log_state_row>()},
    {"store_log_tile", store<log_tile_row>()},
    {"insert_log_batch", insert<log_batch_row>()},
    {"remove_log_batches", remove_log_batches()},
    {"insert_transfer", insert<transfer_row>()},
    {"update_transfer", update<transfer_row>()},
    {"store_checkin_list", store<checkin_list_row>()},
    {"store_checkin_device", store<checkin_device_row>()},
    {"insert_scan", insert<scan_row>()},
    {"insert_statistics", insert<statistics_row>()},
    {"store_dead_letter", store<dead_letter_row>()},
    {"store_priority", store<priority_row>()},
    {"remove_priority", remove("event_priority", {aggregate, id("customer")})},
    {"store_invitation", store<invitation_row>()},
    {"insert_access", insert<entry_access_row>()},
    {"insert_lock", insert<session_lock_row>()},
    {"remove_lock", remove("session_lock", {aggregate, text("name")})},
    {"store_lobby", store<lobby_row>()},
    {"store_block", store<block_row>()},
    {"remove_block", remove("blocked_customer", {integer("tenant"), id("organizer"), id("customer")})},
    {"remove_organizer", remove("organizer", {aggregate, id("id")})},
    {"store_organizer", store<organizer_row>()},
    {"store_customer", store<customer_row>()},
    {"store_tenant", store<tenant_row>()},
    {"store_setting", store<setting_row>()},
    {"store_api_key", store<api_key_row>()},
    {"store_otp", store<otp_row>()},
    {"remove_otp", remove("code_request", {aggregate, text("handle_hash")})},
    {"store_organizer_session", store<organizer_session_row>()},
    {"remove_organizer_session", remove("organizer_session", {aggregate, id("id")})},
    {"insert_idempotency", insert<idempotency_row>()},
    {"insert_receipt", insert<receipt_row>()},
    {"insert_audit", insert<audit_row>()},
    {"insert_outbox", insert<outbox_row>()},
    {"insert_history", insert("history", {aggregate, integer("seq"), integer("ordinal"), integer("tenant"),
                                          integer("kind"), id("id"), integer("queue_number"),
                                          integer("from_status"), integer("to_status"), integer("at")})},
  }};
}

} // namespace

std::span<const postgres_statement> postgres_writes() {
  static const auto table = make_table();
  return table;
}

} // namespace fq
