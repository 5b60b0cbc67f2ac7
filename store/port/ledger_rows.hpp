// SPDX-License-Identifier: Apache-2.0
// Mapping of table rows to structs for every SQL engine: the columns to read, and the conversion in the same
// order. A record is the engine's own row; it gives id, text, integer, boolean, number, time, duration,
// digest and blob by column.
#pragma once
#include "domain/model/rows.hpp"
#include "store/port/ledger.hpp"
#include "store/port/refund_items.hpp"

#include <string>
#include <utility>

namespace fq {

inline const std::string event_columns =
  "SELECT aggregate, tenant, id, organizer, name, currency, status, queue_opens_at, sale_start, sale_end, "
  "policy, concurrency,"
  " rate_per_minute, batch_size, admission_interval_ms, over_admission_percent, session_ttl_ms, "
  "claim_window_ms, ticket_ttl_ms,"
  " claim_ttl_ms, claims_per_customer, created_at, updated_at, kind, external_id, message, capacity, "
  "presence_timeout_ms,"
  " away_grace_ms, async_percent FROM event ";

inline constexpr auto event_of = [](const auto& r) {
  event_row e;
  e.aggregate = r.template number<aggregate_id>(0);
  e.tenant = r.template number<tenant_id>(1);
  e.id = r.id(2);
  e.organizer = r.id(3);
  e.name = r.text(4);
  e.currency = r.text(5);
  e.status = r.template number<event_status>(6);
  e.queue_opens_at = r.time(7);
  e.sale_start = r.time(8);
  e.sale_end = r.time(9);
  e.queue.policy = r.template number<admission_policy>(10);
  e.queue.concurrency = r.template number<std::uint32_t>(11);
  e.queue.rate_per_minute = r.template number<std::uint32_t>(12);
  e.queue.batch_size = r.template number<std::uint32_t>(13);
  e.queue.admission_interval = r.duration(14);
  e.queue.over_admission_percent = r.template number<std::uint32_t>(15);
  e.queue.session_ttl = r.duration(16);
  e.queue.claim_window = r.duration(17);
  e.queue.ticket_ttl = r.duration(18);
  e.claim_ttl = r.duration(19);
  e.claims_per_customer = r.template number<std::uint32_t>(20);
  e.created_at = r.time(21);
  e.updated_at = r.time(22);
  e.kind = r.template number<event_kind>(23);
  e.external_id = r.text(24);
  e.message = r.text(25);
  e.queue.capacity = r.template number<std::uint32_t>(26);
  e.queue.presence_timeout = r.duration(27);
  e.queue.away_grace = r.duration(28);
  e.async_percent = r.template number<std::int32_t>(29);
  return e;
};

/// The first column is for readers of several events' types.
inline const std::string ticket_type_columns = "SELECT aggregate, ordinal, id, name, price, total, held, "
                                               "sold, max_per_order, on_sale, hidden, sale_from, sale_until"
                                               " FROM ticket_type ";

inline constexpr auto ticket_type_of = [](const auto& r) {
  ticket_type_row t;
  t.ordinal = r.template number<std::uint32_t>(1);
  t.id = r.id(2);
  t.name = r.text(3);
  t.price = r.integer(4);
  t.total = r.integer(5);
  t.held = r.integer(6);
  t.sold = r.integer(7);
  t.max_per_order = r.template number<std::uint32_t>(8);
  t.on_sale = r.boolean(9);
  t.hidden = r.boolean(10);
  t.sale_from = r.time(11);
  t.sale_until = r.time(12);
  return t;
};

inline const std::string entry_columns =
  "SELECT queue_number, subject, join_key, joined_at, admitted_at, session_expires_at, claim_by, ended_at, "
  "admission_no,"
  " admission_batch, priority_class, status, has_claimed, subject_name FROM queue_entry ";

inline constexpr auto entry_of = [](const auto& r) {
  entry_row e;
  e.number = r.template number<queue_number>(0);
  e.subject = r.id(1);
  e.join_key = r.template number<std::uint64_t>(2);
  e.joined_at = r.time(3);
  e.admitted_at = r.time(4);
  e.session_expires_at = r.time(5);
  e.claim_by = r.time(6);
  e.ended_at = r.time(7);
  e.admission_no = r.template number<std::uint32_t>(8);
  e.admission_batch = r.template number<std::uint32_t>(9);
  e.priority_class = r.template number<std::uint8_t>(10);
  e.status = r.template number<entry_status>(11);
  e.has_claimed = r.boolean(12);
  e.subject_name = r.text(13);
  return e;
};

inline const std::string claim_columns = "SELECT id, customer, queue_number, status, live_slot, item_count, "
                                         "amount, created_at, expires_at, ended_at, promo FROM claim ";

/// The items are not filled in, only reserved.
inline constexpr auto claim_of = [](const auto& r) {
  claim_row c;
  c.id = r.id(0);
  c.customer = r.id(1);
  c.entry = r.template number<queue_number>(2);
  c.status = r.template number<claim_status>(3);
  c.live_slot = r.template number<std::uint8_t>(4);
  c.items.reserve(r.template number<std::size_t>(5));
  c.amount = r.integer(6);
  c.created_at = r.time(7);
  c.expires_at = r.time(8);
  c.ended_at = r.time(9);
  c.promo = r.template number<std::uint32_t>(10);
  return c;
};

/// The first column is the claim's id.
inline const std::string claim_item_columns =
  "SELECT claim, ticket_type, quantity, unit_price, refunded, donation, unit_discount FROM claim_item ";

inline constexpr auto claim_item_of = [](const auto& r) {
  return claim_item{r.template number<std::uint32_t>(1),
                    r.template number<std::uint32_t>(2),
                    r.integer(3),
                    r.template number<std::uint32_t>(4),
                    r.integer(5),
                    r.integer(6)};
};

inline const std::string payment_columns =
  "SELECT id, claim, customer, status, gateway, reference, authorization_url, gateway_id, destination, "
  "amount, captured, tax, refunded,"
  " created_at, updated_at FROM payment ";

inline constexpr auto payment_of = [](const auto& r) {
  payment_row p;
  p.id = r.id(0);
  p.claim = r.id(1);
  p.customer = r.id(2);
  p.status = r.template number<payment_status>(3);
  p.gateway = r.text(4);
  p.reference = r.text(5);
  p.authorization_url = r.text(6);
  p.gateway_id = r.text(7);
  p.destination = r.text(8);
  p.amount = r.integer(9);
  p.captured = r.integer(10);
  p.tax = r.integer(11);
  p.refunded = r.integer(12);
  p.created_at = r.time(13);
  p.updated_at = r.time(14);
  return p;
};

inline const std::string refund_columns =
  "SELECT id, payment, status, amount, items, attempts, next_attempt_at, created_at, updated_at FROM refund ";

inline constexpr auto refund_of = [](const auto& r) {
  auto items = refund_items_of(r.text(4));
  if (!items) r.is_corrupt("the tickets of a refund cannot be read");
  refund_row f;
  f.id = r.id(0);
  f.payment = r.id(1);
  f.status = r.template number<refund_status>(2);
  f.amount = r.integer(3);
  f.items = std::move(*items);
  f.attempts = r.template number<std::uint32_t>(5);
  f.next_attempt_at = r.time(6);
  f.created_at = r.time(7);
  f.updated_at = r.time(8);
  return f;
};

inline const std::string promo_code_columns =
  "SELECT ordinal, id, code, kind, value, ticket_types, valid_from, valid_until, uses_max, "
  "uses_per_customer, uses, is_active,"
  " created_at, updated_at FROM promo_code ";

inline constexpr auto promo_code_of = [](const auto& r) {
  promo_code_row p;
  p.ordinal = r.template number<std::uint32_t>(0);
  p.id = r.id(1);
  p.code = r.text(2);
  p.reduction = {r.template number<discount_kind>(3), r.integer(4), r.template number<std::uint64_t>(5)};
  p.valid_from = r.time(6);
  p.valid_until = r.time(7);
  p.uses_max = r.template number<std::uint32_t>(8);
  p.uses_per_customer = r.template number<std::uint32_t>(9);
  p.uses = r.template number<std::uint32_t>(10);
  p.is_active = r.boolean(11);
  p.created_at = r.time(12);
  p.updated_at = r.time(13);
  return p;
};

/// FROM `orders AS o`.
inline const std::string order_columns =
  "SELECT o.id, o.claim, o.customer, o.status, o.first_name, o.last_name, o.email, o.phone, o.promo_code, "
  "o.subtotal, o.discount,"
  " o.donations, o.platform_fee, o.processing_fee, o.total, o.success_url, o.cancel_url, o.failure, "
  "o.payment_link_at,"
  " o.created_at, o.updated_at";

inline constexpr auto order_of = [](const auto& r) {
  order_row o;
  o.id = r.id(0);
  o.claim = r.id(1);
  o.customer = r.id(2);
  o.status = r.template number<order_status>(3);
  o.contact = {r.text(4), r.text(5), r.text(6), r.text(7)};
  o.promo_code = r.text(8);
  o.subtotal = r.integer(9);
  o.discount = r.integer(10);
  o.donations = r.integer(11);
  o.platform_fee = r.integer(12);
  o.processing_fee = r.integer(13);
  o.total = r.integer(14);
  o.success_url = r.text(15);
  o.cancel_url = r.text(16);
  o.failure = r.text(17);
  o.payment_link_at = r.time(18);
  o.created_at = r.time(19);
  o.updated_at = r.time(20);
  return o;
};

inline const std::string listed_order_columns =
  order_columns + ", event.id, event.name, event.currency FROM orders AS o JOIN event USING (aggregate) ";

inline constexpr auto listed_order_of = [](const auto& r) {
  return order_listing{r.id(21), r.text(22), r.text(23), order_of(r)};
};

/// FROM `dead_letter AS l`.
inline const std::string dead_letter_columns =
  "SELECT l.id, l.kind, l.subject, l.status, l.detail, l.payload, l.created_at, l.updated_at";

inline constexpr auto dead_letter_of = [](const auto& r) {
  return dead_letter_row{r.id(0),   r.template number<dead_letter_kind>(1),
                         r.id(2),   r.template number<dead_letter_status>(3),
                         r.text(4), r.text(5),
                         r.time(6), r.time(7)};
};

/// Includes letters of aggregates without an event.
inline const std::string listed_dead_letter_columns =
  dead_letter_columns + ", event.id FROM dead_letter AS l LEFT JOIN event USING (aggregate) ";

inline constexpr auto listed_dead_letter_of = [](const auto& r) {
  return dead_letter_listing{r.is_null(8) ? event_id{} : r.id(8), dead_letter_of(r)};
};

inline const std::string priority_columns =
  "SELECT customer, priority_class, created_at FROM event_priority ";
inline constexpr auto priority_of = [](const auto& r) {
  return priority_row{r.id(0), r.template number<std::uint8_t>(1), r.time(2)};
};

inline const std::string invitation_columns =
  "SELECT customer, ticket_type, quantity, valid_until, told_at FROM event_invitation ";
inline constexpr auto invitation_of = [](const auto& r) {
  return invitation_row{r.id(0), r.template number<std::uint32_t>(1), r.template number<std::uint32_t>(2),
                        r.time(3), r.time(4)};
};

inline const std::string block_columns =
  "SELECT tenant, organizer, customer, reason, includes_ended, created_at FROM blocked_customer ";
inline constexpr auto block_of = [](const auto& r) {
  return block_row{r.template number<tenant_id>(0), r.id(1), r.id(2), r.text(3), r.boolean(4), r.time(5)};
};
/// Aggregates of events where a blocked customer has paid and was not fully refunded.
inline const std::string with_blocked =
  "SELECT p.aggregate FROM blocked_customer AS b JOIN payment AS p ON p.customer = b.customer AND p.status "
  "IN (2, 8)"
  " JOIN event AS e ON e.aggregate = p.aggregate AND e.tenant = b.tenant AND (b.includes_ended OR e.status "
  "<> 3) AND (b.organizer = e.organizer OR b.organizer = ";

inline const std::string idempotency_columns = "SELECT key, body, created_at, answer FROM idempotency ";
inline constexpr auto idempotency_of = [](const auto& r) {
  return idempotency_row{r.digest(0), r.digest(1), r.time(2), r.blob(3)};
};

inline const std::string receipt_columns = "SELECT gateway, gateway_event, received_at FROM receipt ";
inline constexpr auto receipt_of = [](const auto& r) { return receipt_row{r.text(0), r.text(1), r.time(2)}; };

inline const std::string organizer_columns =
  "SELECT id, tenant, email, password_hash, created_at FROM organizer ";
inline constexpr auto organizer_of = [](const auto& r) {
  return organizer_row{r.id(0), r.template number<tenant_id>(1), r.text(2), r.text(3), r.time(4)};
};

inline const std::string organizer_tenant_columns = "SELECT id, tenant FROM organizer ";
inline constexpr auto organizer_tenant_of = [](const auto& r) {
  return std::pair{r.id(0), r.template number<tenant_id>(1)};
};

inline const std::string customer_columns = "SELECT id, tenant, email, created_at FROM customer ";
inline constexpr auto customer_of = [](const auto& r) {
  return customer_row{r.id(0), r.template number<tenant_id>(1), r.text(2), r.time(3)};
};

inline const std::string otp_columns = "SELECT email, code_hash, expires_at, failures FROM otp ";
inline constexpr auto otp_of = [](const auto& r) {
  return otp_row{r.text(0), r.text(1), r.time(2), r.template number<std::uint32_t>(3)};
};

inline const std::string tenant_columns =
  "SELECT id, name, subject_jwk, stripe_account, created_at FROM tenant ";
inline constexpr auto tenant_of = [](const auto& r) {
  return tenant_row{r.template number<tenant_id>(0), r.text(1), r.text(2), r.text(3), r.time(4)};
};

inline const std::string setting_columns = "SELECT name, value, updated_at FROM setting ";
inline constexpr auto setting_of = [](const auto& r) { return setting_row{r.text(0), r.text(1), r.time(2)}; };

inline const std::string api_key_columns =
  "SELECT id, tenant, scope, secret_hash, label, created_at, revoked_at FROM api_key ";
inline constexpr auto api_key_of = [](const auto& r) {
  return api_key_row{r.id(0),
                     r.template number<tenant_id>(1),
                     r.template number<api_key_scope>(2),
                     r.text(3),
                     r.text(4),
                     r.time(5),
                     r.time(6)};
};

inline const std::string audit_columns =
  "SELECT id, tenant, target, actor, action, detail, reason, at FROM audit ";
inline constexpr auto audit_of = [](const auto& r) {
  return audit_row{
    r.id(0), r.template number<tenant_id>(1), r.id(2), r.text(3), r.text(4), r.text(5), r.text(6), r.time(7)};
};

inline const std::string node_columns =
  "SELECT id, address, wire_version, owners, is_settled, is_draining, seen_at, serves, keys FROM node ";
inline constexpr auto node_of = [](const auto& r) {
  return node_row{r.text(0),
                  r.text(1),
                  r.template number<std::uint32_t>(2),
                  r.template number<std::uint32_t>(3),
                  r.boolean(4),
                  r.boolean(5),
                  r.time(6),
                  r.boolean(7),
                  r.text(8)};
};
/// A node without a heartbeat for this time is deleted.
inline constexpr milliseconds node_memory{24 * 60 * 60 * 1000};

inline const std::string device_names =
  "d.id, d.holder, d.channel, d.token, d.is_sandbox, d.registered_at, d.gone_at, d.gone_reason";
inline const std::string endpoint_names =
  "e.id, e.tenant, e.organizer, e.url, e.topics, e.secret_no, e.previous_until, e.is_enabled, e.contact, "
  "e.off_reason, e.created_at, e.updated_at";
inline const std::string delivery_names = "v.target, v.notice, v.channel, v.tenant, v.holder, v.topic, "
                                          "v.payload, v.created_at, v.expires_at, v.state,"
                                          " v.due_at, v.attempts, v.status, v.reason, v.ended_at";
/// These three read columns from `i` on.
inline device_row device_at(const auto& r, int i) {
  return {r.id(i),       r.id(i + 1),      r.template number<channel>(i + 2),
          r.text(i + 3), r.boolean(i + 4), r.time(i + 5),
          r.time(i + 6), r.text(i + 7)};
}
inline webhook_endpoint_row endpoint_at(const auto& r, int i) {
  return {r.id(i),        r.template number<tenant_id>(i + 1),
          r.id(i + 2),    r.text(i + 3),
          r.text(i + 4),  r.template number<std::uint32_t>(i + 5),
          r.time(i + 6),  r.boolean(i + 7),
          r.text(i + 8),  r.text(i + 9),
          r.time(i + 10), r.time(i + 11)};
}
inline delivery_row delivery_at(const auto& r, int i) {
  return {r.id(i),
          r.id(i + 1),
          r.template number<channel>(i + 2),
          r.template number<tenant_id>(i + 3),
          r.id(i + 4),
          r.text(i + 5),
          r.text(i + 6),
          r.time(i + 7),
          r.time(i + 8),
          r.template number<delivery_state>(i + 9),
          r.time(i + 10),
          r.template number<std::uint32_t>(i + 11),
          r.template number<std::int32_t>(i + 12),
          r.text(i + 13),
          r.time(i + 14)};
}
inline constexpr int delivery_columns = 15, device_columns = 8; ///< number of columns
/// A delivery, its device and its endpoint, side by side in one row.
inline due_delivery due_delivery_of(const auto& r) {
  due_delivery due{delivery_at(r, 0), std::nullopt, std::nullopt};
  if (!r.is_null(delivery_columns)) due.device = device_at(r, delivery_columns);
  if (!r.is_null(delivery_columns + device_columns))
    due.endpoint = endpoint_at(r, delivery_columns + device_columns);
  return due;
}

/// disable_endpoint looks for deliveries since `since`. If that is more recent than this, it scans all
/// deliveries by end time, because those are fewer than one busy endpoint's deliveries of a month.
inline constexpr milliseconds a_moment{60'000};

/// Cursor for a listing; nil becomes greater than every row.
inline uuid cursor_of(const uuid& before) { return before.is_nil() ? uuid{~0ull, ~0ull} : before; }

} // namespace fq
