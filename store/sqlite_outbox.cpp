// SPDX-License-Identifier: Apache-2.0
// Delivered rows stay until they are pruned; a delivery time of 0 means that a row still waits.
#include "store/sqlite_outbox.hpp"

namespace fq {

static_assert(outbox_partitions == 16, "undelivered_sql and the migrations say 16");

sqlite_outbox::statements::statements(sqlite_db& db)
    : undelivered(db, undelivered_sql),
      mark(db,
        "UPDATE outbox SET delivered_at = ? WHERE aggregate = ? AND seq = ? AND ordinal = ? AND delivered_at = 0"),
      prune(db,
        "DELETE FROM outbox WHERE (aggregate, seq, ordinal) IN (SELECT aggregate, seq, ordinal FROM outbox"
        " WHERE delivered_at <> 0 AND delivered_at < ? ORDER BY delivered_at, aggregate, seq, ordinal LIMIT ?)") {}

sqlite_outbox::sqlite_outbox(sqlite_db& db) : sql_(db) {}

std::vector<outbox_item> sqlite_outbox::undelivered(std::span<const std::uint32_t> partitions, std::size_t limit) {
  std::uint32_t wanted = 0;
  for (const auto p : partitions) wanted |= 1u << p;
  std::vector<outbox_item> items;
  auto& s = sql_.undelivered.bind(wanted, limit);
  while (s.step()) {
    const outbox_key key{s.number<aggregate_id>(0), s.number<std::uint64_t>(1), s.number<std::uint32_t>(2)};
    items.push_back({key, s.number<tenant_id>(3), {s.id(4), s.text(5), s.text(6), s.time(7)}});
  }
  return items;
}

void sqlite_outbox::mark_delivered(const outbox_key& key, timestamp at) {
  sql_.mark.run(at, key.aggregate, key.seq, key.ordinal);
}

std::size_t sqlite_outbox::prune(timestamp delivered_before, std::size_t limit) {
  return static_cast<std::size_t>(sql_.prune.run(delivered_before, limit));
}

} // namespace fq
