// SPDX-License-Identifier: Apache-2.0
// Columns to read where a result has more than the rows of one table, and parts of statements that the SQL
// engines share.
#pragma once
#include "store/port/ledger.hpp"
#include "store/port/limits.hpp"
#include "store/port/notice_rows.hpp"
#include "store/port/row_sql.hpp"

#include <string>
#include <utility>

namespace fq {

/// The aggregate's own row, for load, peek and acquire.
inline const std::string head_columns = "epoch, applied_seq, committed_at, cache_generation, last_number, "
                                        "first_kept, admitted_total, completed_total, last_batch";
template <int First = 0>
inline constexpr auto head_from = [](const auto& r) {
  const auto count = [&](int i) { return r.template number<std::uint64_t>(First + i); };
  return aggregate_head{count(0),
                        count(1),
                        r.time(First + 2),
                        count(3),
                        {queue_number{count(4)}, queue_number{count(5)}, count(6), count(7),
                         r.template number<std::uint32_t>(First + 8)}};
};

/// Aggregates that are stopped, with their events.
inline const std::string lost_columns =
  "SELECT a.number, event.id, event.tenant, a.epoch, a.applied_seq, a.lost_epoch, a.lost_seq"
  " FROM aggregate AS a LEFT JOIN event ON event.aggregate = a.number"
  " WHERE a.lost_epoch <> 0 ORDER BY a.number";
inline constexpr auto lost_of = [](const auto& r) {
  const auto count = [&](int i) { return r.template number<std::uint64_t>(i); };
  lost_aggregate lost;
  lost.aggregate = r.template number<aggregate_id>(0);
  if (!r.is_null(1)) lost.event = r.id(1);
  if (!r.is_null(1)) lost.tenant = r.template number<tenant_id>(2);
  lost.what = {{count(3), count(4)}, {count(5), count(6)}};
  return lost;
};

/// The first column is for readers of several events' types.
inline const std::string ticket_type_columns =
  "SELECT aggregate, " + column_names<ticket_type_row>() + " FROM ticket_type ";
inline constexpr auto ticket_type_of = row_from<ticket_type_row, 1>;

/// The first column is the claim's id.
inline const std::string claim_item_columns =
  "SELECT claim, " + column_names<claim_item>() + " FROM claim_item ";
inline constexpr auto claim_item_of = row_from<claim_item, 1>;

inline const std::string listed_order_columns = "SELECT event.id, event.name, event.currency, "
                                                + column_names<order_row>("o.")
                                                + " FROM orders AS o JOIN event USING (aggregate) ";
inline constexpr auto listed_order_of = [](const auto& r) {
  return order_listing{r.id(0), r.text(1), r.text(2), read_row<order_row>(r, 3)};
};

inline const std::string listed_event_ticket_columns =
  "SELECT event.id, event.name, y.id, y.name, event.starts_at, event.time_zone, event.venue_name, "
  "event.status, "
  + column_names<event_ticket_settings>("event.") + ", " + column_names<event_ticket_row>("t.")
  + " FROM event_ticket AS t JOIN event USING (aggregate)"
    " JOIN ticket_type AS y ON y.aggregate = t.aggregate AND y.ordinal = t.ticket_type ";
inline constexpr auto listed_event_ticket_of = [](const auto& r) {
  constexpr int settings = 8, ticket = settings + column_count<event_ticket_settings>();
  return event_ticket_listing{r.id(0),
                              r.text(1),
                              r.id(2),
                              r.text(3),
                              read_row<event_ticket_row>(r, ticket),
                              read_row<event_ticket_settings>(r, settings),
                              r.time(4),
                              r.text(5),
                              r.text(6),
                              r.template number<event_status>(7)};
};

/// The numbers of the aggregates that have rows of this condition, each once: one look into an index of
/// `aggregate` for each number, however many rows it has. SQLite uses a partial index only if `condition` is
/// written as in the index.
inline std::string aggregates_with_sql(const std::string& table, const std::string& condition) {
  const auto first = "SELECT min(aggregate) FROM " + table + " WHERE (" + condition + ")";
  return "SELECT number FROM (WITH RECURSIVE found (number) AS (" + first + " UNION ALL SELECT (" + first
         + " AND aggregate > found.number) FROM found WHERE number IS NOT NULL)"
           " SELECT number FROM found WHERE number IS NOT NULL) AS "
         + table + "_found";
}

/// Rows of event_looked_at. `owner` and `after` are parameters. The events are chosen before their tickets
/// are counted.
inline std::string events_to_settle_sql(const std::string& owner, const std::string& after,
                                        const std::string& now) {
  return "SELECT e.aggregate, CASE WHEN (" + owner
         + " = '' OR a.lease_owner IS NULL OR a.lease_owner = " + owner + " OR a.lease_until <= " + now
         + ") AND (SELECT coalesce(sum(sold), 0) FROM ticket_type AS y WHERE y.aggregate = e.aggregate)"
           " <> (SELECT count(*) FROM event_ticket AS t WHERE t.aggregate = e.aggregate AND t.status <> 4)"
           " THEN CAST(1 AS bigint) ELSE CAST(0 AS bigint) END"
           " FROM (SELECT aggregate FROM event WHERE status IN (3, 4) AND aggregate > "
         + after + " ORDER BY aggregate LIMIT " + std::to_string(events_looked_at)
         + ") AS e JOIN aggregate AS a ON a.number = e.aggregate ORDER BY e.aggregate";
}
inline constexpr auto event_looked_at_of = [](const auto& r) {
  return event_looked_at{r.template number<aggregate_id>(0), r.integer(1) != 0};
};

inline const std::string listed_transfer_columns =
  "SELECT event.id, event.name, y.name, " + column_names<transfer_row>("o.")
  + " FROM event_ticket_transfer AS o JOIN event USING (aggregate)"
    " JOIN event_ticket AS t ON t.aggregate = o.aggregate AND t.id = o.ticket"
    " JOIN ticket_type AS y ON y.aggregate = t.aggregate AND y.ordinal = t.ticket_type ";
inline constexpr auto listed_transfer_of = [](const auto& r) {
  return transfer_listing{r.id(0), r.text(1), r.text(2), read_row<transfer_row>(r, 3)};
};

/// Includes letters of aggregates without an event.
inline const std::string listed_dead_letter_columns =
  "SELECT event.id, " + column_names<dead_letter_row>("l.")
  + " FROM dead_letter AS l LEFT JOIN event USING (aggregate) ";
inline constexpr auto listed_dead_letter_of = [](const auto& r) {
  return dead_letter_listing{r.is_null(0) ? event_id{} : r.id(0), read_row<dead_letter_row>(r, 1)};
};

/// Aggregates of events where a blocked customer has paid and was not fully refunded.
inline const std::string with_blocked =
  "SELECT p.aggregate FROM blocked_customer AS b JOIN payment AS p ON p.customer = b.customer AND p.status "
  "IN (2, 8)"
  " JOIN event AS e ON e.aggregate = p.aggregate AND e.tenant = b.tenant AND (b.includes_ended OR e.status "
  "<> 3) AND (b.organizer = e.organizer OR b.organizer = ";

inline const std::string organizer_access_columns = "SELECT id, tenant, tokens_not_before FROM organizer ";
inline constexpr auto organizer_access_of = [](const auto& r) {
  return organizer_access{r.id(0), r.template number<tenant_id>(1), r.time(2)};
};
inline const std::string ended_sessions_sql =
  "SELECT id FROM organizer_session WHERE ended_at <> 0 ORDER BY id";
inline constexpr auto ended_session_of = [](const auto& r) { return r.id(0); };

/// A row of the outbox `o` with the organizer of its event `e`.
inline const std::string outbox_item_columns =
  "SELECT o.aggregate, o.seq, o.ordinal, o.tenant, e.organizer, " + column_names<outbox_row>("o.");
inline constexpr auto outbox_item_of = [](const auto& r) {
  const outbox_key key{r.template number<aggregate_id>(0), r.template number<std::uint64_t>(1),
                       r.template number<std::uint32_t>(2)};
  return outbox_item{key, r.template number<tenant_id>(3), r.is_null(4) ? organizer_id{} : r.id(4),
                     read_row<outbox_row>(r, 5)};
};

/// A delivery `v`, its device `d` and its endpoint `e`, side by side in one row.
inline const std::string due_delivery_names = column_names<delivery_row>("v.") + ", "
                                              + column_names<device_row>("d.") + ", "
                                              + column_names<webhook_endpoint_row>("e.");
inline constexpr auto due_delivery_of = [](const auto& r) {
  constexpr int device = column_count<delivery_row>(), endpoint = device + column_count<device_row>();
  due_delivery due{read_row<delivery_row>(r), std::nullopt, std::nullopt};
  if (!r.is_null(device)) due.device = read_row<device_row>(r, device);
  if (!r.is_null(endpoint)) due.endpoint = read_row<webhook_endpoint_row>(r, endpoint);
  return due;
};

/// Cursor for a listing; nil becomes greater than every row.
inline uuid cursor_of(const uuid& before) { return before.is_nil() ? uuid{~0ull, ~0ull} : before; }

} // namespace fq
