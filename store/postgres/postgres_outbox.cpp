// SPDX-License-Identifier: Apache-2.0
// Delivered rows stay until they are pruned. A delivery time of 0 means that the row has not passed all of
// its lanes.
#include "store/postgres/postgres_outbox.hpp"

#include "store/port/ledger_rows.hpp"
#include "store/postgres/postgres_unsynced.hpp"

#include <array>
#include <limits>
#include <string>

namespace fq {
namespace {

static_assert(outbox_partitions == 16, "a statement says 16");
static_assert(bit_of(lane::mail) == 1 && bit_of(lane::bus) == 2 && bit_of(lane::notices) == 4,
              "the migrations say so");

/// The lane's number must be literal, to match the condition of the lane's partial index.
std::string waits_in(lane which) {
  return "o.delivered_at = 0 AND (o.lanes & " + std::to_string(bit_of(which)) + ") <> 0";
}

/// Aggregates after $2, up to $3, with rows, at most $4. Skips from one to the next in the index,
/// independent of their row counts.
std::string waiting_sql(lane which) {
  const auto next =
    "SELECT o.aggregate FROM outbox AS o WHERE " + waits_in(which)
    + " AND o.aggregate % 16 = ANY($1::bigint[]) AND o.aggregate <= $3::bigint AND o.aggregate > ";
  const std::string first = " ORDER BY o.aggregate LIMIT 1";
  return "WITH RECURSIVE waiting (aggregate, n) AS (SELECT (" + next + "$2::bigint" + first
         + "), 1 UNION ALL SELECT (" + next + "w.aggregate" + first
         + "), w.n + 1 FROM waiting AS w WHERE w.aggregate IS NOT NULL AND w.n < $4::bigint)"
           " SELECT aggregate FROM waiting WHERE aggregate IS NOT NULL ORDER BY aggregate";
}

/// The first $2 rows of each aggregate.
std::string undelivered_sql(lane which) {
  return outbox_item_columns
         + " FROM unnest($1::bigint[]) WITH ORDINALITY AS w (aggregate, place) CROSS JOIN LATERAL (SELECT "
           "o.* "
           "FROM outbox AS o WHERE "
         + waits_in(which)
         + " AND o.aggregate = w.aggregate ORDER BY o.seq, o.ordinal LIMIT $2::bigint) AS o"
           " LEFT JOIN event AS e ON e.aggregate = o.aggregate ORDER BY w.place, o.seq, o.ordinal";
}

struct lane_statements {
  postgres_statement waiting, undelivered;
};
const lane_statements of_mail{{"waiting_mail", waiting_sql(lane::mail)},
                              {"undelivered_mail", undelivered_sql(lane::mail)}};
const lane_statements of_bus{{"waiting_bus", waiting_sql(lane::bus)},
                             {"undelivered_bus", undelivered_sql(lane::bus)}};
const lane_statements of_notices{{"waiting_notices", waiting_sql(lane::notices)},
                                 {"undelivered_notices", undelivered_sql(lane::notices)}};
const postgres_statement mark{
  "mark_delivered",
  "UPDATE outbox AS o SET lanes = o.lanes & ~$5::bigint, delivered_at = CASE WHEN o.lanes & ~$5::bigint = 0 "
  "THEN $4::bigint ELSE 0 END"
  " FROM (SELECT unnest($1::bigint[]) AS aggregate, unnest($2::bigint[]) AS seq,"
  " unnest($3::bigint[]) AS ordinal) AS given WHERE o.aggregate = given.aggregate AND o.seq = given.seq"
  " AND o.ordinal = given.ordinal AND o.delivered_at = 0"};

const lane_statements& statements_of(lane which) {
  switch (which) {
    case lane::mail: return of_mail;
    case lane::bus: return of_bus;
    case lane::notices: break;
  }
  return of_notices;
}

const postgres_statement prune_delivered{
  "prune_outbox",
  "DELETE FROM outbox WHERE (aggregate, seq, ordinal) IN (SELECT aggregate, seq, ordinal FROM outbox WHERE "
  "delivered_at <> 0"
  " AND delivered_at < $1::bigint ORDER BY delivered_at, aggregate, seq, ordinal LIMIT $2::bigint)"};

} // namespace

postgres_outbox::postgres_outbox(postgres_connection& db) : db_(db) {
  db.prepare(std::array{of_mail.waiting, of_mail.undelivered, of_bus.waiting, of_bus.undelivered,
                        of_notices.waiting, of_notices.undelivered, mark, prune_delivered});
}

std::vector<aggregate_id> postgres_outbox::waiting(lane which, std::span<const std::uint32_t> partitions,
                                                   std::size_t most, aggregate_id after) {
  constexpr std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max();
  const auto& statement = statements_of(which).waiting;
  postgres_pipeline pipeline(db_);
  pipeline.send(statement, postgres_parameters::of(postgres_array::of(partitions), after, last, most));
  pipeline.send(statement, postgres_parameters::of(postgres_array::of(partitions), first, after, most));
  pipeline.flush();
  std::vector<aggregate_id> all;
  for (int part = 0; part < 2; ++part)
    pipeline.receive_each([&](const postgres_row& r) { all.push_back(r.number<aggregate_id>(0)); });
  if (all.size() > most) all.resize(most);
  return all;
}

std::vector<outbox_item> postgres_outbox::undelivered(lane which, std::span<const std::uint32_t> partitions,
                                                      std::size_t limit, aggregate_id after) {
  const auto of = waiting(which, partitions, aggregates_of_round(limit), after);
  std::vector<outbox_item> items;
  if (of.empty()) return items;
  postgres_pipeline pipeline(db_);
  pipeline.send(statements_of(which).undelivered,
                postgres_parameters::of(postgres_array::of(std::span{of}), rows_of_each(limit, of.size())));
  pipeline.flush();
  pipeline.receive_each([&](const postgres_row& r) { items.push_back(outbox_item_of(r)); });
  return items;
}

void postgres_outbox::mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at) {
  if (keys.empty()) return;
  postgres_columns rows;
  for (const auto& k : keys) rows.add(k.aggregate, k.seq, k.ordinal);
  auto parameters = std::move(rows).parameters();
  parameters.add(at);
  parameters.add(bit_of(which));
  if (which == lane::notices) { // a lost mark only repeats notices, which their id identifies
    postgres_unsynced transaction(db_);
    transaction.send(mark, parameters);
    transaction.run();
    return;
  }
  db_.run(mark, parameters);
}

std::size_t postgres_outbox::prune(timestamp delivered_before, std::size_t limit) {
  return db_.run(prune_delivered, postgres_parameters::of(delivered_before, limit)).affected();
}

} // namespace fq
