// SPDX-License-Identifier: Apache-2.0
// Delivered rows stay until they are pruned; a delivery time of 0 means that a row has yet to pass one of its lanes.
#include "store/postgres_outbox.hpp"

#include "store/postgres_unsynced.hpp"

#include <array>
#include <string>

namespace fq {
namespace {

static_assert(outbox_partitions == 16, "the statement and the migrations say 16");

static_assert(bit_of(lane::mail) == 1 && bit_of(lane::bus) == 2 && bit_of(lane::notices) == 4, "the migrations say so");

/// The lane's number stands in the text: its index is of the rows that wait in it.
std::string undelivered_sql(lane which) {
  return "SELECT o.aggregate, o.seq, o.ordinal, o.tenant, e.organizer, o.id, o.topic, o.payload, o.created_at, o.lanes FROM outbox AS o"
         " LEFT JOIN event AS e ON e.aggregate = o.aggregate WHERE o.delivered_at = 0 AND (o.lanes & " + std::to_string(bit_of(which)) + ") <> 0"
         " AND o.aggregate % 16 = ANY($1::bigint[]) ORDER BY o.aggregate, o.seq, o.ordinal LIMIT $2::bigint";
}

const postgres_statement from_mail{"undelivered_mail", undelivered_sql(lane::mail)};
const postgres_statement from_bus{"undelivered_bus", undelivered_sql(lane::bus)};
const postgres_statement from_notices{"undelivered_notices", undelivered_sql(lane::notices)};
const postgres_statement mark{
  "mark_delivered",
  "UPDATE outbox AS o SET lanes = o.lanes & ~$5::bigint, delivered_at = CASE WHEN o.lanes & ~$5::bigint = 0 THEN $4::bigint ELSE 0 END"
  " FROM (SELECT unnest($1::bigint[]) AS aggregate, unnest($2::bigint[]) AS seq,"
  " unnest($3::bigint[]) AS ordinal) AS given WHERE o.aggregate = given.aggregate AND o.seq = given.seq"
  " AND o.ordinal = given.ordinal AND o.delivered_at = 0"};

const postgres_statement& waiting_in(lane which) {
  switch (which) {
    case lane::mail: return from_mail;
    case lane::bus: return from_bus;
    case lane::notices: break;
  }
  return from_notices;
}

const postgres_statement prune_delivered{
  "prune_outbox",
  "DELETE FROM outbox WHERE (aggregate, seq, ordinal) IN (SELECT aggregate, seq, ordinal FROM outbox WHERE delivered_at <> 0"
  " AND delivered_at < $1::bigint ORDER BY delivered_at, aggregate, seq, ordinal LIMIT $2::bigint)"};

} // namespace

postgres_outbox::postgres_outbox(postgres_connection& db) : db_(db) {
  db.prepare(std::array{from_mail, from_bus, from_notices, mark, prune_delivered});
}

std::vector<outbox_item> postgres_outbox::undelivered(lane which, std::span<const std::uint32_t> partitions, std::size_t limit) {
  postgres_pipeline pipeline(db_);
  pipeline.send(waiting_in(which), postgres_parameters::of(postgres_array::of(partitions), limit));
  pipeline.flush();
  std::vector<outbox_item> items;
  pipeline.receive_each([&](const postgres_row& r) {
    const outbox_key key{r.number<aggregate_id>(0), r.number<std::uint64_t>(1), r.number<std::uint32_t>(2)};
    items.push_back({key, r.number<tenant_id>(3), r.is_null(4) ? organizer_id{} : r.id(4),
                     {r.id(5), r.text(6), r.text(7), r.time(8), r.number<std::uint8_t>(9)}});
  });
  return items;
}

void postgres_outbox::mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at) {
  if (keys.empty()) return;
  postgres_columns rows;
  for (const auto& k : keys) rows.add(k.aggregate, k.seq, k.ordinal);
  auto parameters = std::move(rows).parameters();
  parameters.add(at);
  parameters.add(bit_of(which));
  if (which == lane::notices) { // they are told apart by their id, and not lost behind their mark
    postgres_unsynced transaction(db_);
    transaction.send(mark, parameters);
    transaction.run();
    return;
  }
  postgres_pipeline pipeline(db_);
  pipeline.send(mark, parameters);
  pipeline.flush();
  pipeline.receive();
}

std::size_t postgres_outbox::prune(timestamp delivered_before, std::size_t limit) {
  postgres_pipeline pipeline(db_);
  pipeline.send(prune_delivered, postgres_parameters::of(delivered_before, limit));
  pipeline.flush();
  return pipeline.receive().affected();
}

} // namespace fq
