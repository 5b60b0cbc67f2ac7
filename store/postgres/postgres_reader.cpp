// SPDX-License-Identifier: Apache-2.0
// Statements and their result rows; ledger_rows.hpp maps rows to structs.
#include "store/postgres/postgres_reader.hpp"

#include "store/port/ledger_rows.hpp"
#include "store/port/record_sql.hpp"
#include "store/port/statistics_sql.hpp"

#include <algorithm>
#include <array>

namespace fq {
namespace {

// -- statements

const std::string on_sale =
  "WHERE status IN (1, 2) AND kind = 0 AND aggregate > $1::bigint ORDER BY aggregate LIMIT $2::bigint";
const std::string of_organizer =
  "WHERE organizer = $3::uuid AND kind = 0 AND aggregate > $1::bigint ORDER BY aggregate LIMIT $2::bigint";
const std::string of_tenant = "WHERE tenant = $3::bigint AND kind = $4::bigint AND ($5::text = '' OR "
                              "external_id = $5::text) AND aggregate > $1::bigint"
                              " ORDER BY aggregate LIMIT $2::bigint";
const std::string of_actor = "WHERE tenant = $1::bigint AND id < $2::uuid AND ($4::text = '' OR actor IN "
                             "($4::text, 'system') OR action LIKE 'queue.%')";
/// `which`: an extra condition that an index may support.
std::string letters_of(const std::string& which) {
  return listed_dead_letter_columns + "WHERE l.tenant = $1::bigint AND l.id < $2::uuid" + which
         + " AND (NOT $4::boolean OR event.organizer = $5::uuid) ORDER BY l.id DESC LIMIT $3::bigint";
}

template <class Row>
std::string sorted_rows(const std::string& order) {
  return select_rows<Row>() + "WHERE aggregate = $1::bigint ORDER BY " + order;
}

/// The ticket types of a page of events.
std::string types_of(const std::string& page) {
  return ticket_type_columns + "WHERE aggregate IN (SELECT aggregate FROM event " + page
         + ") ORDER BY aggregate, ordinal";
}

/// Of one aggregate.
const postgres_statement read_aggregate_head{
  "read_aggregate_head", "SELECT " + head_columns + " FROM aggregate WHERE number = $1::bigint"};
const postgres_statement read_event{"read_event", select_rows<event_row>() + "WHERE aggregate = $1::bigint"};
const postgres_statement read_ticket_types{
  "read_ticket_types", ticket_type_columns + "WHERE aggregate = $1::bigint ORDER BY ordinal"};
/// Of a standalone queue (kind 1) those that ended since then, of others all.
const postgres_statement read_entries{
  "read_entries", select_rows<entry_row>()
                    + "WHERE aggregate = $1::bigint"
                      " AND queue_number >= (SELECT first_kept FROM aggregate WHERE number = $1::bigint)"
                      " AND (ended_at = 0 OR ended_at >= coalesce((SELECT $2::bigint FROM event"
                      " WHERE aggregate = $1::bigint AND kind = 1), 0)) ORDER BY queue_number"};
const postgres_statement read_one_entry{
  "read_one_entry", select_rows<entry_row>() + "WHERE aggregate = $1::bigint AND queue_number = $2::bigint"};
const postgres_statement read_claims{"read_claims", sorted_rows<claim_row>("id")};
const postgres_statement read_items{
  "read_items", claim_item_columns + "WHERE aggregate = $1::bigint ORDER BY claim, position"};
const postgres_statement read_payments{"read_payments", sorted_rows<payment_row>("id")};
const postgres_statement read_refunds{"read_refunds", sorted_rows<refund_row>("id")};
const postgres_statement read_promo_codes{"read_promo_codes", sorted_rows<promo_code_row>("ordinal")};
const postgres_statement read_orders{"read_orders", sorted_rows<order_row>("id")};
const postgres_statement read_checkin_lists{"read_checkin_lists", sorted_rows<checkin_list_row>("id")};
const postgres_statement read_checkin_devices{"read_checkin_devices", sorted_rows<checkin_device_row>("id")};
const postgres_statement read_scans{"read_scans", sorted_rows<scan_row>("id")};
const postgres_statement read_event_tickets{"read_event_tickets", sorted_rows<event_ticket_row>("id")};
const postgres_statement read_plan{"read_plan",
                                   select_rows<event_plan_row>() + "WHERE aggregate = $1::bigint"};
const postgres_statement read_seat_settings{"read_seat_settings", sorted_rows<seat_setting_row>("seat")};
const postgres_statement read_claim_seats{"read_claim_seats", sorted_rows<claim_seat_row>("claim, seat")};
const postgres_statement read_transfers{"read_transfers", sorted_rows<transfer_row>("id")};
const postgres_statement read_dead_letters{"read_dead_letters",
                                           select_rows<dead_letter_row>()
                                             + "WHERE aggregate = $1::bigint AND status = 0 ORDER BY id"};
const postgres_statement read_priorities{"read_priorities", sorted_rows<priority_row>("customer")};
const postgres_statement read_invitations{"read_invitations", sorted_rows<invitation_row>("customer")};
const postgres_statement read_access{"read_access",
                                     sorted_rows<entry_access_row>("queue_number, promo_code")};
const postgres_statement read_lobby{"read_lobby", select_rows<lobby_row>() + "WHERE aggregate = $1::bigint"};
const postgres_statement read_locks{"read_locks", sorted_rows<session_lock_row>("name COLLATE \"C\"")};
std::string number(int n) { return "$" + std::to_string(n) + "::bigint"; }
const postgres_statement read_last_statistics{"read_last_statistics", last_statistics_sql(number)};
const postgres_statement read_statistics{"read_statistics", statistics_sql(number)};
const postgres_statement read_type_figures{"read_type_figures", type_figures_sql(number)};
const postgres_statement read_figures{"read_figures", figures_sql(number)};
const postgres_statement read_blocks{"read_blocks",
                                     select_rows<block_row>() + "ORDER BY tenant, organizer, customer"};
const postgres_statement read_idempotency{"read_idempotency",
                                          select_rows<idempotency_row>()
                                            + "WHERE aggregate = $1::bigint AND created_at >= $2::bigint"
                                              " ORDER BY seq DESC, ordinal DESC LIMIT $3::bigint"};
const postgres_statement read_receipts{
  "read_receipts", select_rows<receipt_row>()
                     + "WHERE aggregate = $1::bigint ORDER BY seq DESC, ordinal DESC LIMIT $2::bigint"};
const postgres_statement read_organizers{"read_organizers", sorted_rows<organizer_row>("id")};
const postgres_statement read_customers{"read_customers", sorted_rows<customer_row>("id")};
const postgres_statement read_otps{"read_otps", sorted_rows<otp_row>("handle_hash")};
const postgres_statement read_organizer_sessions{"read_organizer_sessions",
                                                 sorted_rows<organizer_session_row>("id")};

const postgres_statement events_on_sale{"events_on_sale", select_listed<event_row>() + on_sale};
const postgres_statement types_on_sale{"types_on_sale", types_of(on_sale)};
const postgres_statement events_of_organizer{"events_of_organizer",
                                             select_listed<event_row>() + of_organizer};
const postgres_statement types_of_organizer{"types_of_organizer", types_of(of_organizer)};
const postgres_statement events_of_tenant{"events_of_tenant", select_listed<event_row>() + of_tenant};
const postgres_statement types_of_tenant{"types_of_tenant", types_of(of_tenant)};
const postgres_statement read_tenants{"read_tenants", select_rows<tenant_row>() + "ORDER BY id"};
const postgres_statement read_settings{"read_settings", select_rows<setting_row>() + "ORDER BY name"};
const postgres_statement read_api_keys{
  "read_api_keys", select_rows<api_key_row>() + "WHERE NOT $1::boolean OR revoked_at = 0 ORDER BY id"};
const postgres_statement access_of_organizers{"access_of_organizers",
                                              organizer_access_columns + "ORDER BY id"};
const postgres_statement ended_sessions{"ended_sessions", ended_sessions_sql};
const postgres_statement audit_of_tenant{"audit_of_tenant", select_rows<audit_row>() + of_actor
                                                              + " ORDER BY id DESC LIMIT $3::bigint"};
const postgres_statement audit_of_target{"audit_of_target",
                                         select_rows<audit_row>() + of_actor
                                           + " AND target = $5::uuid ORDER BY id DESC LIMIT $3::bigint"};
const postgres_statement orders_of_customer{
  "orders_of_customer",
  listed_order_columns
    + "WHERE o.customer = $1::uuid AND o.id < $2::uuid ORDER BY o.id DESC LIMIT $3::bigint"};
const postgres_statement tickets_of_holder{
  "tickets_of_holder",
  listed_event_ticket_columns
    + "WHERE t.holder = $1::uuid AND t.id < $2::uuid AND t.status <> 4 ORDER BY t.id DESC LIMIT $3::bigint"};
const std::string plan_owner = "WHERE tenant = $1::bigint AND (NOT $2::boolean OR organizer IN ($3::uuid, "
                               "'00000000-0000-0000-0000-000000000000'))";
const postgres_statement seat_plans{"seat_plans", select_listed<seat_plan_row>() + plan_owner
                                                    + " AND id > $4::uuid ORDER BY id LIMIT $5::bigint"};
const postgres_statement one_seat_plan{"one_seat_plan", select_rows<seat_plan_row>() + plan_owner
                                                          + " AND id = $4::uuid LIMIT $5::bigint"};
const postgres_statement transfers_of_customer{
  "transfers_of_customer",
  listed_transfer_columns
    + "WHERE (o.giver = $1::uuid OR o.receiver = $1::uuid) AND o.status = 0 ORDER BY o.id DESC LIMIT "
      "$2::bigint"};
const postgres_statement letters_of_tenant{"letters_of_tenant", letters_of("")};
const postgres_statement open_letters_of_tenant{"open_letters_of_tenant", letters_of(" AND l.status = 0")};
/// Each part uses an index of its own, but the second.
const postgres_statement to_wake{
  "to_wake",
  "SELECT number FROM (SELECT aggregate AS number FROM event WHERE status IN (1, 2)"
  " UNION SELECT number FROM aggregate WHERE live_entries > 0"
  " UNION "
    + aggregates_with_sql("claim", "status IN (0, 1)") + " UNION "
    + aggregates_with_sql("payment", "status IN (0, 1, 5, 6)") + " UNION "
    + aggregates_with_sql("refund", "status = 0") + " UNION "
    + aggregates_with_sql("event_ticket_transfer", "status = 0") + " UNION "
    + aggregates_with_sql("log_batch", "true")
    + " UNION SELECT aggregate FROM payment WHERE status = 3 AND recheck_at <> 0 AND recheck_at <= "
    + postgres_now
    + " UNION SELECT aggregate FROM event WHERE status = 4 AND EXISTS (SELECT FROM payment WHERE "
      "payment.aggregate = event.aggregate"
      " AND payment.status = 2) UNION SELECT aggregate FROM event WHERE status = 4 AND EXISTS (SELECT "
      "FROM payment"
      " WHERE payment.aggregate = event.aggregate AND payment.status = 8)"
      " UNION "
    + with_blocked
    + "'00000000-0000-0000-0000-000000000000')) AS running"
      " JOIN aggregate USING (number) WHERE $1::text = '' OR lease_owner IS NULL OR lease_owner = "
      "$1::text OR lease_until <= "
    + postgres_now + " ORDER BY number"};
const postgres_statement to_settle{"to_settle", events_to_settle_sql("$1::text", "$2::bigint", postgres_now)};
const postgres_statement greatest_number{"greatest_number", "SELECT max(number) FROM aggregate"};
const postgres_statement read_history{"read_history",
                                      "SELECT seq, kind, id, queue_number, from_status, to_status, at FROM "
                                      "history WHERE aggregate = $1::bigint ORDER BY seq, ordinal"};

std::string typed(char which, std::size_t n) {
  return "$" + std::to_string(n) + (which == 'c' || which == 'i' ? "::uuid" : "::bigint");
}

/// Sent as texts: only exports need them.
const record_statement& records_of(record_kind kind) {
  static const auto all = [] {
    std::vector<record_statement> made;
    for (std::size_t k = 0; k < record_kinds; ++k)
      made.push_back(record_statement_of(static_cast<record_kind>(k), typed));
    return made;
  }();
  return all.at(static_cast<std::size_t>(kind));
}

// -- rows

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

/// All rows of the next statement.
template <class Make>
auto collect(postgres_pipeline& pipeline, Make make) {
  std::vector<decltype(make(std::declval<const postgres_row&>()))> rows;
  pipeline.receive_each([&](const postgres_row& r) { rows.push_back(make(r)); });
  return rows;
}

/// All rows of a statement that reads newest first because of its limit; returns oldest first.
template <class Make>
auto collect_reversed(postgres_pipeline& pipeline, Make make) {
  auto rows = collect(pipeline, make);
  std::reverse(rows.begin(), rows.end());
  return rows;
}

/// What only the aggregate of accounts has.
void collect_installation(postgres_pipeline& pipeline, aggregate_image& image) {
  image.tenants = collect(pipeline, row_from<tenant_row>);
  image.settings = collect(pipeline, row_from<setting_row>);
  image.api_keys = collect(pipeline, row_from<api_key_row>);
  image.blocks = collect(pipeline, row_from<block_row>);
}

/// All rows of one statement.
template <class Make>
auto rows_of(postgres_connection& db, Make make, const postgres_statement& statement,
             const postgres_parameters& parameters = {}) {
  postgres_pipeline pipeline(db);
  pipeline.send(statement, parameters);
  pipeline.flush();
  return collect(pipeline, make);
}

/// Items are in the order of their claims: one pass over both.
void collect_items(postgres_pipeline& pipeline, std::vector<claim_row>& claims) {
  auto claim = claims.begin();
  pipeline.receive_each([&](const postgres_row& r) {
    while (claim->id < r.id(0)) ++claim; // each item has its claim: a foreign key
    claim->items.push_back(claim_item_of(r));
  });
}

void collect_seats(postgres_pipeline& pipeline, aggregate_image& image) {
  pipeline.receive_each([&](const postgres_row& r) { image.plan = read_row<event_plan_row>(r); });
  image.seat_settings = collect(pipeline, row_from<seat_setting_row>);
  image.claim_seats = collect(pipeline, row_from<claim_seat_row>);
}

} // namespace

postgres_reader::postgres_reader(postgres_connection& db) : db_(db) {
  // of one event
  db.prepare(std::array{read_aggregate_head, read_event,           read_ticket_types, read_entries,
                        read_one_entry,      read_claims,          read_items,        read_payments,
                        read_refunds,        read_promo_codes,     read_orders,       read_event_tickets,
                        read_plan,           read_seat_settings,   read_claim_seats,  read_transfers,
                        read_checkin_lists,  read_checkin_devices, read_scans,        read_dead_letters,
                        read_priorities,     read_invitations,     read_access,       read_locks,
                        read_lobby,          read_last_statistics, read_statistics,   read_type_figures,
                        read_figures});
  db.prepare(std::array{read_blocks, read_idempotency, read_receipts, read_organizers,
                        read_organizer_sessions, read_customers, read_otps, read_tenants, read_settings,
                        read_api_keys, access_of_organizers, ended_sessions});
  db.prepare(std::array{events_on_sale, types_on_sale, events_of_organizer, types_of_organizer,
                        events_of_tenant, types_of_tenant, audit_of_tenant, audit_of_target,
                        orders_of_customer, tickets_of_holder, seat_plans, one_seat_plan,
                        transfers_of_customer, letters_of_tenant, open_letters_of_tenant, to_wake, to_settle,
                        greatest_number, read_history});
}

aggregate_image postgres_reader::read_image(aggregate_id aggregate, const bounds& limits) {
  postgres_pipeline pipeline(db_);
  const auto of_aggregate = postgres_parameters::of(aggregate);
  for (const auto* s : {&read_event, &read_ticket_types}) pipeline.send(*s, of_aggregate);
  pipeline.send(read_entries, postgres_parameters::of(aggregate, limits.since.entries));
  for (const auto* s : {&read_claims,          &read_items,       &read_payments,      &read_refunds,
                        &read_promo_codes,     &read_orders,      &read_event_tickets, &read_plan,
                        &read_seat_settings,   &read_claim_seats, &read_transfers,     &read_checkin_lists,
                        &read_checkin_devices, &read_scans,       &read_dead_letters,  &read_priorities,
                        &read_invitations,     &read_access,      &read_locks,         &read_lobby,
                        &read_last_statistics})
    pipeline.send(*s, of_aggregate);
  pipeline.send(read_idempotency,
                postgres_parameters::of(aggregate, limits.since.idempotency, limits.idempotency_max));
  pipeline.send(read_receipts, postgres_parameters::of(aggregate, limits.receipts_max));
  for (const auto* s : {&read_organizers, &read_organizer_sessions, &read_customers, &read_otps})
    pipeline.send(*s, of_aggregate);
  if (aggregate == accounts_aggregate) {
    pipeline.send(read_tenants);
    pipeline.send(read_settings);
    pipeline.send(read_api_keys, postgres_parameters::of(false));
    pipeline.send(read_blocks);
  }
  pipeline.flush();

  aggregate_image image;
  pipeline.receive_each([&](const postgres_row& r) { image.event = read_row<event_row>(r); });
  image.ticket_types = collect(pipeline, ticket_type_of);
  image.entries = collect(pipeline, row_from<entry_row>);
  image.claims = collect(pipeline, row_from<claim_row>);
  collect_items(pipeline, image.claims);
  image.payments = collect(pipeline, row_from<payment_row>);
  image.refunds = collect(pipeline, row_from<refund_row>);
  image.promo_codes = collect(pipeline, row_from<promo_code_row>);
  image.orders = collect(pipeline, row_from<order_row>);
  image.event_tickets = collect(pipeline, row_from<event_ticket_row>);
  collect_seats(pipeline, image);
  image.transfers = collect(pipeline, row_from<transfer_row>);
  image.checkin_lists = collect(pipeline, row_from<checkin_list_row>);
  image.checkin_devices = collect(pipeline, row_from<checkin_device_row>);
  image.scans = collect(pipeline, row_from<scan_row>);
  image.dead_letters = collect(pipeline, row_from<dead_letter_row>);
  image.priorities = collect(pipeline, row_from<priority_row>);
  image.invitations = collect(pipeline, row_from<invitation_row>);
  image.access = collect(pipeline, row_from<entry_access_row>);
  image.locks = collect(pipeline, row_from<session_lock_row>);
  pipeline.receive_each([&](const postgres_row& r) { image.lobby = read_row<lobby_row>(r); });
  pipeline.receive_each([&](const postgres_row& r) { image.statistics = read_row<statistics_row>(r); });
  image.idempotency = collect_reversed(pipeline, row_from<idempotency_row>);
  image.receipts = collect_reversed(pipeline, row_from<receipt_row>);
  image.organizers = collect(pipeline, row_from<organizer_row>);
  image.organizer_sessions = collect(pipeline, row_from<organizer_session_row>);
  image.customers = collect(pipeline, row_from<customer_row>);
  image.otps = collect(pipeline, row_from<otp_row>);
  if (aggregate == accounts_aggregate) collect_installation(pipeline, image);
  return image;
}

access_directory postgres_reader::directory() {
  postgres_pipeline pipeline(db_);
  pipeline.send(read_tenants);
  pipeline.send(read_api_keys, postgres_parameters::of(true));
  pipeline.send(access_of_organizers);
  pipeline.send(ended_sessions);
  pipeline.send(read_settings);
  pipeline.flush();
  access_directory all;
  all.tenants = collect(pipeline, row_from<tenant_row>);
  all.api_keys = collect(pipeline, row_from<api_key_row>);
  all.organizers = collect(pipeline, organizer_access_of);
  all.ended_sessions = collect(pipeline, ended_session_of);
  all.settings = collect(pipeline, row_from<setting_row>);
  return all;
}

std::vector<block_row> postgres_reader::blocks() { return rows_of(db_, row_from<block_row>, read_blocks); }

std::vector<audit_row> postgres_reader::audit(const audit_filter& filter) {
  auto page = postgres_parameters::of(filter.tenant, cursor_of(filter.before), filter.limit, filter.actor);
  if (!filter.target.is_nil()) page.add(filter.target);
  return rows_of(db_, row_from<audit_row>, filter.target.is_nil() ? audit_of_tenant : audit_of_target, page);
}

std::vector<order_listing> postgres_reader::list_orders(const order_filter& filter) {
  return rows_of(db_, listed_order_of, orders_of_customer,
                 postgres_parameters::of(filter.customer, cursor_of(filter.before), filter.limit));
}

std::vector<transfer_listing> postgres_reader::list_transfers(const transfer_filter& filter) {
  return rows_of(db_, listed_transfer_of, transfers_of_customer,
                 postgres_parameters::of(filter.customer, filter.limit));
}

std::vector<event_ticket_listing> postgres_reader::list_event_tickets(const event_ticket_filter& filter) {
  return rows_of(db_, listed_event_ticket_of, tickets_of_holder,
                 postgres_parameters::of(filter.holder, cursor_of(filter.before), filter.limit));
}

std::vector<seat_plan_row> postgres_reader::list_seat_plans(const seat_plan_filter& filter) {
  return rows_of(db_, row_from<seat_plan_row>, filter.id.is_nil() ? seat_plans : one_seat_plan,
                 postgres_parameters::of(filter.tenant, filter.organizer.has_value(),
                                         filter.organizer.value_or(organizer_id{}),
                                         filter.id.is_nil() ? filter.after : filter.id, filter.limit));
}

std::vector<dead_letter_listing> postgres_reader::list_dead_letters(const dead_letter_filter& filter) {
  return rows_of(db_, listed_dead_letter_of, filter.is_open ? open_letters_of_tenant : letters_of_tenant,
                 postgres_parameters::of(filter.tenant, cursor_of(filter.before), filter.limit,
                                         filter.organizer.has_value(),
                                         filter.organizer.value_or(organizer_id{})));
}

record_page postgres_reader::list_records(const record_filter& filter) {
  const auto& [sql, order] = records_of(filter.after.kind);
  postgres_parameters parameters;
  each_record_parameter(order, filter, [&](const auto& value) { parameters.add(value); });
  postgres_pipeline pipeline(db_);
  pipeline.send(sql, parameters);
  pipeline.flush();
  return page_of(
    filter, collect(pipeline, [&](const postgres_row& r) { return seen_record_of(filter.after.kind, r); }));
}

open_purchase postgres_reader::find_open_purchase(const customer_id& customer) {
  static const auto statement = open_purchase_statement(typed);
  return db_.run(statement.sql, postgres_parameters::of(customer, customer, customer))[0]
    .number<open_purchase>(0);
}

std::vector<statistics_row> postgres_reader::list_statistics(const statistics_filter& f) {
  return rows_of(db_, statistics_of_step, read_statistics,
                 postgres_parameters::of(f.aggregate, f.from, f.to, f.step));
}

sale_figures postgres_reader::figures(aggregate_id aggregate) {
  postgres_pipeline pipeline(db_);
  pipeline.send(read_figures, postgres_parameters::of(aggregate));
  pipeline.send(read_type_figures, postgres_parameters::of(aggregate));
  pipeline.flush();
  auto sums = collect(pipeline, figures_of).front();
  sums.types = collect(pipeline, type_figures_of);
  return sums;
}

/// Reads the types after the events, so that every listed event has its types.
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
  auto result = collect(pipeline, [](const postgres_row& r) {
    return event_listing{read_row<event_row>(r), {}};
  });
  auto listing = result.begin();
  pipeline.receive_each([&](const postgres_row& r) {
    const auto aggregate = r.number<aggregate_id>(0);
    while (listing != result.end() && listing->event.aggregate < aggregate) ++listing;
    if (listing != result.end() && listing->event.aggregate == aggregate)
      listing->ticket_types.push_back(ticket_type_of(r));
  });
  return result;
}

