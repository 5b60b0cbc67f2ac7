// SPDX-License-Identifier: Apache-2.0
// Statements and their result rows; ledger_rows.hpp maps rows to structs.
#include "store/sqlite/sqlite_reader.hpp"

#include "store/port/ledger_rows.hpp"
#include "store/port/statistics_sql.hpp"
#include "store/sqlite/limits.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace fq {
namespace {

/// `which`: an extra condition that an index may support.
std::string letters_of_tenant_sql(const std::string& which) {
  return listed_dead_letter_columns + "WHERE l.tenant = ?1 AND l.id < ?2" + which
         + " AND (NOT ?4 OR event.organizer = ?5) ORDER BY l.id DESC LIMIT ?3";
}

std::string numbered(char, std::size_t) { return "?"; }
std::string mark(int n) { return "?" + std::to_string(n); }

/// Appends all rows of a bound statement.
template <class Make, class Row>
void collect(sqlite_statement& s, Make make, std::vector<Row>& rows) {
  while (s.step()) rows.push_back(make(s));
}

template <class Make>
auto collect(sqlite_statement& s, Make make) {
  std::vector<decltype(make(s))> rows;
  collect(s, make, rows);
  return rows;
}

/// All rows of a statement that reads newest first because of its limit; returns oldest first.
template <class Make>
auto collect_reversed(sqlite_statement& s, Make make) {
  auto rows = collect(s, make);
  std::reverse(rows.begin(), rows.end());
  return rows;
}

} // namespace

