// SPDX-License-Identifier: Apache-2.0
// Delivered rows stay until they are pruned. A delivery time of 0 means that the row has not passed all of
// its lanes.
#include "store/sqlite/sqlite_outbox.hpp"

#include "store/port/ledger_rows.hpp"

#include <limits>

namespace fq {

static_assert(outbox_partitions == 16, "next_waiting_sql says 16");
static_assert(bit_of(lane::mail) == 1 && bit_of(lane::bus) == 2 && bit_of(lane::notices) == 4,
              "the migrations say so");

namespace {

std::string index_of(lane which) {
  return which == lane::mail ? "outbox_mail" : which == lane::bus ? "outbox_bus" : "outbox_notices";
}
std::string waits_in(lane which) {
  return "o.delivered_at = 0 AND (o.lanes & " + std::to_string(bit_of(which)) + ") <> 0";
}

} // namespace

std::string sqlite_outbox::next_waiting_sql(lane which) {
  return "SELECT o.aggregate FROM outbox AS o INDEXED BY " + index_of(which) + " WHERE " + waits_in(which)
         + " AND o.aggregate > ?1 AND o.aggregate <= ?2 AND (?3 >> (o.aggregate % 16)) & 1 ORDER BY "
           "o.aggregate LIMIT 1";
}

std::string sqlite_outbox::undelivered_sql(lane which) {
  return outbox_item_columns + " FROM outbox AS o INDEXED BY " + index_of(which)
         + " LEFT JOIN event AS e ON e.aggregate = o.aggregate WHERE " + waits_in(which)
         + " AND o.aggregate = ?1 ORDER BY o.seq, o.ordinal LIMIT ?2";
}

sqlite_outbox::statements::of_lane::of_lane(sqlite_db& db, lane which) :
    next_waiting(db, next_waiting_sql(which)), undelivered(db, undelivered_sql(which)) {}

sqlite_outbox::statements::statements(sqlite_db& db) :
    mail(db, lane::mail),
    bus(db, lane::bus),
    notices(db, lane::notices),
    mark(db, "UPDATE outbox SET lanes = lanes & ~?1, delivered_at = iif(lanes & ~?1, 0, ?2)"
             " WHERE aggregate = ?3 AND seq = ?4 AND ordinal = ?5 AND delivered_at = 0"),
    prune(db,
          "DELETE FROM outbox WHERE (aggregate, seq, ordinal) IN (SELECT aggregate, seq, ordinal FROM outbox"
          " WHERE delivered_at <> 0 AND delivered_at < ? ORDER BY delivered_at, aggregate, seq, ordinal "
          "LIMIT ?)") {}

sqlite_outbox::sqlite_outbox(sqlite_db& db) : sql_(db) {}

sqlite_outbox::statements::of_lane& sqlite_outbox::of(lane which) {
  switch (which) {
    case lane::mail: return sql_.mail;
    case lane::bus: return sql_.bus;
    case lane::notices: break;
  }
  return sql_.notices;
}

std::vector<outbox_item> sqlite_outbox::undelivered(lane which, std::span<const std::uint32_t> partitions,
                                                    std::size_t limit, aggregate_id after) {
  constexpr aggregate_id first{0}, last{std::numeric_limits<std::uint32_t>::max()};
  std::uint32_t wanted = 0;
  for (const auto p : partitions) wanted |= 1u << p;
  auto& sql = of(which);
  std::vector<aggregate_id> waiting;
  const auto look = [&](aggregate_id from, aggregate_id to) {
    for (auto at = from;
         waiting.size() < aggregates_of_round(limit) && sql.next_waiting.bind(at, to, wanted).step();
         waiting.push_back(at)) {
      at = sql.next_waiting.number<aggregate_id>(0);
      sql.next_waiting.reset();
    }
  };
  look(after, last);
  look(first, after);
  std::vector<outbox_item> items;
  for (const auto aggregate : waiting) {
    auto& s = sql.undelivered.bind(aggregate, rows_of_each(limit, waiting.size()));
    while (s.step()) items.push_back(outbox_item_of(s));
  }
  return items;
}

void sqlite_outbox::mark_delivered(lane which, const outbox_key& key, timestamp at) {
  sql_.mark.run(bit_of(which), at, key.aggregate, key.seq, key.ordinal);
}

std::size_t sqlite_outbox::prune(timestamp delivered_before, std::size_t limit) {
  return static_cast<std::size_t>(sql_.prune.run(delivered_before, limit));
}

} // namespace fq
