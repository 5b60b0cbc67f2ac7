// SPDX-License-Identifier: Apache-2.0
// One function per kind of change. A change that finds another state than expected updates no row: a
// conflict. A broken constraint is a conflict too, thrown by the statement.
#include "store/sqlite/sqlite_writer.hpp"

#include "store/port/refund_items.hpp"

#include <string>

namespace fq {
namespace {

/// Rows per multi-row INSERT of joins. The remainder uses the smaller size, then single rows. Measured: 32
/// rows per statement take 0.6 of the time of 32 statements; more rows gain nothing.
constexpr std::size_t rows_of_few = 4;
constexpr std::size_t rows_of_many = 32;

std::string join_sql(std::size_t rows) {
  std::string sql = "INSERT INTO queue_entry (aggregate, queue_number, tenant, priority_class, subject, "
                    "subject_name, join_key,"
                    " joined_at) VALUES ";
  for (std::size_t i = 0; i < rows; ++i) sql += i == 0 ? "(?,?,?,?,?,?,?,?)" : ",(?,?,?,?,?,?,?,?)";
  return sql;
}

const entry_row* plain_join_of(const change& c) {
  const auto* joined = std::get_if<entry_joined>(&c);
  return joined && is_plain_join(joined->row) ? &joined->row : nullptr;
}

} // namespace

sqlite_writer::statements::statements(sqlite_db& db) :
    guard(db, "UPDATE aggregate SET applied_seq = ?, committed_at = max(committed_at, ?),"
              " live_entries = live_entries + ?"
              " WHERE number = ? AND epoch = ? AND applied_seq = ? RETURNING tenant"),
    head(db, "SELECT epoch, applied_seq FROM aggregate WHERE number = ?"),
    raise_generation(db, "UPDATE aggregate SET cache_generation = cache_generation + 1 WHERE number = ? AND"
                         " cache_generation = ?"),
    insert_aggregate(db, "INSERT INTO aggregate (number, kind, tenant, committed_at) VALUES (?, ?, ?, ?)"),
    insert_event(
      db, "INSERT INTO event (aggregate, kind, external_id, message, capacity, presence_timeout_ms, "
          "away_grace_ms,"
          " tenant, id, organizer, name, currency, status, queue_opens_at,"
          " sale_start, sale_end, policy, concurrency, rate_per_minute, batch_size,"
          " admission_interval_ms, over_admission_percent, session_ttl_ms, claim_window_ms,"
          " ticket_ttl_ms, claim_ttl_ms, claims_per_customer, async_percent, created_at, updated_at) VALUES"
          " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
    update_event(db, "UPDATE event SET (kind, external_id, message, capacity, presence_timeout_ms, "
                     "away_grace_ms, tenant, organizer, name, currency, status, queue_opens_at, sale_start,"
                     " sale_end, policy, concurrency, rate_per_minute, batch_size, admission_interval_ms,"
                     " over_admission_percent, session_ttl_ms, claim_window_ms, ticket_ttl_ms, claim_ttl_ms,"
                     " claims_per_customer, async_percent, created_at, updated_at) ="
                     " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
                     " WHERE aggregate = ? AND id = ? AND status = ?"),
    insert_ticket_type(
      db, "INSERT INTO ticket_type (aggregate, ordinal, tenant, id, name, price, total, max_per_order,"
          " on_sale, hidden, sale_from, sale_until) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"),
    update_ticket_type(
      db, "UPDATE ticket_type SET name = ?, price = ?, total = ?, max_per_order = ?, on_sale = ?,"
          " hidden = ?, sale_from = ?, sale_until = ? WHERE"
          " aggregate = ? AND ordinal = ?"),
    move_stock(db,
               "UPDATE ticket_type SET held = held + ?, sold = sold + ? WHERE aggregate = ? AND ordinal = ?"),
    join_one(db, join_sql(1)),
    join_few(db, join_sql(rows_of_few)),
    join_many(db, join_sql(rows_of_many)),
    join_admitted(
      db,
      "INSERT INTO queue_entry (aggregate, queue_number, tenant, priority_class, subject, subject_name, "
      "join_key,"
      " joined_at, status, has_claimed, admitted_at, session_expires_at, claim_by, ended_at, admission_no,"
      " admission_batch) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
    update_entry(
      db, "UPDATE queue_entry SET status = ?, has_claimed = ?, priority_class = ?, admitted_at = ?,"
          " session_expires_at = ?, claim_by = ?, ended_at = ?, admission_no = ?, admission_batch = ? WHERE"
          " aggregate = ? AND queue_number = ? AND status = ?"),
    insert_claim(
      db, "INSERT INTO claim (aggregate, id, tenant, customer, queue_number, status, live_slot,"
          " item_count, amount, created_at, expires_at, ended_at, promo) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"),
    insert_claim_item(
      db, "INSERT INTO claim_item (aggregate, claim, position, tenant, ticket_type, quantity, unit_price,"
          " refunded, donation, unit_discount) VALUES (?,?,?,?,?,?,?,?,?,?)"),
    update_claim(
      db, "UPDATE claim SET status = ?, live_slot = ?, expires_at = ?, ended_at = ? WHERE aggregate = ?"
          " AND id = ? AND status = ? AND item_count = ?"),
    update_claim_item(
      db, "UPDATE claim_item SET refunded = ?1 WHERE aggregate = ?2 AND claim = ?3 AND position = ?4 AND"
          " refunded <> ?1"),
    insert_payment(db,
                   "INSERT INTO payment (aggregate, id, tenant, claim, customer, status, gateway, reference,"
                   " authorization_url, gateway_id, destination, amount, captured, tax, refunded, "
                   "created_at, updated_at) VALUES"
                   " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
    update_payment(db, "UPDATE payment SET status = ?, claim = ?, authorization_url = ?, gateway_id = ?, "
                       "captured = ?, tax = ?, refunded = ?,"
                       " updated_at = ? WHERE aggregate = ? AND id = ? AND status = ?"),
    insert_refund(
      db,
      "INSERT INTO refund (aggregate, id, tenant, payment, status, amount, items, attempts, next_attempt_at,"
      " created_at, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?)"),
    update_refund(db, "UPDATE refund SET status = ?, attempts = ?, next_attempt_at = ?, updated_at = ? WHERE"
                      " aggregate = ? AND id = ? AND status = ?"),
    insert_promo_code(
      db, "INSERT INTO promo_code (aggregate, ordinal, tenant, id, code, kind, value, ticket_types, "
          "valid_from, valid_until, uses_max,"
          " uses_per_customer, is_active, created_at, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
    update_promo_code(
      db, "UPDATE promo_code SET code = ?, kind = ?, value = ?, ticket_types = ?, valid_from = ?, "
          "valid_until = ?, uses_max = ?,"
          " uses_per_customer = ?, is_active = ?, updated_at = ? WHERE aggregate = ? AND ordinal = ?"),
    move_promo_uses(db, "UPDATE promo_code SET uses = uses + ? WHERE aggregate = ? AND ordinal = ?"),
    insert_order(
      db,
      "INSERT INTO orders (aggregate, id, tenant, claim, customer, status, first_name, last_name, email, "
      "phone, promo_code,"
      " subtotal, discount, donations, platform_fee, processing_fee, total, success_url, cancel_url, failure,"
      " payment_link_at, created_at, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
    update_order(db, "UPDATE orders SET status = ?, claim = ?, failure = ?, payment_link_at = ?, updated_at "
                     "= ? WHERE aggregate = ? AND id = ?"
                     " AND status = ?"),
    store_dead_letter(
      db, "INSERT INTO dead_letter (aggregate, id, tenant, kind, subject, status, detail, payload, "
          "created_at, updated_at) VALUES"
          " (?,?,?,?,?,?,?,?,?,?) ON CONFLICT (aggregate, id) DO UPDATE SET status = excluded.status,"
          " updated_at = excluded.updated_at"),
    store_priority(db, "INSERT INTO event_priority (aggregate, customer, tenant, priority_class, created_at) "
                       "VALUES (?,?,?,?,?) ON CONFLICT"
                       " (aggregate, customer) DO UPDATE SET priority_class = excluded.priority_class, "
                       "created_at = excluded.created_at"),
    remove_priority(db, "DELETE FROM event_priority WHERE aggregate = ? AND customer = ?"),
    store_invitation(db, "INSERT INTO event_invitation (aggregate, customer, tenant, ticket_type, quantity, "
                         "valid_until, told_at) VALUES (?,?,?,?,?,?,?)"
                         " ON CONFLICT (aggregate, customer) DO UPDATE SET ticket_type = "
                         "excluded.ticket_type, quantity = excluded.quantity,"
                         " valid_until = excluded.valid_until, told_at = excluded.told_at"),
    store_block(db, "INSERT INTO blocked_customer (tenant, organizer, customer, reason, includes_ended, "
                    "created_at) VALUES (?,?,?,?,?,?) ON CONFLICT"
                    " (tenant, organizer, customer) DO UPDATE SET reason = excluded.reason, includes_ended = "
                    "excluded.includes_ended,"
                    " created_at = excluded.created_at"),
    remove_block(db, "DELETE FROM blocked_customer WHERE tenant = ? AND organizer = ? AND customer = ?"),
    store_setting(db, "INSERT INTO setting (name, value, updated_at) VALUES (?,?,?) ON CONFLICT (name) DO "
                      "UPDATE SET value = excluded.value,"
                      " updated_at = excluded.updated_at"),
    insert_idempotency(
      db, "INSERT INTO idempotency (aggregate, seq, ordinal, tenant, key, body, created_at, answer)"
          " VALUES (?,?,?,?,?,?,?,?)"),
    insert_receipt(
      db, "INSERT INTO receipt (aggregate, seq, ordinal, tenant, gateway, gateway_event, received_at)"
          " VALUES (?,?,?,?,?,?,?)"),
    insert_outbox(
      db, "INSERT INTO outbox (aggregate, seq, ordinal, tenant, id, topic, payload, created_at, lanes) VALUES"
          " (?,?,?,?,?,?,?,?,?)"),
    store_organizer(
      db, "INSERT INTO organizer (aggregate, id, tenant, email, password_hash, created_at) VALUES"
          " (?,?,?,?,?,?) ON CONFLICT (aggregate, id) DO UPDATE SET tenant = excluded.tenant, email ="
          " excluded.email, password_hash = excluded.password_hash, created_at = excluded.created_at"),
    store_customer(
      db, "INSERT INTO customer (aggregate, id, tenant, email, created_at) VALUES (?,?,?,?,?) ON CONFLICT"
          " (aggregate, id) DO UPDATE SET tenant = excluded.tenant, email = excluded.email, created_at ="
          " excluded.created_at"),
    store_otp(db,
              "INSERT INTO otp (aggregate, email, tenant, code_hash, expires_at, failures) VALUES"
              " (?,?,?,?,?,?) ON CONFLICT (aggregate, email) DO UPDATE SET code_hash = excluded.code_hash,"
              " expires_at = excluded.expires_at, failures = excluded.failures"),
    store_tenant(db, "INSERT INTO tenant (id, name, subject_jwk, stripe_account, created_at) VALUES "
                     "(?,?,?,?,?) ON CONFLICT (id) DO UPDATE"
                     " SET name = excluded.name, subject_jwk = excluded.subject_jwk, stripe_account = "
                     "excluded.stripe_account,"
                     " created_at = excluded.created_at"),
    store_api_key(
      db, "INSERT INTO api_key (id, tenant, scope, secret_hash, label, created_at, revoked_at) VALUES"
          " (?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET tenant = excluded.tenant, scope = excluded.scope,"
          " secret_hash = excluded.secret_hash, label = excluded.label, created_at = excluded.created_at,"
          " revoked_at = excluded.revoked_at"),
    insert_audit(
      db, "INSERT INTO audit (aggregate, seq, ordinal, tenant, id, target, actor, action, detail, reason, at)"
          " VALUES (?,?,?,?,?,?,?,?,?,?,?)"),
    remove_otp(db, "DELETE FROM otp WHERE aggregate = ? AND email = ?"),
    insert_history(
      db, "INSERT INTO history (aggregate, seq, ordinal, tenant, kind, key, from_status, to_status, at)"
          " VALUES (?,?,?,?,?,?,?,?,?)"),
    prune_idempotency(
      db, "DELETE FROM idempotency WHERE (aggregate, seq, ordinal) IN (SELECT aggregate, seq, ordinal"
          " FROM idempotency WHERE created_at < ? ORDER BY created_at, aggregate, seq, ordinal LIMIT ?)"),
    prune_receipts(
      db, "DELETE FROM receipt WHERE (aggregate, seq, ordinal) IN (SELECT aggregate, seq, ordinal FROM"
          " receipt WHERE received_at < ? ORDER BY received_at, aggregate, seq, ordinal LIMIT ?)") {}

// -- the content of one batch

/// Every operator() returns whether the change found the expected state.
class sqlite_writer::content {
public:
  content(statements& sql, const batch& b, tenant_id tenant) : sql_(sql), batch_(b), tenant_(tenant) {}

  bool write_all() {
    for (std::size_t i = 0; i < batch_.content.size();) {
      if (const auto joins = count_plain_joins(i)) {
        write_joins(i, joins);
        i += joins;
      } else if (!std::visit(*this, batch_.content[i++])) {
        return false;
      }
    }
    return true;
  }

  bool operator()(const event_created& c) {
    const auto& e = c.event;
    if (e.aggregate < first_event_aggregate) return false;
    for (const auto& t : c.ticket_types)
      if (t.held != 0 || t.sold != 0) return false;
    const auto& q = e.queue;
    sql_.insert_aggregate.run(e.aggregate, aggregate_kind_of(e.kind), e.tenant, batch_.at);
    sql_.insert_event.run(e.aggregate, e.kind, e.external_id, e.message, q.capacity, q.presence_timeout,
                          q.away_grace, e.tenant, e.id, e.organizer, e.name, e.currency, e.status,
                          e.queue_opens_at, e.sale_start, e.sale_end, q.policy, q.concurrency,
                          q.rate_per_minute, q.batch_size, q.admission_interval, q.over_admission_percent,
                          q.session_ttl, q.claim_window, q.ticket_ttl, e.claim_ttl, e.claims_per_customer,
                          e.async_percent, e.created_at, e.updated_at);
    for (const auto& t : c.ticket_types) insert_ticket_type(e.aggregate, e.tenant, t);
    // The history of the event starts before its first batch.
    constexpr auto kind = history_kind::event;
    sql_.insert_history.run(e.aggregate, 0, 0, e.tenant, kind, e.id, nullptr, e.status, batch_.at);
    return true;
  }

  bool operator()(const event_changed& c) {
    const auto& e = c.event;
    if (e.aggregate != batch_.aggregate) return false;
    const auto& q = e.queue;
    const auto changed = sql_.update_event.run(
      e.kind, e.external_id, e.message, q.capacity, q.presence_timeout, q.away_grace, e.tenant, e.organizer,
      e.name, e.currency, e.status, e.queue_opens_at, e.sale_start, e.sale_end, q.policy, q.concurrency,
      q.rate_per_minute, q.batch_size, q.admission_interval, q.over_admission_percent, q.session_ttl,
      q.claim_window, q.ticket_ttl, e.claim_ttl, e.claims_per_customer, e.async_percent, e.created_at,
      e.updated_at, e.aggregate, e.id, c.from);
    return changed == 1 && tell(history_kind::event, e.id, c.from, e.status);
  }

  bool operator()(const ticket_type_added& c) {
    if (c.row.held != 0 || c.row.sold != 0) return false;
    insert_ticket_type(batch_.aggregate, tenant_, c.row);
    return true;
  }

  bool operator()(const ticket_type_changed& c) {
    const auto& t = c.row;
    const auto changed =
      sql_.update_ticket_type.run(t.name, t.price, t.total, t.max_per_order, t.on_sale, t.hidden, t.sale_from,
                                  t.sale_until, batch_.aggregate, t.ordinal);
    return changed == 1;
  }

  bool operator()(const stock_moved& c) {
    return sql_.move_stock.run(c.held_delta, c.sold_delta, batch_.aggregate, c.ticket_type) == 1;
  }

  bool operator()(const entry_joined& c) {
    const auto& e = c.row;
    sql_.join_admitted.run(batch_.aggregate, e.number, tenant_, e.priority_class, e.subject, e.subject_name,
                           e.join_key, e.joined_at, e.status, e.has_claimed, e.admitted_at,
                           e.session_expires_at, e.claim_by, e.ended_at, e.admission_no, e.admission_batch);
    return true;
  }

  bool operator()(const entry_moved& c) {
    const auto& e = c.row;
    const auto changed = sql_.update_entry.run(e.status, e.has_claimed, e.priority_class, e.admitted_at,
                                               e.session_expires_at, e.claim_by, e.ended_at, e.admission_no,
                                               e.admission_batch, batch_.aggregate, e.number, c.from);
    return changed == 1 && tell(history_kind::entry, e.number, c.from, e.status);
  }

  bool operator()(const claim_opened& c) {
    const auto& r = c.row;
    sql_.insert_claim.run(batch_.aggregate, r.id, tenant_, r.customer, r.entry, r.status, r.live_slot,
                          r.items.size(), r.amount, r.created_at, r.expires_at, r.ended_at, r.promo);
    for (std::size_t i = 0; i < r.items.size(); ++i)
      sql_.insert_claim_item.run(batch_.aggregate, r.id, i, tenant_, r.items[i].ticket_type,
                                 r.items[i].quantity, r.items[i].unit_price, r.items[i].refunded,
                                 r.items[i].donation, r.items[i].unit_discount);
    write_history(history_kind::claim, r.id, nullptr, r.status);
    return true;
  }

  bool operator()(const claim_moved& c) {
    const auto& r = c.row;
    const auto changed = sql_.update_claim.run(r.status, r.live_slot, r.expires_at, r.ended_at,
                                               batch_.aggregate, r.id, c.from, r.items.size());
    if (changed != 1) return false;
    for (std::size_t i = 0; i < r.items.size(); ++i)
      sql_.update_claim_item.run(r.items[i].refunded, batch_.aggregate, r.id, i);
    return tell(history_kind::claim, r.id, c.from, r.status);
  }

  bool operator()(const payment_opened& c) {
    const auto& r = c.row;
    sql_.insert_payment.run(batch_.aggregate, r.id, tenant_, r.claim, r.customer, r.status, r.gateway,
                            r.reference, r.authorization_url, r.gateway_id, r.destination, r.amount,
                            r.captured, r.tax, r.refunded, r.created_at, r.updated_at);
    write_history(history_kind::payment, r.id, nullptr, r.status);
    return true;
  }

  bool operator()(const payment_moved& c) {
    const auto& r = c.row;
    const auto changed =
      sql_.update_payment.run(r.status, r.claim, r.authorization_url, r.gateway_id, r.captured, r.tax,
                              r.refunded, r.updated_at, batch_.aggregate, r.id, c.from);
    return changed == 1 && tell(history_kind::payment, r.id, c.from, r.status);
  }

  bool operator()(const refund_opened& c) {
    const auto& r = c.row;
    sql_.insert_refund.run(batch_.aggregate, r.id, tenant_, r.payment, r.status, r.amount, text_of(r.items),
                           r.attempts, r.next_attempt_at, r.created_at, r.updated_at);
    write_history(history_kind::refund, r.id, nullptr, r.status);
    return true;
  }

  bool operator()(const refund_moved& c) {
    const auto& r = c.row;
    const auto changed = sql_.update_refund.run(r.status, r.attempts, r.next_attempt_at, r.updated_at,
                                                batch_.aggregate, r.id, c.from);
    return changed == 1 && tell(history_kind::refund, r.id, c.from, r.status);
  }

  bool operator()(const idempotency_stored& c) {
    const auto& r = c.row;
    sql_.insert_idempotency.run(batch_.aggregate, batch_.to_seq, ordinal_++, tenant_, r.key, r.body,
                                r.created_at, r.answer);
    return true;
  }

  bool operator()(const receipt_stored& c) {
    const auto& r = c.row;
    sql_.insert_receipt.run(batch_.aggregate, batch_.to_seq, ordinal_++, tenant_, r.gateway, r.gateway_event,
                            r.received_at);
    return true;
  }

  bool operator()(const organizer_stored& c) {
    const auto& r = c.row;
    sql_.store_organizer.run(batch_.aggregate, r.id, r.tenant, r.email, r.password_hash, r.created_at);
    return true;
  }

  bool operator()(const customer_stored& c) {
    const auto& r = c.row;
    sql_.store_customer.run(batch_.aggregate, r.id, r.tenant, r.email, r.created_at);
    return true;
  }

  bool operator()(const otp_stored& c) {
    const auto& r = c.row;
    sql_.store_otp.run(batch_.aggregate, r.email, tenant_, r.code_hash, r.expires_at, r.failures);
    return true;
  }

  bool operator()(const otp_removed& c) {
    sql_.remove_otp.run(batch_.aggregate, c.email);
    return true;
  }

  bool operator()(const tenant_stored& c) {
    const auto& r = c.row;
    sql_.store_tenant.run(r.id, r.name, r.subject_jwk, r.stripe_account, r.created_at);
    return true;
  }

  bool operator()(const api_key_stored& c) {
    const auto& r = c.row;
    sql_.store_api_key.run(r.id, r.tenant, r.scope, r.secret_hash, r.label, r.created_at, r.revoked_at);
    return true;
  }

  bool operator()(const promo_code_added& c) {
    const auto& r = c.row;
    if (r.uses != 0) return false;
    sql_.insert_promo_code.run(batch_.aggregate, r.ordinal, tenant_, r.id, r.code, r.reduction.kind,
                               r.reduction.value, r.reduction.ticket_types, r.valid_from, r.valid_until,
                               r.uses_max, r.uses_per_customer, r.is_active, r.created_at, r.updated_at);
    return true;
  }

  bool operator()(const promo_code_changed& c) {
    const auto& r = c.row;
    return sql_.update_promo_code.run(r.code, r.reduction.kind, r.reduction.value, r.reduction.ticket_types,
                                      r.valid_from, r.valid_until, r.uses_max, r.uses_per_customer,
                                      r.is_active, r.updated_at, batch_.aggregate, r.ordinal)
           == 1;
  }

  bool operator()(const promo_uses_moved& c) {
    return sql_.move_promo_uses.run(c.delta, batch_.aggregate, c.promo_code) == 1;
  }

  bool operator()(const order_placed& c) {
    const auto& r = c.row;
    sql_.insert_order.run(batch_.aggregate, r.id, tenant_, r.claim, r.customer, r.status,
                          r.contact.first_name, r.contact.last_name, r.contact.email, r.contact.phone,
                          r.promo_code, r.subtotal, r.discount, r.donations, r.platform_fee, r.processing_fee,
                          r.total, r.success_url, r.cancel_url, r.failure, r.payment_link_at, r.created_at,
                          r.updated_at);
    write_history(history_kind::order, r.id, nullptr, r.status);
    return true;
  }

  bool operator()(const order_moved& c) {
    const auto& r = c.row;
    const auto changed = sql_.update_order.run(r.status, r.claim, r.failure, r.payment_link_at, r.updated_at,
                                               batch_.aggregate, r.id, c.from);
    return changed == 1 && tell(history_kind::order, r.id, c.from, r.status);
  }

  bool operator()(const dead_letter_stored& c) {
    const auto& r = c.row;
    sql_.store_dead_letter.run(batch_.aggregate, r.id, tenant_, r.kind, r.subject, r.status, r.detail,
                               r.payload, r.created_at, r.updated_at);
    return true;
  }

  bool operator()(const priority_stored& c) {
    const auto& r = c.row;
    sql_.store_priority.run(batch_.aggregate, r.customer, tenant_, r.priority_class, r.created_at);
    return true;
  }

  bool operator()(const priority_removed& c) {
    sql_.remove_priority.run(batch_.aggregate, c.customer);
    return true;
  }

  bool operator()(const invitation_stored& c) {
    const auto& r = c.row;
    sql_.store_invitation.run(batch_.aggregate, r.customer, tenant_, r.ticket_type, r.quantity, r.valid_until,
                              r.told_at);
    return true;
  }

  bool operator()(const block_stored& c) {
    const auto& r = c.row;
    sql_.store_block.run(r.tenant, r.organizer, r.customer, r.reason, r.includes_ended, r.created_at);
    return true;
  }

  bool operator()(const block_removed& c) {
    sql_.remove_block.run(c.tenant, c.organizer, c.customer);
    return true;
  }

  bool operator()(const setting_stored& c) {
    const auto& r = c.row;
    sql_.store_setting.run(r.name, r.value, r.updated_at);
    return true;
  }

  bool operator()(const audit_recorded& c) {
    const auto& r = c.row;
    sql_.insert_audit.run(batch_.aggregate, batch_.to_seq, ordinal_++, r.tenant, r.id, r.target, r.actor,
                          r.action, r.detail, r.reason, r.at);
    return true;
  }

  bool operator()(const outbox_appended& c) {
    const auto& r = c.row;
    sql_.insert_outbox.run(batch_.aggregate, batch_.to_seq, outbox_rows_++, tenant_, r.id, r.topic, r.payload,
                           r.created_at, r.lanes);
    return true;
  }

  bool operator()(const cache_generation_raised& c) {
    return sql_.raise_generation.run(batch_.aggregate, c.from) == 1;
  }

private:
  [[nodiscard]] std::size_t count_plain_joins(std::size_t from) const {
    std::size_t n = 0;
    while (from + n < batch_.content.size() && plain_join_of(batch_.content[from + n])) ++n;
    return n;
  }

  void write_joins(std::size_t from, std::size_t count) {
    while (count > 0) {
      const auto rows = count >= rows_of_many ? rows_of_many : count >= rows_of_few ? rows_of_few : 1;
      auto& insert = rows == rows_of_many  ? sql_.join_many
                     : rows == rows_of_few ? sql_.join_few
                                           : sql_.join_one;
      insert.bind();
      for (std::size_t i = 0; i < rows; ++i) {
        const auto& e = *plain_join_of(batch_.content[from + i]);
        insert.bind_more(batch_.aggregate, e.number, tenant_, e.priority_class, e.subject, e.subject_name,
                         e.join_key, e.joined_at);
      }
      insert.finish();
      from += rows;
      count -= rows;
    }
  }

  void insert_ticket_type(aggregate_id aggregate, tenant_id tenant, const ticket_type_row& t) {
    sql_.insert_ticket_type.run(aggregate, t.ordinal, tenant, t.id, t.name, t.price, t.total, t.max_per_order,
                                t.on_sale, t.hidden, t.sale_from, t.sale_until);
  }

  template <class Key, class From, class To>
  void write_history(history_kind kind, const Key& key, const From& from, To to) {
    sql_.insert_history.run(batch_.aggregate, batch_.to_seq, ordinal_++, tenant_, kind, key, from, to,
                            batch_.at);
  }

  template <class Key, class Status>
  bool tell(history_kind kind, const Key& key, Status from, Status to) {
    if (from != to) write_history(kind, key, from, to);
    return true;
  }

  statements& sql_;
  const batch& batch_;
  tenant_id tenant_;
  std::int64_t ordinal_ = 0; ///< next position in the batch, over all appended tables but the outbox
  std::int64_t outbox_rows_ = 0; ///< of this batch so far
};

// -- batches

sqlite_writer::sqlite_writer(sqlite_db& db) : sql_(db) {}

commit_outcome sqlite_writer::apply(const batch& b) {
  if (b.epoch == 0 || b.to_seq <= b.from_seq) return judge_skipped(b);
  sql_.guard.bind(b.to_seq, b.at, live_entries_gained(b), b.aggregate, b.epoch, b.from_seq);
  if (!sql_.guard.step()) return judge_skipped(b);
  const auto tenant = sql_.guard.number<tenant_id>(0);
  sql_.guard.finish();
  return content(sql_, b, tenant).write_all() ? commit_outcome::committed : commit_outcome::conflict;
}

/// Determines why a guard failed.
commit_outcome sqlite_writer::judge_skipped(const batch& b) {
  sql_.head.bind(b.aggregate);
  if (!sql_.head.step()) return commit_outcome::fenced;
  const auto epoch = sql_.head.number<std::uint64_t>(0);
  const auto applied_seq = sql_.head.number<std::uint64_t>(1);
  sql_.head.finish();
  if (b.epoch == 0 || epoch != b.epoch) return commit_outcome::fenced;
  if (b.to_seq <= b.from_seq || applied_seq < b.to_seq) return commit_outcome::out_of_order;
  return commit_outcome::already_applied;
}

std::size_t sqlite_writer::prune_idempotency(timestamp before, std::size_t limit) {
  return static_cast<std::size_t>(sql_.prune_idempotency.run(before, limit));
}

std::size_t sqlite_writer::prune_receipts(timestamp before, std::size_t limit) {
  return static_cast<std::size_t>(sql_.prune_receipts.run(before, limit));
}

} // namespace fq
