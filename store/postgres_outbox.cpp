// SPDX-License-Identifier: Apache-2.0
// Delivered rows stay until they are pruned; a delivery time of 0 means that a row still waits.
#include "store/postgres_outbox.hpp"

#include <array>

namespace fq {
namespace {

static_assert(outbox_partitions == 16, "the statement and the migrations say 16");

const postgres_statement find_undelivered{
  "undelivered",
  "SELECT aggregate, seq, ordinal, tenant, id, topic, payload, created_at FROM outbox WHERE delivered_at = 0"
  " AND aggregate % 16 = ANY($1::bigint[]) ORDER BY aggregate, seq, ordinal LIMIT $2::bigint"};
const postgres_statement mark{
  "mark_delivered",
  "UPDATE outbox AS o SET delivered_at = $4::bigint FROM (SELECT unnest($1::bigint[]) AS aggregate, unnest($2::bigint[]) AS seq,"
  " unnest($3::bigint[]) AS ordinal) AS given WHERE o.aggregate = given.aggregate AND o.seq = given.seq"
  " AND o.ordinal = given.ordinal AND o.delivered_at = 0"};
const postgres_statement prune_delivered{
  "prune_outbox",
  "DELETE FROM outbox WHERE (aggregate, seq, ordinal) IN (SELECT aggregate, seq, ordinal FROM outbox WHERE delivered_at <> 0"
  " AND delivered_at < $1::bigint ORDER BY delivered_at, aggregate, seq, ordinal LIMIT $2::bigint)"};

} // namespace

postgres_outbox::postgres_outbox(postgres_connection& db) : db_(db) {
  db.prepare(std::array{find_undelivered, mark, prune_delivered});
}

std::vector<outbox_item> postgres_outbox::undelivered(std::span<const std::uint32_t> partitions, std::size_t limit) {
  postgres_pipeline pipeline(db_);
  pipeline.send(find_undelivered, postgres_parameters::of(postgres_array::of(partitions), limit));
  pipeline.flush();
  std::vector<outbox_item> items;
  pipeline.receive_each([&](const postgres_row& r) {
    const outbox_key key{r.number<aggregate_id>(0), r.number<std::uint64_t>(1), r.number<std::uint32_t>(2)};
    items.push_back({key, r.number<tenant_id>(3), {r.id(4), r.text(5), r.text(6), r.time(7)}});
  });
  return items;
}

void postgres_outbox::mark_delivered(std::span<const outbox_key> keys, timestamp at) {
  if (keys.empty()) return;
  postgres_columns rows;
  for (const auto& k : keys) rows.add(k.aggregate, k.seq, k.ordinal);
  auto parameters = std::move(rows).parameters();
  parameters.add(at);
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