sqlite_reader::statements::statements(sqlite_db& db) :
    head(db, "SELECT " + head_columns + " FROM aggregate WHERE number = ?"),
    event(db, select_rows<event_row>() + "WHERE aggregate = ?"),
    log(db, select_rows<log_state_row>() + "WHERE aggregate = ?"),
    ticket_types(db, ticket_type_columns + "WHERE aggregate = ? ORDER BY ordinal"),
    entries(db, select_rows<entry_row>()
                  + "WHERE aggregate = ? AND queue_number >= ? AND (ended_at = 0 OR ended_at >= ?)"
                    " ORDER BY queue_number"),
    entry(db, select_rows<entry_row>() + "WHERE aggregate = ? AND queue_number = ?"),
    claims(db, select_rows<claim_row>() + "WHERE aggregate = ? ORDER BY id"),
    claim_items(db, claim_item_columns + "WHERE aggregate = ? ORDER BY claim, position"),
    payments(db, select_rows<payment_row>() + "WHERE aggregate = ? ORDER BY id"),
    refunds(db, select_rows<refund_row>() + "WHERE aggregate = ? ORDER BY id"),
    promo_codes(db, select_rows<promo_code_row>() + "WHERE aggregate = ? ORDER BY ordinal"),
    orders(db, select_rows<order_row>() + "WHERE aggregate = ? ORDER BY id"),
    event_tickets(db, select_rows<event_ticket_row>() + "WHERE aggregate = ? ORDER BY id"),
    plan(db, select_rows<event_plan_row>() + "WHERE aggregate = ?"),
    seat_settings(db, select_rows<seat_setting_row>() + "WHERE aggregate = ? ORDER BY seat"),
    claim_seats(db, select_rows<claim_seat_row>() + "WHERE aggregate = ? ORDER BY claim, seat"),
    transfers(db, select_rows<transfer_row>() + "WHERE aggregate = ? ORDER BY id"),
    checkin_lists(db, select_rows<checkin_list_row>() + "WHERE aggregate = ? ORDER BY id"),
    checkin_devices(db, select_rows<checkin_device_row>() + "WHERE aggregate = ? ORDER BY id"),
    scans(db, select_rows<scan_row>() + "WHERE aggregate = ? ORDER BY id"),
    dead_letters(db, select_rows<dead_letter_row>()
                       + "INDEXED BY dead_letter_open WHERE aggregate = ? AND status = 0 ORDER BY id"),
    priorities(db, select_rows<priority_row>() + "WHERE aggregate = ? ORDER BY customer"),
    invitations(db, select_rows<invitation_row>() + "WHERE aggregate = ? ORDER BY customer"),
    access(db, select_rows<entry_access_row>() + "WHERE aggregate = ? ORDER BY queue_number, promo_code"),
    locks(db, select_rows<session_lock_row>() + "WHERE aggregate = ? ORDER BY name"),
    lobby(db, select_rows<lobby_row>() + "WHERE aggregate = ?"),
    idempotency(db, select_rows<idempotency_row>()
                      + "WHERE aggregate = ? AND created_at >= ? ORDER BY seq DESC, ordinal DESC LIMIT ?"),
    receipts(db, select_rows<receipt_row>() + "WHERE aggregate = ? ORDER BY seq DESC, ordinal DESC LIMIT ?"),
    organizers(db, select_rows<organizer_row>() + "WHERE aggregate = ? ORDER BY id"),
    organizer_sessions(db, select_rows<organizer_session_row>() + "WHERE aggregate = ? ORDER BY id"),
    customers(db, select_rows<customer_row>() + "WHERE aggregate = ? ORDER BY id"),
    otps(db, select_rows<otp_row>() + "WHERE aggregate = ? ORDER BY handle_hash"),
    events_on_sale(db,
                   select_listed<event_row>()
                     + "WHERE status IN (1, 2) AND kind = 0 AND aggregate > ? ORDER BY aggregate LIMIT ?"),
    events_of_organizer(db,
                        select_listed<event_row>()
                          + "WHERE organizer = ? AND kind = 0 AND aggregate > ? ORDER BY aggregate LIMIT ?"),
    events_of_tenant(
      db, select_listed<event_row>()
            + "WHERE tenant = ?1 AND kind = ?2 AND (?3 = '' OR external_id = ?3) AND aggregate > ?4"
              " ORDER BY aggregate LIMIT ?5"),
    tenants(db, select_rows<tenant_row>() + "ORDER BY id"),
    settings(db, select_rows<setting_row>() + "ORDER BY name"),
    blocks(db, select_rows<block_row>() + "ORDER BY tenant, organizer, customer"),
    api_keys(db, select_rows<api_key_row>() + "WHERE ?1 = 0 OR revoked_at = 0 ORDER BY id"),
    access_of_organizers(db, organizer_access_columns + "ORDER BY id"),
    ended_sessions(db, ended_sessions_sql),
    audit_of_tenant(
      db, select_rows<audit_row>()
            + "WHERE tenant = ?1 AND id < ?2"
              " AND (?4 = '' OR actor IN (?4, 'system') OR action GLOB 'queue.*') ORDER BY id DESC LIMIT ?3"),
    audit_of_target(db, select_rows<audit_row>()
                          + "WHERE tenant = ?1 AND id < ?2"
                            " AND (?4 = '' OR actor IN (?4, 'system') OR action GLOB 'queue.*') AND target = "
                            "?5 ORDER BY id DESC LIMIT ?3"),
    orders_of_customer(db, listed_order_columns
                             + "WHERE o.customer = ?1 AND o.id < ?2 ORDER BY o.id DESC LIMIT ?3"),
    tickets_of_holder(db,
                      listed_event_ticket_columns
                        + "WHERE t.holder = ?1 AND t.id < ?2 AND t.status <> 4 ORDER BY t.id DESC LIMIT ?3"),
    transfers_of_customer(db, listed_transfer_columns
                                + "WHERE (o.giver = ?1 OR o.receiver = ?1) AND o.status = 0"
                                  " ORDER BY o.id DESC LIMIT ?2"),
    letters_of_tenant(db, letters_of_tenant_sql("")),
    open_letters_of_tenant(db, letters_of_tenant_sql(" AND l.status = 0")),
    seat_plans(
      db, select_listed<seat_plan_row>()
            + "WHERE tenant = ?1 AND (NOT ?2 OR organizer IN (?3, ?6)) AND id > ?4 ORDER BY id LIMIT ?5"),
    one_seat_plan(db, select_rows<seat_plan_row>()
                        + "WHERE tenant = ?1 AND (NOT ?2 OR organizer IN (?3, ?6)) AND id = ?4 LIMIT ?5"),
    to_wake(db, to_wake_sql()),
    to_settle(db, events_to_settle_sql("?1", "?2", sqlite_now)),
    last_aggregate(db, "SELECT max(number) FROM aggregate"),
    history(db, "SELECT seq, kind, key, from_status, to_status, at FROM history WHERE aggregate = ? ORDER BY"
                " seq, ordinal"),
    open_purchases(db, open_purchase_statement(numbered).sql),
    last_statistics(db, last_statistics_sql(mark)),
    statistics(db, statistics_sql(mark)),
    type_figures(db, type_figures_sql(mark)),
    figures(db, figures_sql(mark)) {
  for (std::size_t kind = 0; kind < record_kinds; ++kind) {
    auto text = record_statement_of(static_cast<record_kind>(kind), numbered);
    sqlite_statement prepared(db, text.sql);
    records.push_back({std::move(text), std::move(prepared)});
  }
}

