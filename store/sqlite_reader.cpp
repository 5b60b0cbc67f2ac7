// SPDX-License-Identifier: Apache-2.0
// One function for each kind of row. The order of columns is that of the SELECT right above its use in
// `statements`.
#include "store/sqlite_reader.hpp"

#include "store/refund_items.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <utility>

namespace fq {
namespace {

const std::string event_columns =
  "SELECT aggregate, tenant, id, organizer, name, currency, status, queue_opens_at, sale_start, sale_end,"
  " policy, concurrency, rate_per_minute, batch_size, admission_interval_ms, over_admission_percent,"
  " session_ttl_ms, claim_window_ms, ticket_ttl_ms, claim_ttl_ms, claims_per_customer, created_at, updated_at,"
  " kind, external_id, message, capacity, presence_timeout_ms, away_grace_ms, async_percent FROM event ";

const std::string order_columns =
  "SELECT o.id, o.claim, o.customer, o.status, o.first_name, o.last_name, o.email, o.phone, o.promo_code, o.subtotal, o.discount,"
  " o.donations, o.platform_fee, o.processing_fee, o.total, o.success_url, o.cancel_url, o.failure, o.payment_link_at,"
  " o.created_at, o.updated_at";

const std::string letter_columns =
  "SELECT l.id, l.kind, l.subject, l.status, l.detail, l.payload, l.created_at, l.updated_at";

/// Of events and of what has none. `which`: a condition that an index may be for.
std::string letters_of_tenant_sql(const std::string& which) {
  return letter_columns + ", event.id FROM dead_letter AS l LEFT JOIN event USING (aggregate) WHERE l.tenant = ?1 AND l.id < ?2"
         + which + " AND (NOT ?4 OR event.organizer = ?5) ORDER BY l.id DESC LIMIT ?3";
}

event_row event_of(const sqlite_statement& s) {
  event_row e;
  e.aggregate = s.number<aggregate_id>(0);
  e.tenant = s.number<tenant_id>(1);
  e.id = s.id(2);
  e.organizer = s.id(3);
  e.name = s.text(4);
  e.currency = s.text(5);
  e.status = s.number<event_status>(6);
  e.queue_opens_at = s.time(7);
  e.sale_start = s.time(8);
  e.sale_end = s.time(9);
  e.queue.policy = s.number<admission_policy>(10);
  e.queue.concurrency = s.number<std::uint32_t>(11);
  e.queue.rate_per_minute = s.number<std::uint32_t>(12);
  e.queue.batch_size = s.number<std::uint32_t>(13);
  e.queue.admission_interval = s.duration(14);
  e.queue.over_admission_percent = s.number<std::uint32_t>(15);
  e.queue.session_ttl = s.duration(16);
  e.queue.claim_window = s.duration(17);
  e.queue.ticket_ttl = s.duration(18);
  e.claim_ttl = s.duration(19);
  e.claims_per_customer = s.number<std::uint32_t>(20);
  e.created_at = s.time(21);
  e.updated_at = s.time(22);
  e.kind = s.number<event_kind>(23);
  e.external_id = s.text(24);
  e.message = s.text(25);
  e.queue.capacity = s.number<std::uint32_t>(26);
  e.queue.presence_timeout = s.duration(27);
  e.queue.away_grace = s.duration(28);
  e.async_percent = s.number<std::int32_t>(29);
  return e;
}

order_row order_of(const sqlite_statement& s) {
  order_row o;
  o.id = s.id(0);
  o.claim = s.id(1);
  o.customer = s.id(2);
  o.status = s.number<order_status>(3);
  o.contact = {s.text(4), s.text(5), s.text(6), s.text(7)};
  o.promo_code = s.text(8);
  o.subtotal = s.integer(9);
  o.discount = s.integer(10);
  o.donations = s.integer(11);
  o.platform_fee = s.integer(12);
  o.processing_fee = s.integer(13);
  o.total = s.integer(14);
  o.success_url = s.text(15);
  o.cancel_url = s.text(16);
  o.failure = s.text(17);
  o.payment_link_at = s.time(18);
  o.created_at = s.time(19);
  o.updated_at = s.time(20);
  return o;
}

dead_letter_row dead_letter_of(const sqlite_statement& s) {
  return {s.id(0),   s.number<dead_letter_kind>(1), s.id(2),   s.number<dead_letter_status>(3),
          s.text(4), s.text(5),                     s.time(6), s.time(7)};
}

std::vector<refund_item> items_of(const std::string& text) {
  auto items = refund_items_of(text);
  if (!items) throw sqlite_error(SQLITE_CORRUPT, "sqlite: the tickets of a refund cannot be read");
  return std::move(*items);
}

/// Newer than every row, for a listing without a cursor.
uuid cursor_of(const uuid& before) { return before.is_nil() ? uuid{~0ull, ~0ull} : before; }

/// All rows of a bound statement.
template <class Make>
auto collect(sqlite_statement& s, Make make) {
  std::vector<decltype(make(s))> rows;
  while (s.step()) rows.push_back(make(s));
  return rows;
}

} // namespace

sqlite_reader::statements::statements(sqlite_db& db)
    : head(db, "SELECT epoch, applied_seq, committed_at, cache_generation FROM aggregate WHERE number = ?"),
      event(db, event_columns + "WHERE aggregate = ?"),
      ticket_types(db,
        "SELECT ordinal, id, name, price, total, held, sold, max_per_order, on_sale, hidden, sale_from,"
        " sale_until FROM ticket_type"
        " WHERE aggregate = ? ORDER BY ordinal"),
      entries(db,
        "SELECT queue_number, subject, join_key, joined_at, admitted_at, session_expires_at, claim_by,"
        " ended_at, admission_no, admission_batch, priority_class, status, has_claimed, subject_name FROM queue_entry"
        " WHERE aggregate = ? ORDER BY queue_number"),
      claims(db,
        "SELECT id, customer, queue_number, status, live_slot, item_count, amount, created_at,"
        " expires_at, ended_at, promo FROM claim WHERE aggregate = ? ORDER BY id"),
      claim_items(db,
        "SELECT claim, ticket_type, quantity, unit_price, refunded, donation, unit_discount FROM claim_item WHERE aggregate = ?"
        " ORDER BY claim, position"),
      payments(db,
        "SELECT id, claim, customer, status, gateway, reference, authorization_url, gateway_id, amount, captured, tax,"
        " refunded, created_at, updated_at FROM payment WHERE aggregate = ? ORDER BY id"),
      refunds(db,
        "SELECT id, payment, status, amount, items, attempts, next_attempt_at, created_at, updated_at FROM"
        " refund WHERE aggregate = ? ORDER BY id"),
      promo_codes(db,
        "SELECT ordinal, id, code, kind, value, ticket_types, valid_from, valid_until, uses_max, uses_per_customer, uses, is_active,"
        " created_at, updated_at FROM promo_code WHERE aggregate = ? ORDER BY ordinal"),
      orders(db, order_columns + " FROM orders AS o WHERE aggregate = ? ORDER BY id"),
      dead_letters(db, letter_columns + " FROM dead_letter AS l INDEXED BY dead_letter_open WHERE aggregate = ? AND status = 0"
        " ORDER BY id"),
      priorities(db, "SELECT customer, priority_class, created_at FROM event_priority WHERE aggregate = ? ORDER BY customer"),
      idempotency(db,
        "SELECT key, body, created_at, answer FROM idempotency WHERE aggregate = ? AND created_at >= ?"
        " ORDER BY seq DESC, ordinal DESC LIMIT ?"),
      receipts(db,
        "SELECT gateway, gateway_event, received_at FROM receipt WHERE aggregate = ? ORDER BY seq DESC,"
        " ordinal DESC LIMIT ?"),
      organizers(db,
        "SELECT id, tenant, email, password_hash, created_at FROM organizer WHERE aggregate = ? ORDER"
        " BY id"),
      customers(db, "SELECT id, tenant, email, created_at FROM customer WHERE aggregate = ? ORDER BY id"),
      otps(db, "SELECT email, code_hash, expires_at, failures FROM otp WHERE aggregate = ? ORDER BY email"),
      events_on_sale(db,
        event_columns + "WHERE status IN (1, 2) AND kind = 0 AND aggregate > ? ORDER BY aggregate LIMIT ?"),
      events_of_organizer(db,
        event_columns + "WHERE organizer = ? AND kind = 0 AND aggregate > ? ORDER BY aggregate LIMIT ?"),
      events_of_tenant(db,
        event_columns + "WHERE tenant = ?1 AND kind = ?2 AND (?3 = '' OR external_id = ?3) AND aggregate > ?4"
        " ORDER BY aggregate LIMIT ?5"),
      tenants(db, "SELECT id, name, subject_jwk, stripe_account, created_at FROM tenant ORDER BY id"),
      settings(db, "SELECT name, value, updated_at FROM setting ORDER BY name"),
      api_keys(db,
        "SELECT id, tenant, scope, secret_hash, label, created_at, revoked_at FROM api_key WHERE ?1 = 0 OR"
        " revoked_at = 0 ORDER BY id"),
      tenants_of_organizers(db, "SELECT id, tenant FROM organizer ORDER BY id"),
      audit_of_tenant(db,
        "SELECT id, tenant, target, actor, action, detail, reason, at FROM audit WHERE tenant = ?1 AND id < ?2"
        " AND (?4 = '' OR actor = ?4 OR action GLOB 'queue.*') ORDER BY id DESC LIMIT ?3"),
      audit_of_target(db,
        "SELECT id, tenant, target, actor, action, detail, reason, at FROM audit WHERE tenant = ?1 AND id < ?2"
        " AND (?4 = '' OR actor = ?4 OR action GLOB 'queue.*') AND target = ?5 ORDER BY id DESC LIMIT ?3"),
      orders_of_customer(db,
        order_columns + ", event.id, event.name, event.currency FROM orders AS o JOIN event USING (aggregate)"
        " WHERE o.customer = ?1 AND o.id < ?2 ORDER BY o.id DESC LIMIT ?3"),
      letters_of_tenant(db, letters_of_tenant_sql("")),
      open_letters_of_tenant(db, letters_of_tenant_sql(" AND l.status = 0")),
      // Each part but the second reads a partial index of its own.
      to_wake(db,
        "SELECT number FROM (SELECT aggregate AS number FROM event WHERE status IN (1, 2)"
        " UNION SELECT number FROM aggregate WHERE live_entries > 0"
        " UNION SELECT aggregate FROM claim WHERE status IN (0, 1)"
        " UNION SELECT aggregate FROM payment WHERE status IN (0, 1, 5, 6)"
        " UNION SELECT aggregate FROM refund WHERE status = 0"
        " UNION SELECT aggregate FROM event WHERE status = 4 AND EXISTS (SELECT 1 FROM payment"
        " INDEXED BY payment_confirmed WHERE payment.aggregate = event.aggregate AND payment.status = 2))"
        " JOIN aggregate USING (number) WHERE ?1 = '' OR lease_owner IS NULL OR lease_owner = ?1"
        " OR lease_until <= " + sqlite_now + " ORDER BY number"),
      last_aggregate(db, "SELECT max(number) FROM aggregate"),
      history(db,
        "SELECT seq, kind, key, from_status, to_status, at FROM history WHERE aggregate = ? ORDER BY"
        " seq, ordinal") {}

sqlite_reader::sqlite_reader(sqlite_db& db) : sql_(db) {}

aggregate_head sqlite_reader::read_head(aggregate_id aggregate) {
  aggregate_head result;
  sql_.head.bind(aggregate);
  while (sql_.head.step())
    result = {sql_.head.number<std::uint64_t>(0), sql_.head.number<std::uint64_t>(1), sql_.head.time(2),
              sql_.head.number<std::uint64_t>(3)};
  return result;
}

aggregate_image sqlite_reader::read_image(aggregate_id aggregate, const image_bounds& bounds) {
  aggregate_image image;
  sql_.event.bind(aggregate);
  while (sql_.event.step()) image.event = event_of(sql_.event);
  image.ticket_types = ticket_types(aggregate);
  image.entries = entries(aggregate);
  image.claims = claims(aggregate);
  image.payments = payments(aggregate);
  image.refunds = refunds(aggregate);
  image.promo_codes = promo_codes(aggregate);
  image.orders = orders(aggregate);
  image.dead_letters = dead_letters(aggregate);
  image.priorities = priorities(aggregate);
  image.idempotency = idempotency(aggregate, bounds);
  image.receipts = receipts(aggregate, bounds.receipts_max);
  image.organizers = organizers(aggregate);
  image.customers = customers(aggregate);
  image.otps = otps(aggregate);
  if (aggregate == accounts_aggregate) {
    image.tenants = tenants();
    image.settings = settings();
    image.api_keys = api_keys(false);
  }
  return image;
}

std::vector<ticket_type_row> sqlite_reader::ticket_types(aggregate_id aggregate) {
  return collect(sql_.ticket_types.bind(aggregate), [](const sqlite_statement& s) {
    ticket_type_row t;
    t.ordinal = s.number<std::uint32_t>(0);
    t.id = s.id(1);
    t.name = s.text(2);
    t.price = s.integer(3);
    t.total = s.integer(4);
    t.held = s.integer(5);
    t.sold = s.integer(6);
    t.max_per_order = s.number<std::uint32_t>(7);
    t.on_sale = s.integer(8) != 0;
    t.hidden = s.integer(9) != 0;
    t.sale_from = s.time(10);
    t.sale_until = s.time(11);
    return t;
  });
}

std::vector<entry_row> sqlite_reader::entries(aggregate_id aggregate) {
  return collect(sql_.entries.bind(aggregate), [](const sqlite_statement& s) {
    entry_row e;
    e.number = s.number<queue_number>(0);
    e.subject = s.id(1);
    e.join_key = s.number<std::uint64_t>(2);
    e.joined_at = s.time(3);
    e.admitted_at = s.time(4);
    e.session_expires_at = s.time(5);
    e.claim_by = s.time(6);
    e.ended_at = s.time(7);
    e.admission_no = s.number<std::uint32_t>(8);
    e.admission_batch = s.number<std::uint32_t>(9);
    e.priority_class = s.number<std::uint8_t>(10);
    e.status = s.number<entry_status>(11);
    e.has_claimed = s.integer(12) != 0;
    e.subject_name = s.text(13);
    return e;
  });
}

std::vector<claim_row> sqlite_reader::claims(aggregate_id aggregate) {
  auto rows = collect(sql_.claims.bind(aggregate), [](const sqlite_statement& s) {
    claim_row c;
    c.id = s.id(0);
    c.customer = s.id(1);
    c.entry = s.number<queue_number>(2);
    c.status = s.number<claim_status>(3);
    c.live_slot = s.number<std::uint8_t>(4);
    c.items.reserve(s.number<std::size_t>(5));
    c.amount = s.integer(6);
    c.created_at = s.time(7);
    c.expires_at = s.time(8);
    c.ended_at = s.time(9);
    c.promo = s.number<std::uint32_t>(10);
    return c;
  });
  read_items(aggregate, rows);
  return rows;
}

/// Items come in the order of their claims: one pass over both.
void sqlite_reader::read_items(aggregate_id aggregate, std::vector<claim_row>& claims) {
  auto& s = sql_.claim_items.bind(aggregate);
  auto claim = claims.begin();
  while (s.step()) {
    const auto id = s.id(0);
    while (claim != claims.end() && claim->id < id) ++claim;
    if (claim == claims.end()) break;
    claim->items.push_back(
      {s.number<std::uint32_t>(1), s.number<std::uint32_t>(2), s.integer(3), s.number<std::uint32_t>(4),
       s.integer(5), s.integer(6)});
  }
  s.reset();
}

std::vector<payment_row> sqlite_reader::payments(aggregate_id aggregate) {
  return collect(sql_.payments.bind(aggregate), [](const sqlite_statement& s) {
    payment_row p;
    p.id = s.id(0);
    p.claim = s.id(1);
    p.customer = s.id(2);
    p.status = s.number<payment_status>(3);
    p.gateway = s.text(4);
    p.reference = s.text(5);
    p.authorization_url = s.text(6);
    p.gateway_id = s.text(7);
    p.amount = s.integer(8);
    p.captured = s.integer(9);
    p.tax = s.integer(10);
    p.refunded = s.integer(11);
    p.created_at = s.time(12);
    p.updated_at = s.time(13);
    return p;
  });
}

std::vector<refund_row> sqlite_reader::refunds(aggregate_id aggregate) {
  return collect(sql_.refunds.bind(aggregate), [](const sqlite_statement& s) {
    refund_row r;
    r.id = s.id(0);
    r.payment = s.id(1);
    r.status = s.number<refund_status>(2);
    r.amount = s.integer(3);
    r.items = items_of(s.text(4));
    r.attempts = s.number<std::uint32_t>(5);
    r.next_attempt_at = s.time(6);
    r.created_at = s.time(7);
    r.updated_at = s.time(8);
    return r;
  });
}

std::vector<promo_code_row> sqlite_reader::promo_codes(aggregate_id aggregate) {
  return collect(sql_.promo_codes.bind(aggregate), [](const sqlite_statement& s) {
    promo_code_row p;
    p.ordinal = s.number<std::uint32_t>(0);
    p.id = s.id(1);
    p.code = s.text(2);
    p.reduction = {s.number<discount_kind>(3), s.integer(4), s.number<std::uint64_t>(5)};
    p.valid_from = s.time(6);
    p.valid_until = s.time(7);
    p.uses_max = s.number<std::uint32_t>(8);
    p.uses_per_customer = s.number<std::uint32_t>(9);
    p.uses = s.number<std::uint32_t>(10);
    p.is_active = s.integer(11) != 0;
    p.created_at = s.time(12);
    p.updated_at = s.time(13);
    return p;
  });
}

std::vector<order_row> sqlite_reader::orders(aggregate_id aggregate) {
  return collect(sql_.orders.bind(aggregate), order_of);
}

std::vector<dead_letter_row> sqlite_reader::dead_letters(aggregate_id aggregate) {
  return collect(sql_.dead_letters.bind(aggregate), dead_letter_of);
}

std::vector<priority_row> sqlite_reader::priorities(aggregate_id aggregate) {
  return collect(sql_.priorities.bind(aggregate), [](const sqlite_statement& s) {
    return priority_row{s.id(0), s.number<std::uint8_t>(1), s.time(2)};
  });
}

std::vector<idempotency_row> sqlite_reader::idempotency(aggregate_id aggregate, const image_bounds& bounds) {
  auto& s = sql_.idempotency.bind(aggregate, bounds.idempotency_since, bounds.idempotency_max);
  auto rows = collect(s, [](const sqlite_statement& r) {
    return idempotency_row{r.digest(0), r.digest(1), r.time(2), r.blob(3)};
  });
  std::reverse(rows.begin(), rows.end()); // read newest first, for the limit
  return rows;
}

std::vector<receipt_row> sqlite_reader::receipts(aggregate_id aggregate, std::size_t most) {
  auto rows = collect(sql_.receipts.bind(aggregate, most), [](const sqlite_statement& r) {
    return receipt_row{r.text(0), r.text(1), r.time(2)};
  });
  std::reverse(rows.begin(), rows.end());
  return rows;
}

std::vector<organizer_row> sqlite_reader::organizers(aggregate_id aggregate) {
  return collect(sql_.organizers.bind(aggregate), [](const sqlite_statement& s) {
    return organizer_row{s.id(0), s.number<tenant_id>(1), s.text(2), s.text(3), s.time(4)};
  });
}

std::vector<customer_row> sqlite_reader::customers(aggregate_id aggregate) {
  return collect(sql_.customers.bind(aggregate), [](const sqlite_statement& s) {
    return customer_row{s.id(0), s.number<tenant_id>(1), s.text(2), s.time(3)};
  });
}

std::vector<otp_row> sqlite_reader::otps(aggregate_id aggregate) {
  return collect(sql_.otps.bind(aggregate), [](const sqlite_statement& s) {
    return otp_row{s.text(0), s.text(1), s.time(2), s.number<std::uint32_t>(3)};
  });
}

std::vector<tenant_row> sqlite_reader::tenants() {
  return collect(sql_.tenants.bind(), [](const sqlite_statement& s) {
    return tenant_row{s.number<tenant_id>(0), s.text(1), s.text(2), s.text(3), s.time(4)};
  });
}

std::vector<setting_row> sqlite_reader::settings() {
  return collect(sql_.settings.bind(), [](const sqlite_statement& s) { return setting_row{s.text(0), s.text(1), s.time(2)}; });
}

std::vector<api_key_row> sqlite_reader::api_keys(bool valid_only) {
  return collect(sql_.api_keys.bind(valid_only), [](const sqlite_statement& s) {
    return api_key_row{s.id(0),   s.number<tenant_id>(1), s.number<api_key_scope>(2), s.text(3),
                       s.text(4), s.time(5),              s.time(6)};
  });
}

access_directory sqlite_reader::directory() {
  auto organizers = collect(sql_.tenants_of_organizers.bind(), [](const sqlite_statement& s) {
    return std::pair{s.id(0), s.number<tenant_id>(1)};
  });
  return {tenants(), api_keys(true), std::move(organizers), settings()};
}

std::vector<audit_row> sqlite_reader::audit(const audit_filter& filter) {
  const auto before = cursor_of(filter.before);
  auto& s = filter.target.is_nil() ? sql_.audit_of_tenant.bind(filter.tenant, before, filter.limit, filter.actor)
                                   : sql_.audit_of_target.bind(filter.tenant, before, filter.limit, filter.actor, filter.target);
  return collect(s, [](const sqlite_statement& r) {
    return audit_row{r.id(0), r.number<tenant_id>(1), r.id(2), r.text(3), r.text(4), r.text(5), r.text(6), r.time(7)};
  });
}

std::vector<order_listing> sqlite_reader::list_orders(const order_filter& filter) {
  auto& s = sql_.orders_of_customer.bind(filter.customer, cursor_of(filter.before), filter.limit);
  return collect(s, [](const sqlite_statement& r) { return order_listing{r.id(21), r.text(22), r.text(23), order_of(r)}; });
}

std::vector<dead_letter_listing> sqlite_reader::list_dead_letters(const dead_letter_filter& filter) {
  auto& s = (filter.is_open ? sql_.open_letters_of_tenant : sql_.letters_of_tenant)
              .bind(filter.tenant, cursor_of(filter.before), filter.limit, filter.organizer.has_value(),
                    filter.organizer.value_or(organizer_id{}));
  return collect(s, [](const sqlite_statement& r) {
    return dead_letter_listing{r.is_null(8) ? event_id{} : r.id(8), dead_letter_of(r)};
  });
}

std::vector<event_listing> sqlite_reader::list_events(const event_filter& filter) {
  auto& s = filter.organizer ? sql_.events_of_organizer.bind(*filter.organizer, filter.after, filter.limit)
            : filter.tenant  ? sql_.events_of_tenant.bind(*filter.tenant, filter.kind, filter.external_id, filter.after, filter.limit)
                             : sql_.events_on_sale.bind(filter.after, filter.limit);
  auto result = collect(s, [](const sqlite_statement& row) { return event_listing{event_of(row), {}}; });
  for (auto& listing : result) listing.ticket_types = ticket_types(listing.event.aggregate);
  return result;
}

std::vector<aggregate_id> sqlite_reader::aggregates_to_wake(const std::string& owner) {
  return collect(sql_.to_wake.bind(owner), [](const sqlite_statement& s) { return s.number<aggregate_id>(0); });
}

aggregate_id sqlite_reader::last_aggregate() {
  auto last = aggregate_id{number_of(first_event_aggregate) - 1};
  while (sql_.last_aggregate.step()) last = std::max(last, sql_.last_aggregate.number<aggregate_id>(0));
  return last;
}

std::vector<history_row> sqlite_reader::history(aggregate_id aggregate) {
  return collect(sql_.history.bind(aggregate), [](const sqlite_statement& s) {
    const auto kind = s.number<history_kind>(1);
    history_row h;
    h.seq = s.number<std::uint64_t>(0);
    h.kind = name_of(kind);
    h.key = s.is_blob(2) ? to_string(s.id(2)) : std::to_string(s.integer(2));
    if (!s.is_null(3)) h.from = state_name(kind, s.number<std::uint8_t>(3));
    h.to = state_name(kind, s.number<std::uint8_t>(4));
    h.at = s.time(5);
    return h;
  });
}

} // namespace fq
