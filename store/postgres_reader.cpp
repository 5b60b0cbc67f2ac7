// SPDX-License-Identifier: Apache-2.0
// One function for each kind of row. The order of its columns is that of the SELECT of the same name.
#include "store/postgres_reader.hpp"

#include "store/refund_items.hpp"

#include <algorithm>
#include <array>

namespace fq {
namespace {

// -- statements -------------------------------------------------------------------------------------------------------------

const std::string event_columns =
  "SELECT aggregate, tenant, id, organizer, name, currency, status, queue_opens_at, sale_start, sale_end, policy, concurrency,"
  " rate_per_minute, batch_size, admission_interval_ms, over_admission_percent, session_ttl_ms, claim_window_ms, ticket_ttl_ms,"
  " claim_ttl_ms, claims_per_customer, created_at, updated_at, kind, external_id, message, capacity, presence_timeout_ms,"
  " away_grace_ms, async_percent FROM event ";
const std::string ticket_type_columns =
  "SELECT aggregate, ordinal, id, name, price, total, held, sold, max_per_order, on_sale, hidden, sale_from, sale_until"
  " FROM ticket_type ";
const std::string on_sale = "WHERE status IN (1, 2) AND kind = 0 AND aggregate > $1::bigint ORDER BY aggregate LIMIT $2::bigint";
const std::string of_organizer =
  "WHERE organizer = $3::uuid AND kind = 0 AND aggregate > $1::bigint ORDER BY aggregate LIMIT $2::bigint";
const std::string of_tenant =
  "WHERE tenant = $3::bigint AND kind = $4::bigint AND ($5::text = '' OR external_id = $5::text) AND aggregate > $1::bigint"
  " ORDER BY aggregate LIMIT $2::bigint";
const std::string of_actor =
  "WHERE tenant = $1::bigint AND id < $2::uuid AND ($4::text = '' OR actor = $4::text OR action LIKE 'queue.%')";
const std::string audit_columns = "SELECT id, tenant, target, actor, action, detail, reason, at FROM audit ";

const std::string order_columns =
  "SELECT o.id, o.claim, o.customer, o.status, o.first_name, o.last_name, o.email, o.phone, o.promo_code, o.subtotal, o.discount,"
  " o.donations, o.platform_fee, o.processing_fee, o.total, o.success_url, o.cancel_url, o.failure, o.payment_link_at,"
  " o.created_at, o.updated_at";
const std::string letter_columns =
  "SELECT l.id, l.kind, l.subject, l.status, l.detail, l.payload, l.created_at, l.updated_at";

/// Of events and of what has none. `which`: a condition that an index may be for.
std::string letters_of(const std::string& which) {
  return letter_columns + ", event.id FROM dead_letter AS l LEFT JOIN event USING (aggregate) WHERE l.tenant = $1::bigint"
         " AND l.id < $2::uuid" + which + " AND (NOT $4::boolean OR event.organizer = $5::uuid) ORDER BY l.id DESC LIMIT $3::bigint";
}

/// The ticket types of a page of events.
std::string types_of(const std::string& page) {
  return ticket_type_columns + "WHERE aggregate IN (SELECT aggregate FROM event " + page + ") ORDER BY aggregate, ordinal";
}

const postgres_statement read_aggregate_head{
  "read_aggregate_head", "SELECT epoch, applied_seq, committed_at, cache_generation FROM aggregate WHERE number = $1::bigint"};
const postgres_statement read_event{"read_event", event_columns + "WHERE aggregate = $1::bigint"};
const postgres_statement read_ticket_types{"read_ticket_types",
                                           ticket_type_columns + "WHERE aggregate = $1::bigint ORDER BY ordinal"};
const postgres_statement read_entries{
  "read_entries",
  "SELECT queue_number, subject, join_key, joined_at, admitted_at, session_expires_at, claim_by, ended_at, admission_no,"
  " admission_batch, priority_class, status, has_claimed, subject_name FROM queue_entry WHERE aggregate = $1::bigint ORDER BY queue_number"};
const postgres_statement read_claims{
  "read_claims",
  "SELECT id, customer, queue_number, status, live_slot, amount, created_at, expires_at, ended_at, promo FROM claim"
  " WHERE aggregate = $1::bigint ORDER BY id"};
const postgres_statement read_items{
  "read_items",
  "SELECT claim, ticket_type, quantity, unit_price, refunded, donation, unit_discount FROM claim_item WHERE aggregate = $1::bigint"
  " ORDER BY claim, position"};
const postgres_statement read_payments{
  "read_payments",
  "SELECT id, claim, customer, status, gateway, reference, authorization_url, gateway_id, amount, captured, tax, refunded,"
  " created_at, updated_at"
  " FROM payment WHERE aggregate = $1::bigint ORDER BY id"};
const postgres_statement read_refunds{
  "read_refunds",
  "SELECT id, payment, status, amount, items, attempts, next_attempt_at, created_at, updated_at FROM refund WHERE aggregate = $1::bigint"
  " ORDER BY id"};
const postgres_statement read_promo_codes{
  "read_promo_codes",
  "SELECT ordinal, id, code, kind, value, ticket_types, valid_from, valid_until, uses_max, uses_per_customer, uses, is_active,"
  " created_at, updated_at FROM promo_code WHERE aggregate = $1::bigint ORDER BY ordinal"};
const postgres_statement read_orders{"read_orders",
                                     order_columns + " FROM orders AS o WHERE aggregate = $1::bigint ORDER BY id"};
const postgres_statement read_dead_letters{
  "read_dead_letters", letter_columns + " FROM dead_letter AS l WHERE aggregate = $1::bigint AND status = 0 ORDER BY id"};
const postgres_statement read_priorities{
  "read_priorities",
  "SELECT customer, priority_class, created_at FROM event_priority WHERE aggregate = $1::bigint ORDER BY customer"};
const postgres_statement read_idempotency{
  "read_idempotency",
  "SELECT key, body, created_at, answer FROM idempotency WHERE aggregate = $1::bigint AND created_at >= $2::bigint"
  " ORDER BY seq DESC, ordinal DESC LIMIT $3::bigint"};
const postgres_statement read_receipts{
  "read_receipts",
  "SELECT gateway, gateway_event, received_at FROM receipt WHERE aggregate = $1::bigint ORDER BY seq DESC, ordinal DESC"
  " LIMIT $2::bigint"};
const postgres_statement read_organizers{
  "read_organizers",
  "SELECT id, tenant, email, password_hash, created_at FROM organizer WHERE aggregate = $1::bigint ORDER BY id"};
const postgres_statement read_customers{
  "read_customers", "SELECT id, tenant, email, created_at FROM customer WHERE aggregate = $1::bigint ORDER BY id"};
const postgres_statement read_otps{
  "read_otps", "SELECT email, code_hash, expires_at, failures FROM otp WHERE aggregate = $1::bigint ORDER BY email"};

const postgres_statement events_on_sale{"events_on_sale", event_columns + on_sale};
const postgres_statement types_on_sale{"types_on_sale", types_of(on_sale)};
const postgres_statement events_of_organizer{"events_of_organizer", event_columns + of_organizer};
const postgres_statement types_of_organizer{"types_of_organizer", types_of(of_organizer)};
const postgres_statement events_of_tenant{"events_of_tenant", event_columns + of_tenant};
const postgres_statement types_of_tenant{"types_of_tenant", types_of(of_tenant)};
const postgres_statement read_tenants{
  "read_tenants", "SELECT id, name, subject_jwk, stripe_account, created_at FROM tenant ORDER BY id"};
const postgres_statement read_settings{"read_settings", "SELECT name, value, updated_at FROM setting ORDER BY name"};
const postgres_statement read_api_keys{
  "read_api_keys",
  "SELECT id, tenant, scope, secret_hash, label, created_at, revoked_at FROM api_key WHERE NOT $1::boolean OR revoked_at = 0"
  " ORDER BY id"};
const postgres_statement tenants_of_organizers{"tenants_of_organizers",
                                              "SELECT id, tenant FROM organizer ORDER BY id"};
const postgres_statement audit_of_tenant{
  "audit_of_tenant", audit_columns + of_actor + " ORDER BY id DESC LIMIT $3::bigint"};
const postgres_statement audit_of_target{
  "audit_of_target",
  audit_columns + of_actor + " AND target = $5::uuid ORDER BY id DESC LIMIT $3::bigint"};
const postgres_statement orders_of_customer{
  "orders_of_customer",
  order_columns + ", event.id, event.name, event.currency FROM orders AS o JOIN event USING (aggregate)"
  " WHERE o.customer = $1::uuid AND o.id < $2::uuid ORDER BY o.id DESC LIMIT $3::bigint"};
const postgres_statement letters_of_tenant{"letters_of_tenant", letters_of("")};
const postgres_statement open_letters_of_tenant{"open_letters_of_tenant", letters_of(" AND l.status = 0")};
/// Each part but the second reads a partial index of its own.
const postgres_statement to_wake{
  "to_wake",
  "SELECT number FROM (SELECT aggregate AS number FROM event WHERE status IN (1, 2)"
  " UNION SELECT number FROM aggregate WHERE live_entries > 0"
  " UNION SELECT aggregate FROM claim WHERE status IN (0, 1)"
  " UNION SELECT aggregate FROM payment WHERE status IN (0, 1, 5, 6)"
  " UNION SELECT aggregate FROM refund WHERE status = 0"
  " UNION SELECT aggregate FROM event WHERE status = 4 AND EXISTS (SELECT FROM payment WHERE payment.aggregate = event.aggregate"
  " AND payment.status = 2)) AS running"
  " JOIN aggregate USING (number) WHERE $1::text = '' OR lease_owner IS NULL OR lease_owner = $1::text OR lease_until <= "
  + postgres_now + " ORDER BY number"};
const postgres_statement greatest_number{"greatest_number", "SELECT max(number) FROM aggregate"};
const postgres_statement read_history{
  "read_history",
  "SELECT seq, kind, id, queue_number, from_status, to_status, at FROM history WHERE aggregate = $1::bigint ORDER BY seq, ordinal"};

// -- rows -------------------------------------------------------------------------------------------------------------------

event_row event_of(const postgres_row& r) {
  event_row e;
  e.aggregate = r.number<aggregate_id>(0);
  e.tenant = r.number<tenant_id>(1);
  e.id = r.id(2);
  e.organizer = r.id(3);
  e.name = r.text(4);
  e.currency = r.text(5);
  e.status = r.number<event_status>(6);
  e.queue_opens_at = r.time(7);
  e.sale_start = r.time(8);
  e.sale_end = r.time(9);
  e.queue.policy = r.number<admission_policy>(10);
  e.queue.concurrency = r.number<std::uint32_t>(11);
  e.queue.rate_per_minute = r.number<std::uint32_t>(12);
  e.queue.batch_size = r.number<std::uint32_t>(13);
  e.queue.admission_interval = r.duration(14);
  e.queue.over_admission_percent = r.number<std::uint32_t>(15);
  e.queue.session_ttl = r.duration(16);
  e.queue.claim_window = r.duration(17);
  e.queue.ticket_ttl = r.duration(18);
  e.claim_ttl = r.duration(19);
  e.claims_per_customer = r.number<std::uint32_t>(20);
  e.created_at = r.time(21);
  e.updated_at = r.time(22);
  e.kind = r.number<event_kind>(23);
  e.external_id = r.text(24);
  e.message = r.text(25);
  e.queue.capacity = r.number<std::uint32_t>(26);
  e.queue.presence_timeout = r.duration(27);
  e.queue.away_grace = r.duration(28);
  e.async_percent = r.number<std::int32_t>(29);
  return e;
}

/// Behind the number of its aggregate.
ticket_type_row ticket_type_of(const postgres_row& r) {
  ticket_type_row t;
  t.ordinal = r.number<std::uint32_t>(1);
  t.id = r.id(2);
  t.name = r.text(3);
  t.price = r.integer(4);
  t.total = r.integer(5);
  t.held = r.integer(6);
  t.sold = r.integer(7);
  t.max_per_order = r.number<std::uint32_t>(8);
  t.on_sale = r.boolean(9);
  t.hidden = r.boolean(10);
  t.sale_from = r.time(11);
  t.sale_until = r.time(12);
  return t;
}

entry_row entry_of(const postgres_row& r) {
  entry_row e;
  e.number = r.number<queue_number>(0);
  e.subject = r.id(1);
  e.join_key = r.number<std::uint64_t>(2);
  e.joined_at = r.time(3);
  e.admitted_at = r.time(4);
  e.session_expires_at = r.time(5);
  e.claim_by = r.time(6);
  e.ended_at = r.time(7);
  e.admission_no = r.number<std::uint32_t>(8);
  e.admission_batch = r.number<std::uint32_t>(9);
  e.priority_class = r.number<std::uint8_t>(10);
  e.status = r.number<entry_status>(11);
  e.has_claimed = r.boolean(12);
  e.subject_name = r.text(13);
  return e;
}

/// Without its items.
claim_row claim_of(const postgres_row& r) {
  claim_row c;
  c.id = r.id(0);
  c.customer = r.id(1);
  c.entry = r.number<queue_number>(2);
  c.status = r.number<claim_status>(3);
  c.live_slot = r.number<std::uint8_t>(4);
  c.amount = r.integer(5);
  c.created_at = r.time(6);
  c.expires_at = r.time(7);
  c.ended_at = r.time(8);
  c.promo = r.number<std::uint32_t>(9);
  return c;
}

payment_row payment_of(const postgres_row& r) {
  payment_row p;
  p.id = r.id(0);
  p.claim = r.id(1);
  p.customer = r.id(2);
  p.status = r.number<payment_status>(3);
  p.gateway = r.text(4);
  p.reference = r.text(5);
  p.authorization_url = r.text(6);
  p.gateway_id = r.text(7);
  p.amount = r.integer(8);
  p.captured = r.integer(9);
  p.tax = r.integer(10);
  p.refunded = r.integer(11);
  p.created_at = r.time(12);
  p.updated_at = r.time(13);
  return p;
}

std::vector<refund_item> items_of(const std::string& text) {
  auto items = refund_items_of(text);
  if (!items) throw postgres_error("XX001", "postgres: the tickets of a refund cannot be read", false); // data_corrupted
  return std::move(*items);
}

refund_row refund_of(const postgres_row& r) {
  refund_row f;
  f.id = r.id(0);
  f.payment = r.id(1);
  f.status = r.number<refund_status>(2);
  f.amount = r.integer(3);
  f.items = items_of(r.text(4));
  f.attempts = r.number<std::uint32_t>(5);
  f.next_attempt_at = r.time(6);
  f.created_at = r.time(7);
  f.updated_at = r.time(8);
  return f;
}

promo_code_row promo_code_of(const postgres_row& r) {
  promo_code_row p;
  p.ordinal = r.number<std::uint32_t>(0);
  p.id = r.id(1);
  p.code = r.text(2);
  p.reduction = {r.number<discount_kind>(3), r.integer(4), r.number<std::uint64_t>(5)};
  p.valid_from = r.time(6);
  p.valid_until = r.time(7);
  p.uses_max = r.number<std::uint32_t>(8);
  p.uses_per_customer = r.number<std::uint32_t>(9);
  p.uses = r.number<std::uint32_t>(10);
  p.is_active = r.boolean(11);
  p.created_at = r.time(12);
  p.updated_at = r.time(13);
  return p;
}

order_row order_of(const postgres_row& r) {
  order_row o;
  o.id = r.id(0);
  o.claim = r.id(1);
  o.customer = r.id(2);
  o.status = r.number<order_status>(3);
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
}

dead_letter_row dead_letter_of(const postgres_row& r) {
  return {r.id(0),   r.number<dead_letter_kind>(1), r.id(2),   r.number<dead_letter_status>(3),
          r.text(4), r.text(5),                     r.time(6), r.time(7)};
}

priority_row priority_of(const postgres_row& r) { return {r.id(0), r.number<std::uint8_t>(1), r.time(2)}; }

idempotency_row idempotency_of(const postgres_row& r) { return {r.digest(0), r.digest(1), r.time(2), r.blob(3)}; }

receipt_row receipt_of(const postgres_row& r) { return {r.text(0), r.text(1), r.time(2)}; }

organizer_row organizer_of(const postgres_row& r) { return {r.id(0), r.number<tenant_id>(1), r.text(2), r.text(3), r.time(4)}; }

customer_row customer_of(const postgres_row& r) { return {r.id(0), r.number<tenant_id>(1), r.text(2), r.time(3)}; }

otp_row otp_of(const postgres_row& r) { return {r.text(0), r.text(1), r.time(2), r.number<std::uint32_t>(3)}; }

tenant_row tenant_of(const postgres_row& r) { return {r.number<tenant_id>(0), r.text(1), r.text(2), r.text(3), r.time(4)}; }

setting_row setting_of(const postgres_row& r) { return {r.text(0), r.text(1), r.time(2)}; }

api_key_row api_key_of(const postgres_row& r) {
  return {r.id(0), r.number<tenant_id>(1), r.number<api_key_scope>(2), r.text(3), r.text(4), r.time(5), r.time(6)};
}

audit_row audit_of(const postgres_row& r) {
  return {r.id(0), r.number<tenant_id>(1), r.id(2), r.text(3), r.text(4), r.text(5), r.text(6), r.time(7)};
}

history_row history_of(const postgres_row& r) {
  const auto kind = r.number<history_kind>(1);
  history_row h;
  h.seq = r.number<std::uint64_t>(0);
  h.kind = name_of(kind);
  h.key = r.is_null(2) ? std::to_string(r.integer(3)) : to_string(r.id(2));
  if (!r.is_null(4)) h.from = state_name(kind, r.number<std::uint8_t>(4));
  h.to = state_name(kind, r.number<std::uint8_t>(5));
  h.at = r.time(6);
  return h;
}

/// Newer than every row, for a listing without a cursor.
uuid cursor_of(const uuid& before) { return before.is_nil() ? uuid{~0ull, ~0ull} : before; }

/// All rows of the next statement.
template <class Make>
auto collect(postgres_pipeline& pipeline, Make make) {
  std::vector<decltype(make(std::declval<const postgres_row&>()))> rows;
  pipeline.receive_each([&](const postgres_row& r) { rows.push_back(make(r)); });
  return rows;
}

/// ... which were read newest first, for a limit.
template <class Make>
auto collect_reversed(postgres_pipeline& pipeline, Make make) {
  auto rows = collect(pipeline, make);
  std::reverse(rows.begin(), rows.end());
  return rows;
}

/// Items come in the order of their claims: one pass over both.
void collect_items(postgres_pipeline& pipeline, std::vector<claim_row>& claims) {
  auto claim = claims.begin();
  pipeline.receive_each([&](const postgres_row& r) {
    while (claim->id < r.id(0)) ++claim; // each item has its claim: a foreign key
    claim->items.push_back({r.number<std::uint32_t>(1), r.number<std::uint32_t>(2), r.integer(3), r.number<std::uint32_t>(4),
                            r.integer(5), r.integer(6)});
  });
}

} // namespace

postgres_reader::postgres_reader(postgres_connection& db) : db_(db) {
  db.prepare(std::array{read_aggregate_head, read_event, read_ticket_types, read_entries, read_claims, read_items, read_payments, read_refunds,
                        read_promo_codes, read_orders, read_dead_letters, read_priorities, read_idempotency, read_receipts,
                        read_organizers, read_customers, read_otps, events_on_sale, types_on_sale, events_of_organizer,
                        types_of_organizer, events_of_tenant, types_of_tenant, read_tenants, read_settings, read_api_keys,
                        tenants_of_organizers, audit_of_tenant, audit_of_target, orders_of_customer, letters_of_tenant,
                        open_letters_of_tenant, to_wake, greatest_number, read_history});
}

aggregate_image postgres_reader::read_image(aggregate_id aggregate, const bounds& limits) {
  postgres_pipeline pipeline(db_);
  const auto of_aggregate = postgres_parameters::of(aggregate);
  for (const auto* s : {&read_event, &read_ticket_types, &read_entries, &read_claims, &read_items, &read_payments, &read_refunds,
                        &read_promo_codes, &read_orders, &read_dead_letters, &read_priorities})
    pipeline.send(*s, of_aggregate);
  pipeline.send(read_idempotency, postgres_parameters::of(aggregate, limits.idempotency_since, limits.idempotency_max));
  pipeline.send(read_receipts, postgres_parameters::of(aggregate, limits.receipts_max));
  for (const auto* s : {&read_organizers, &read_customers, &read_otps}) pipeline.send(*s, of_aggregate);
  if (aggregate == accounts_aggregate) {
    pipeline.send(read_tenants);
    pipeline.send(read_settings);
    pipeline.send(read_api_keys, postgres_parameters::of(false));
  }
  pipeline.flush();

  aggregate_image image;
  pipeline.receive_each([&](const postgres_row& r) { image.event = event_of(r); });
  image.ticket_types = collect(pipeline, ticket_type_of);
  image.entries = collect(pipeline, entry_of);
  image.claims = collect(pipeline, claim_of);
  collect_items(pipeline, image.claims);
  image.payments = collect(pipeline, payment_of);
  image.refunds = collect(pipeline, refund_of);
  image.promo_codes = collect(pipeline, promo_code_of);
  image.orders = collect(pipeline, order_of);
  image.dead_letters = collect(pipeline, dead_letter_of);
  image.priorities = collect(pipeline, priority_of);
  image.idempotency = collect_reversed(pipeline, idempotency_of);
  image.receipts = collect_reversed(pipeline, receipt_of);
  image.organizers = collect(pipeline, organizer_of);
  image.customers = collect(pipeline, customer_of);
  image.otps = collect(pipeline, otp_of);
  if (aggregate == accounts_aggregate) {
    image.tenants = collect(pipeline, tenant_of);
    image.settings = collect(pipeline, setting_of);
    image.api_keys = collect(pipeline, api_key_of);
  }
  return image;
}

access_directory postgres_reader::directory() {
  postgres_pipeline pipeline(db_);
  pipeline.send(read_tenants);
  pipeline.send(read_api_keys, postgres_parameters::of(true));
  pipeline.send(tenants_of_organizers);
  pipeline.send(read_settings);
  pipeline.flush();
  access_directory all;
  all.tenants = collect(pipeline, tenant_of);
  all.api_keys = collect(pipeline, api_key_of);
  all.organizers = collect(pipeline, [](const postgres_row& r) { return std::pair{r.id(0), r.number<tenant_id>(1)}; });
  all.settings = collect(pipeline, setting_of);
  return all;
}

std::vector<audit_row> postgres_reader::audit(const audit_filter& filter) {
  auto page = postgres_parameters::of(filter.tenant, cursor_of(filter.before), filter.limit, filter.actor);
  if (!filter.target.is_nil()) page.add(filter.target);
  postgres_pipeline pipeline(db_);
  pipeline.send(filter.target.is_nil() ? audit_of_tenant : audit_of_target, page);
  pipeline.flush();
  return collect(pipeline, audit_of);
}

std::vector<order_listing> postgres_reader::list_orders(const order_filter& filter) {
  postgres_pipeline pipeline(db_);
  pipeline.send(orders_of_customer,
                postgres_parameters::of(filter.customer, cursor_of(filter.before), filter.limit));
  pipeline.flush();
  return collect(pipeline, [](const postgres_row& r) { return order_listing{r.id(21), r.text(22), r.text(23), order_of(r)}; });
}

std::vector<dead_letter_listing> postgres_reader::list_dead_letters(const dead_letter_filter& filter) {
  postgres_pipeline pipeline(db_);
  pipeline.send(filter.is_open ? open_letters_of_tenant : letters_of_tenant,
                postgres_parameters::of(filter.tenant, cursor_of(filter.before), filter.limit, filter.organizer.has_value(),
                                        filter.organizer.value_or(organizer_id{})));
  pipeline.flush();
  return collect(pipeline, [](const postgres_row& r) {
    return dead_letter_listing{r.is_null(8) ? event_id{} : r.id(8), dead_letter_of(r)};
  });
}

/// The types are read after the events: they are there for every event that was listed.
std::vector<event_listing> postgres_reader::list_events(const event_filter& filter) {
  auto page = postgres_parameters::of(filter.after, filter.limit);
  if (filter.organizer) page.add(*filter.organizer);
  if (!filter.organizer && filter.tenant) {
    page.add(*filter.tenant);
    page.add(filter.kind);
    page.add(filter.external_id);
  }
  const auto& [events, types] = filter.organizer ? std::tie(events_of_organizer, types_of_organizer)
                                : filter.tenant  ? std::tie(events_of_tenant, types_of_tenant)
                                                 : std::tie(events_on_sale, types_on_sale);
  postgres_pipeline pipeline(db_);
  pipeline.send(events, page);
  pipeline.send(types, page);
  pipeline.flush();
  auto result = collect(pipeline, [](const postgres_row& r) { return event_listing{event_of(r), {}}; });
  auto listing = result.begin();
  pipeline.receive_each([&](const postgres_row& r) {
    const auto aggregate = r.number<aggregate_id>(0);
    while (listing != result.end() && listing->event.aggregate < aggregate) ++listing;
    if (listing != result.end() && listing->event.aggregate == aggregate) listing->ticket_types.push_back(ticket_type_of(r));
  });
  return result;
}

std::vector<aggregate_id> postgres_reader::aggregates_to_wake(const std::string& owner) {
  postgres_pipeline pipeline(db_);
  pipeline.send(to_wake, postgres_parameters::of(owner));
  pipeline.flush();
  return collect(pipeline, [](const postgres_row& r) { return r.number<aggregate_id>(0); });
}

aggregate_head postgres_reader::read_head(aggregate_id aggregate) {
  postgres_pipeline pipeline(db_);
  pipeline.send(read_aggregate_head, postgres_parameters::of(aggregate));
  pipeline.flush();
  const auto rows = pipeline.receive();
  if (rows.size() == 0) return {};
  return {rows[0].number<std::uint64_t>(0), rows[0].number<std::uint64_t>(1), rows[0].time(2), rows[0].number<std::uint64_t>(3)};
}

aggregate_id postgres_reader::last_aggregate() {
  postgres_pipeline pipeline(db_);
  pipeline.send(greatest_number);
  pipeline.flush();
  const auto least = aggregate_id{number_of(first_event_aggregate) - 1};
  return std::max(least, pipeline.receive()[0].number<aggregate_id>(0));
}

std::vector<history_row> postgres_reader::history(aggregate_id aggregate) {
  postgres_pipeline pipeline(db_);
  pipeline.send(read_history, postgres_parameters::of(aggregate));
  pipeline.flush();
  return collect(pipeline, history_of);
}

} // namespace fq