/// Each part uses an index of its own, but the second.
std::string sqlite_reader::to_wake_sql() {
  return "SELECT number FROM (SELECT aggregate AS number FROM event WHERE status IN (1, 2)"
         " UNION SELECT number FROM aggregate WHERE live_entries > 0"
         " UNION "
         + aggregates_with_sql("claim", "status IN (0, 1)") + " UNION "
         + aggregates_with_sql("payment", "status <= 1 OR status BETWEEN 5 AND 6") + " UNION "
         + aggregates_with_sql("refund", "status = 0") + " UNION "
         + aggregates_with_sql("event_ticket_transfer", "status = 0") + " UNION "
         + aggregates_with_sql("log_batch", "1 = 1")
         + " UNION SELECT aggregate FROM payment WHERE status = 3 AND recheck_at <> 0 AND recheck_at <= "
         + sqlite_now
         + " UNION SELECT aggregate FROM event WHERE status = 4 AND EXISTS (SELECT 1 FROM payment"
           " INDEXED BY payment_confirmed WHERE payment.aggregate = event.aggregate AND payment.status = 2)"
           " UNION SELECT aggregate FROM event WHERE status = 4 AND EXISTS (SELECT 1 FROM payment"
           " INDEXED BY payment_partly_refunded WHERE payment.aggregate = event.aggregate AND payment.status "
           "= 8)"
           " UNION "
         + with_blocked
         + "zeroblob(16)))"
           " JOIN aggregate USING (number) WHERE ?1 = '' OR lease_owner IS NULL OR lease_owner = ?1"
           " OR lease_until <= "
         + sqlite_now + " ORDER BY number";
}

sqlite_reader::sqlite_reader(sqlite_db& db) : sql_(db) {}

aggregate_head sqlite_reader::read_head(aggregate_id aggregate) {
  aggregate_head result;
  sql_.head.bind(aggregate);
  while (sql_.head.step()) result = head_from<>(sql_.head);
  return result;
}

