// SPDX-License-Identifier: Apache-2.0
// One table: name, rows and action of each statement. Columns are in the order of the values from
// postgres_rounds.
#include "store/postgres/postgres_statements.hpp"

#include <array>

namespace fq {
namespace {

struct column {
  const char* name;
  const char* type;
};
constexpr column integer(const char* name) { return {name, "bigint"}; }
constexpr column boolean(const char* name) { return {name, "boolean"}; }
constexpr column id(const char* name) { return {name, "uuid"}; }
constexpr column text(const char* name) { return {name, "text"}; }
constexpr column bytes(const char* name) { return {name, "bytea"}; }
using columns = std::vector<column>;

/// The elements of `items`, each formatted by `format`.
template <class Format>
std::string list(const columns& items, const std::string& separator, Format format) {
  std::string result;
  for (const auto& c : items) result += (result.empty() ? "" : separator) + format(c);
  return result;
}

std::string names(const columns& items) {
  return list(items, ", ", [](const column& c) { return std::string{c.name}; });
}

/// The parameters as a table `given`. One unnest per column in a SELECT list, because unnest in FROM costs
/// 20 % more.
std::string given(const columns& items) {
  int number = 0;
  return "(SELECT "
         + list(items, ", ",
                [&](const column& c) {
                  return "unnest($" + std::to_string(++number) + "::" + c.type + "[]) AS " + c.name;
                })
         + ") AS given";
}

std::string insert(const std::string& table, const columns& items) {
  return "INSERT INTO " + table + " (" + names(items) + ") SELECT * FROM " + given(items);
}

/// Inserts, or overwrites the columns `changed` of the row with the same `key`.
std::string store(const std::string& table, const std::string& key, const columns& items,
                  const columns& changed) {
  return insert(table, items) + " ON CONFLICT (" + key + ") DO UPDATE SET "
         + list(changed, ", ", [](const column& c) { return std::string{c.name} + " = excluded." + c.name; });
}
/// Inserts, or replaces the row with the same `key`.
std::string store(const std::string& table, const std::string& key, const columns& items) {
  return store(table, key, items, items);
}

/// `statement` must affect every given row, or it ends the transaction. `before`: a query that it refers to.
std::string every_row(const std::string& statement, const std::string& refusal = "FQ001",
                      const std::string& before = "") {
  return "WITH " + before + "met AS (" + statement + " RETURNING 1) SELECT refuse_batch('" + refusal
         + "') FROM (SELECT count(*) AS rows FROM met) AS met WHERE rows <> cardinality($1)";
}

struct update_columns {
  columns keys; ///< find the row
  columns expected; ///< required values of the row; the parameter is called from_<name>
  columns changed;
};

std::string update(const std::string& table, const update_columns& c) {
  std::vector<std::string> aliases;
  for (const auto& e : c.expected) aliases.push_back(std::string{"from_"} + e.name);
  columns parameters = c.keys;
  for (std::size_t i = 0; i < c.expected.size(); ++i)
    parameters.push_back({aliases[i].c_str(), c.expected[i].type});
  parameters.insert(parameters.end(), c.changed.begin(), c.changed.end());
  const auto is_given = [&](const column& k) { return table + "." + k.name + " = given." + k.name; };
  const auto was_given = [&](const column& e) {
    return " AND " + table + "." + e.name + " = given.from_" + e.name;
  };
  const auto becomes = [](const column& k) { return std::string{k.name} + " = given." + k.name; };
  return every_row("UPDATE " + table + " SET " + list(c.changed, ", ", becomes) + " FROM " + given(parameters)
                   + " WHERE " + list(c.keys, " AND ", is_given) + list(c.expected, "", was_given));
}

// -- rows that are both inserted and updated

const columns event_settings = {
  integer("tenant"),
  id("organizer"),
  text("name"),
  text("currency"),
  integer("status"),
  integer("queue_opens_at"),
  integer("sale_start"),
  integer("sale_end"),
  integer("policy"),
  integer("concurrency"),
  integer("rate_per_minute"),
  integer("batch_size"),
  integer("admission_interval_ms"),
  integer("over_admission_percent"),
  integer("session_ttl_ms"),
  integer("claim_window_ms"),
  integer("ticket_ttl_ms"),
  integer("claim_ttl_ms"),
  integer("claims_per_customer"),
  integer("created_at"),
  integer("updated_at"),
  integer("kind"),
  text("external_id"),
  text("message"),
  integer("capacity"),
  integer("presence_timeout_ms"),
  integer("away_grace_ms"),
  integer("async_percent"),
};

const columns ticket_type_settings = {
  text("name"),       integer("price"),  integer("total"),     integer("max_per_order"),
  boolean("on_sale"), boolean("hidden"), integer("sale_from"), integer("sale_until")};

const columns promo_code_settings = {
  text("code"),          integer("kind"),        integer("value"),    integer("ticket_types"),
  integer("valid_from"), integer("valid_until"), integer("uses_max"), integer("uses_per_customer"),
  boolean("is_active"),  integer("updated_at")};

const columns joined = {integer("aggregate"),      integer("queue_number"), integer("tenant"),
                        integer("priority_class"), id("subject"),           text("subject_name"),
                        integer("join_key"),       integer("joined_at")};

const columns entry_progress = {
  integer("status"),   boolean("has_claimed"), integer("admitted_at"),  integer("session_expires_at"),
  integer("claim_by"), integer("ended_at"),    integer("admission_no"), integer("admission_batch")};

columns operator+(columns a, const columns& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Each type once, with the sum of its moves; refused if any intermediate step breaks a rule (I1).
std::string move_stock() {
  const columns moved = {integer("aggregate"),  integer("ordinal"),    integer("held"),      integer("sold"),
                         integer("least_held"), integer("least_sold"), integer("most_taken")};
  return every_row(
    "UPDATE ticket_type AS t SET held = t.held + given.held, sold = t.sold + given.sold FROM " + given(moved)
    + " WHERE t.aggregate = given.aggregate AND t.ordinal = given.ordinal AND t.held + given.least_held >= 0"
      " AND t.sold + given.least_sold >= 0 AND t.held + t.sold + given.most_taken <= t.total");
}

/// Each promo code once, with the sum of its moves, like move_stock.
std::string move_promo_uses() {
  const columns moved = {integer("aggregate"), integer("ordinal"), integer("uses"), integer("least"),
                         integer("most")};
  return every_row(
    "UPDATE promo_code AS p SET uses = p.uses + given.uses FROM " + given(moved)
    + " WHERE p.aggregate = given.aggregate AND p.ordinal = given.ordinal AND p.uses + given.least >= 0"
      " AND (p.uses_max = 0 OR p.uses + given.most <= p.uses_max)");
}

/// The guard of a batch: it must continue applied_seq under the current epoch. Skips locked rows, so that
/// one lock does not delay all batches of the transaction.
std::string move_aggregate() {
  const columns moved = {integer("number"), integer("epoch"), integer("from_seq"),
                         integer("to_seq"), integer("at"),    integer("live_entries")};
  const auto locked = "locked AS MATERIALIZED (SELECT given.* FROM " + given(moved)
                      + " JOIN aggregate AS a ON a.number = given.number AND a.epoch = given.epoch"
                        " AND a.applied_seq = given.from_seq FOR UPDATE OF a SKIP LOCKED), ";
  return every_row(
    "UPDATE aggregate AS a SET applied_seq = locked.to_seq, committed_at = greatest(a.committed_at, "
    "locked.at),"
    " live_entries = a.live_entries + locked.live_entries FROM locked WHERE a.number = locked.number",
    postgres_guard_failed, locked);
}

/// Every claim move includes the claim's items; most are unchanged.
std::string update_claim_item() {
  const columns item = {integer("aggregate"), id("claim"), integer("position"), integer("refunded")};
  return "UPDATE claim_item AS i SET refunded = given.refunded FROM " + given(item)
         + " WHERE i.aggregate = given.aggregate AND i.claim = given.claim AND i.position = given.position"
           " AND i.refunded <> given.refunded";
}

/// Ignores absent rows.
std::string remove(const std::string& table, const columns& keys) {
  return "DELETE FROM " + table + " USING " + given(keys) + " WHERE "
         + list(keys, " AND ", [&](const column& k) { return table + "." + k.name + " = given." + k.name; });
}

std::array<postgres_statement, postgres_write_count> make_table() {
  const auto aggregate = integer("aggregate");
  const columns by_id = {aggregate, id("id")};
  const columns in_order = {aggregate, integer("seq"), integer("ordinal"), integer("tenant")};
  return {{
    {"move_aggregate", move_aggregate()},
    {"raise_generation",
     update("aggregate",
            {{integer("number")}, {integer("cache_generation")}, {integer("cache_generation")}})},
    {"insert_aggregate",
     insert("aggregate", {integer("number"), integer("kind"), integer("tenant"), integer("committed_at")})},
    {"insert_event", insert("event", by_id + event_settings)},
    {"update_event", update("event", {by_id, {integer("status")}, event_settings})},
    {"insert_ticket_type",
     insert("ticket_type",
            columns{aggregate, integer("ordinal"), integer("tenant"), id("id")} + ticket_type_settings)},
    {"update_ticket_type",
     update("ticket_type", {{aggregate, integer("ordinal")}, {}, ticket_type_settings})},
    {"move_stock", move_stock()},
    {"join", insert("queue_entry", joined)},
    {"join_as_is", insert("queue_entry", joined + entry_progress)},
    {"update_entry", update("queue_entry", {{aggregate, integer("queue_number")},
                                            {integer("status")},
                                            columns{integer("priority_class")} + entry_progress})},
    {"insert_claim",
     insert("claim",
            by_id
              + columns{integer("tenant"), id("customer"), integer("queue_number"), integer("status"),
                        integer("live_slot"), integer("item_count"), integer("amount"), integer("created_at"),
                        integer("expires_at"), integer("ended_at"), integer("promo")})},
    {"insert_claim_item",
     insert("claim_item", {aggregate, id("claim"), integer("position"), integer("tenant"),
                           integer("ticket_type"), integer("quantity"), integer("unit_price"),
                           integer("refunded"), integer("donation"), integer("unit_discount")})},
    {"update_claim", update("claim", {by_id,
                                      {integer("status"), integer("item_count")},
                                      {integer("status"), integer("live_slot"), integer("expires_at"),
                                       integer("ended_at")}})},
    {"update_claim_item", update_claim_item()},
    {"insert_payment",
     insert("payment",
            by_id
              + columns{integer("tenant"), id("claim"), id("customer"), integer("status"), text("gateway"),
                        text("reference"), text("authorization_url"), text("gateway_id"), text("destination"),
                        integer("amount"), integer("captured"), integer("tax"), integer("refunded"),
                        integer("created_at"), integer("updated_at")})},
    {"update_payment",
     update("payment", {by_id,
                        {integer("status")},
                        {integer("status"), id("claim"), text("authorization_url"), text("gateway_id"),
                         integer("captured"), integer("tax"), integer("refunded"), integer("updated_at")}})},
    {"insert_refund",
     insert("refund", by_id
                        + columns{integer("tenant"), id("payment"), integer("status"), integer("amount"),
                                  text("items"), integer("attempts"), integer("next_attempt_at"),
                                  integer("created_at"), integer("updated_at")})},
    {"update_refund", update("refund", {by_id,
                                        {integer("status")},
                                        {integer("status"), integer("attempts"), integer("next_attempt_at"),
                                         integer("updated_at")}})},
    {"insert_promo_code",
     insert("promo_code", columns{aggregate, integer("ordinal"), integer("tenant"), id("id")}
                            + promo_code_settings + columns{integer("created_at")})},
    {"update_promo_code", update("promo_code", {{aggregate, integer("ordinal")}, {}, promo_code_settings})},
    {"move_promo_uses", move_promo_uses()},
    {"insert_order", insert("orders", by_id
                                        + columns{integer("tenant"),
                                                  id("claim"),
                                                  id("customer"),
                                                  integer("status"),
                                                  text("first_name"),
                                                  text("last_name"),
                                                  text("email"),
                                                  text("phone"),
                                                  text("promo_code"),
                                                  integer("subtotal"),
                                                  integer("discount"),
                                                  integer("donations"),
                                                  integer("platform_fee"),
                                                  integer("processing_fee"),
                                                  integer("total"),
                                                  text("success_url"),
                                                  text("cancel_url"),
                                                  text("failure"),
                                                  integer("payment_link_at"),
                                                  integer("created_at"),
                                                  integer("updated_at")})},
    {"update_order", update("orders", {by_id,
                                       {integer("status")},
                                       {integer("status"), id("claim"), text("failure"),
                                        integer("payment_link_at"), integer("updated_at")}})},
    {"store_dead_letter",
     store("dead_letter", "aggregate, id",
           by_id
             + columns{integer("tenant"), integer("kind"), id("subject"), integer("status"), text("detail"),
                       text("payload"), integer("created_at"), integer("updated_at")},
           {integer("status"), integer("updated_at")})},
    {"store_priority",
     store("event_priority", "aggregate, customer",
           {aggregate, id("customer"), integer("tenant"), integer("priority_class"), integer("created_at")})},
    {"remove_priority", remove("event_priority", {aggregate, id("customer")})},
    {"store_invitation", store("event_invitation", "aggregate, customer",
                               {aggregate, id("customer"), integer("tenant"), integer("ticket_type"),
                                integer("quantity"), integer("valid_until"), integer("told_at")})},
    {"store_block", store("blocked_customer", "tenant, organizer, customer",
                          {integer("tenant"), id("organizer"), id("customer"), text("reason"),
                           boolean("includes_ended"), integer("created_at")})},
    {"remove_block", remove("blocked_customer", {integer("tenant"), id("organizer"), id("customer")})},
    {"store_organizer",
     store("organizer", "aggregate, id",
           by_id + columns{integer("tenant"), text("email"), text("password_hash"), integer("created_at")})},
    {"store_customer", store("customer", "aggregate, id",
                             by_id + columns{integer("tenant"), text("email"), integer("created_at")})},
    {"store_tenant", store("tenant", "id",
                           {integer("id"), text("name"), text("subject_jwk"), text("stripe_account"),
                            integer("created_at")})},
    {"store_setting", store("setting", "name", {text("name"), text("value"), integer("updated_at")})},
    {"store_api_key", store("api_key", "id",
                            {id("id"), integer("tenant"), integer("scope"), text("secret_hash"),
                             text("label"), integer("created_at"), integer("revoked_at")})},
    {"store_otp", store("otp", "aggregate, email",
                        {aggregate, text("email"), integer("tenant"), text("code_hash"),
                         integer("expires_at"), integer("failures")})},
    {"remove_otp", remove("otp", {aggregate, text("email")})},
    {"insert_idempotency",
     insert("idempotency",
            in_order + columns{id("key"), id("body"), integer("created_at"), bytes("answer")})},
    {"insert_receipt",
     insert("receipt", in_order + columns{text("gateway"), text("gateway_event"), integer("received_at")})},
    {"insert_audit", insert("audit", in_order
                                       + columns{id("id"), id("target"), text("actor"), text("action"),
                                                 text("detail"), text("reason"), integer("at")})},
    {"insert_outbox", insert("outbox", in_order
                                         + columns{id("id"), text("topic"), text("payload"),
                                                   integer("created_at"), integer("lanes")})},
    {"insert_history",
     insert("history", in_order
                         + columns{integer("kind"), id("id"), integer("queue_number"), integer("from_status"),
                                   integer("to_status"), integer("at")})},
  }};
}

} // namespace

std::span<const postgres_statement> postgres_writes() {
  static const auto table = make_table();
  return table;
}

} // namespace fq