std::vector<aggregate_id> postgres_reader::aggregates_to_wake(const std::string& owner) {
  return rows_of(
    db_, [](const postgres_row& r) { return r.number<aggregate_id>(0); }, to_wake,
    postgres_parameters::of(owner));
}

events_to_settle postgres_reader::find_events_to_settle(const std::string& owner, aggregate_id after) {
  return first_due_of(rows_of(db_, event_looked_at_of, to_settle, postgres_parameters::of(owner, after)));
}

aggregate_head postgres_reader::read_head(aggregate_id aggregate) {
  const auto rows = db_.run(read_aggregate_head, postgres_parameters::of(aggregate));
  if (rows.size() == 0) return {};
  return head_from<>(rows[0]);
}

aggregate_id postgres_reader::last_aggregate() {
  postgres_pipeline pipeline(db_);
  pipeline.send(greatest_number);
  pipeline.flush();
  const auto least = aggregate_id{number_of(first_event_aggregate) - 1};
  return std::max(least, pipeline.receive()[0].number<aggregate_id>(0));
}

std::optional<entry_row> postgres_reader::read_entry(aggregate_id aggregate, queue_number number) {
  const auto rows = db_.run(read_one_entry, postgres_parameters::of(aggregate, number));
  if (rows.size() == 0) return std::nullopt;
  return read_row<entry_row>(rows[0]);
}

std::vector<history_row> postgres_reader::history(aggregate_id aggregate) {
  return rows_of(db_, history_of, read_history, postgres_parameters::of(aggregate));
}

} // namespace fq