aggregate_image sqlite_reader::read_image(aggregate_id aggregate, const image_bounds& bounds) {
  aggregate_image image;
  sql_.event.bind(aggregate);
  while (sql_.event.step()) image.event = read_row<event_row>(sql_.event);
  sql_.log.bind(aggregate);
  while (sql_.log.step()) image.log = read_row<log_state_row>(sql_.log);
  image.ticket_types = collect(sql_.ticket_types.bind(aggregate), ticket_type_of);
  const bool is_queue = image.event && image.event->kind == event_kind::queue;
  const auto ended_since = is_queue ? bounds.since.entries : from_unix_ms(0);
  const auto line = read_head(aggregate).line;
  if (!is_queue) // else most have ended
    image.entries.reserve(std::min(value_of(line.last_number) - value_of(line.first_kept) + 1,
                                   sqlite_limits::entries_reserved_max));
  collect(sql_.entries.bind(aggregate, line.first_kept, ended_since), row_from<entry_row>, image.entries);
  image.claims = collect(sql_.claims.bind(aggregate), row_from<claim_row>);
  read_items(aggregate, image.claims);
  image.payments = collect(sql_.payments.bind(aggregate), row_from<payment_row>);
  image.refunds = collect(sql_.refunds.bind(aggregate), row_from<refund_row>);
  image.promo_codes = collect(sql_.promo_codes.bind(aggregate), row_from<promo_code_row>);
  image.orders = collect(sql_.orders.bind(aggregate), row_from<order_row>);
  image.event_tickets = collect(sql_.event_tickets.bind(aggregate), row_from<event_ticket_row>);
  sql_.plan.bind(aggregate);
  while (sql_.plan.step()) image.plan = read_row<event_plan_row>(sql_.plan);
  if (image.plan) {
    image.seat_settings = collect(sql_.seat_settings.bind(aggregate), row_from<seat_setting_row>);
    image.claim_seats = collect(sql_.claim_seats.bind(aggregate), row_from<claim_seat_row>);
  }
  image.transfers = collect(sql_.transfers.bind(aggregate), row_from<transfer_row>);
  image.checkin_lists = collect(sql_.checkin_lists.bind(aggregate), row_from<checkin_list_row>);
  image.checkin_devices = collect(sql_.checkin_devices.bind(aggregate), row_from<checkin_device_row>);
  image.scans = collect(sql_.scans.bind(aggregate), row_from<scan_row>);
  image.dead_letters = collect(sql_.dead_letters.bind(aggregate), row_from<dead_letter_row>);
  image.priorities = collect(sql_.priorities.bind(aggregate), row_from<priority_row>);
  image.invitations = collect(sql_.invitations.bind(aggregate), row_from<invitation_row>);
  image.access = collect(sql_.access.bind(aggregate), row_from<entry_access_row>);
  image.locks = collect(sql_.locks.bind(aggregate), row_from<session_lock_row>);
  sql_.lobby.bind(aggregate);
  while (sql_.lobby.step()) image.lobby = read_row<lobby_row>(sql_.lobby);
  sql_.last_statistics.bind(aggregate);
  while (sql_.last_statistics.step()) image.statistics = read_row<statistics_row>(sql_.last_statistics);
  image.idempotency =
    collect_reversed(sql_.idempotency.bind(aggregate, bounds.since.idempotency, bounds.idempotency_max),
                     row_from<idempotency_row>);
  image.receipts =
    collect_reversed(sql_.receipts.bind(aggregate, bounds.receipts_max), row_from<receipt_row>);
  image.organizers = collect(sql_.organizers.bind(aggregate), row_from<organizer_row>);
  image.organizer_sessions =
    collect(sql_.organizer_sessions.bind(aggregate), row_from<organizer_session_row>);
  image.customers = collect(sql_.customers.bind(aggregate), row_from<customer_row>);
  image.otps = collect(sql_.otps.bind(aggregate), row_from<otp_row>);
  if (aggregate == accounts_aggregate) {
    image.tenants = collect(sql_.tenants.bind(), row_from<tenant_row>);
    image.settings = collect(sql_.settings.bind(), row_from<setting_row>);
    image.blocks = collect(sql_.blocks.bind(), row_from<block_row>);
    image.api_keys = collect(sql_.api_keys.bind(false), row_from<api_key_row>);
  }
  return image;
}

/// Items are in the order of their claims: one pass over both.
void sqlite_reader::read_items(aggregate_id aggregate, std::vector<claim_row>& claims) {
  auto& s = sql_.claim_items.bind(aggregate);
  auto claim = claims.begin();
  while (s.step()) {
    const auto id = s.id(0);
    while (claim != claims.end() && claim->id < id) ++claim;
    if (claim == claims.end()) break;
    claim->items.push_back(claim_item_of(s));
  }
  s.reset();
}

access_directory sqlite_reader::directory() {
  auto organizers = collect(sql_.access_of_organizers.bind(), organizer_access_of);
  auto ended = collect(sql_.ended_sessions.bind(), ended_session_of);
  return {collect(sql_.tenants.bind(), row_from<tenant_row>),
          collect(sql_.api_keys.bind(true), row_from<api_key_row>), std::move(organizers), std::move(ended),
          collect(sql_.settings.bind(), row_from<setting_row>)};
}

std::vector<block_row> sqlite_reader::blocks() { return collect(sql_.blocks.bind(), row_from<block_row>); }

std::vector<audit_row> sqlite_reader::audit(const audit_filter& filter) {
  const auto before = cursor_of(filter.before);
  auto& s = filter.target.is_nil()
              ? sql_.audit_of_tenant.bind(filter.tenant, before, filter.limit, filter.actor)
              : sql_.audit_of_target.bind(filter.tenant, before, filter.limit, filter.actor, filter.target);
  return collect(s, row_from<audit_row>);
}

std::vector<order_listing> sqlite_reader::list_orders(const order_filter& filter) {
  return collect(sql_.orders_of_customer.bind(filter.customer, cursor_of(filter.before), filter.limit),
                 listed_order_of);
}

std::vector<event_ticket_listing> sqlite_reader::list_event_tickets(const event_ticket_filter& filter) {
  return collect(sql_.tickets_of_holder.bind(filter.holder, cursor_of(filter.before), filter.limit),
                 listed_event_ticket_of);
}

std::vector<seat_plan_row> sqlite_reader::list_seat_plans(const seat_plan_filter& filter) {
  auto& s = (filter.id.is_nil() ? sql_.seat_plans : sql_.one_seat_plan)
              .bind(filter.tenant, filter.organizer.has_value(), filter.organizer.value_or(organizer_id{}),
                    filter.id.is_nil() ? filter.after : filter.id, filter.limit, organizer_id{});
  return collect(s, row_from<seat_plan_row>);
}

std::vector<transfer_listing> sqlite_reader::list_transfers(const transfer_filter& filter) {
  return collect(sql_.transfers_of_customer.bind(filter.customer, filter.limit), listed_transfer_of);
}

std::vector<dead_letter_listing> sqlite_reader::list_dead_letters(const dead_letter_filter& filter) {
  auto& s = (filter.is_open ? sql_.open_letters_of_tenant : sql_.letters_of_tenant)
              .bind(filter.tenant, cursor_of(filter.before), filter.limit, filter.organizer.has_value(),
                    filter.organizer.value_or(organizer_id{}));
  return collect(s, listed_dead_letter_of);
}

record_page sqlite_reader::list_records(const record_filter& filter) {
  auto& [text, s] = sql_.records.at(static_cast<std::size_t>(filter.after.kind));
  s.bind();
  each_record_parameter(text.parameters, filter, [&s = s](const auto& value) { s.bind_more(value); });
  return page_of(
    filter, collect(s, [&](const sqlite_statement& row) { return seen_record_of(filter.after.kind, row); }));
}

open_purchase sqlite_reader::find_open_purchase(const customer_id& customer) {
  auto& s = sql_.open_purchases.bind(customer, customer, customer);
  open_purchase found{};
  while (s.step()) found = s.number<open_purchase>(0);
  return found;
}

std::vector<statistics_row> sqlite_reader::list_statistics(const statistics_filter& f) {
  return collect(sql_.statistics.bind(f.aggregate, f.from, f.to, f.step), statistics_of_step);
}

sale_figures sqlite_reader::figures(aggregate_id aggregate) {
  auto sums = collect(sql_.figures.bind(aggregate), figures_of).front();
  sums.types = collect(sql_.type_figures.bind(aggregate), type_figures_of);
  return sums;
}

std::vector<event_listing> sqlite_reader::list_events(const event_filter& filter) {
  auto& s = filter.organizer ? sql_.events_of_organizer.bind(*filter.organizer, filter.after, filter.limit)
            : filter.tenant  ? sql_.events_of_tenant.bind(*filter.tenant, filter.kind, filter.external_id,
                                                          filter.after, filter.limit)
                             : sql_.events_on_sale.bind(filter.after, filter.limit);
  auto result = collect(s, [](const sqlite_statement& row) {
    return event_listing{read_row<event_row>(row), {}};
  });
  for (auto& listing : result)
    listing.ticket_types = collect(sql_.ticket_types.bind(listing.event.aggregate), ticket_type_of);
  return result;
}

std::vector<aggregate_id> sqlite_reader::aggregates_to_wake(const std::string& owner) {
  return collect(sql_.to_wake.bind(owner),
                 [](const sqlite_statement& s) { return s.number<aggregate_id>(0); });
}

events_to_settle sqlite_reader::find_events_to_settle(const std::string& owner, aggregate_id after) {
  return first_due_of(collect(sql_.to_settle.bind(owner, after), event_looked_at_of));
}

aggregate_id sqlite_reader::last_aggregate() {
  auto last = aggregate_id{number_of(first_event_aggregate) - 1};
  while (sql_.last_aggregate.step()) last = std::max(last, sql_.last_aggregate.number<aggregate_id>(0));
  return last;
}

std::optional<entry_row> sqlite_reader::read_entry(aggregate_id aggregate, queue_number number) {
  std::optional<entry_row> found;
  sql_.entry.bind(aggregate, number);
  while (sql_.entry.step()) found = read_row<entry_row>(sql_.entry);
  return found;
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
