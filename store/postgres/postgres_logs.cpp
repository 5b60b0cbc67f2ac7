// SPDX-License-Identifier: Apache-2.0
#include "store/postgres/postgres_logs.hpp"

#include "store/postgres/postgres_rows.hpp"

#include <array>

namespace fq {
namespace {

const postgres_statement read_state{"read_log_state",
                                    select_rows<log_state_row>() + "WHERE aggregate = $1::bigint"};
const postgres_statement read_noted{"read_log_batches",
                                    "SELECT seq, ordinal, content FROM log_batch WHERE aggregate = $1::bigint"
                                    " ORDER BY seq, ordinal LIMIT $2::bigint"};
const postgres_statement read_tile{"read_log_tile", select_rows<log_tile_row>()
                                                      + "WHERE aggregate = $1::bigint AND number = $2::bigint"
                                                        " AND level = $3::bigint AND position = $4::bigint"};
const postgres_statement read_bundle{"read_log_bundle",
                                     select_rows<log_tile_row>()
                                       + "WHERE aggregate = $1::bigint AND number = $2::bigint"
                                         " AND last_number >= $3::bigint AND level = 255"
                                         " ORDER BY last_number, position LIMIT 1"};
const postgres_statement prune_tiles{
  "prune_logs",
  "DELETE FROM log_tile WHERE (aggregate, number, level, position) IN (SELECT t.aggregate, t.number, t.level,"
  " t.position FROM event AS e JOIN log_tile AS t ON t.aggregate = e.aggregate WHERE e.kind = 0"
  " AND e.status IN (3, 4) AND e.sale_end < $1::bigint"
  " ORDER BY t.aggregate, t.number, t.level, t.position LIMIT $2::bigint)"};

} // namespace

postgres_logs::postgres_logs(postgres_connection& db) : db_(db) {
  db.prepare(std::array{read_state, read_noted, read_tile, read_bundle, prune_tiles});
}

std::optional<log_state_row> postgres_logs::state(aggregate_id aggregate) {
  postgres_pipeline pipeline(db_);
  pipeline.send(read_state, postgres_parameters::of(aggregate));
  pipeline.flush();
  std::optional<log_state_row> found;
  pipeline.receive_each([&](const postgres_row& r) { found = read_row<log_state_row>(r); });
  return found;
}

log_rows postgres_logs::read(aggregate_id aggregate, const log_wish& wish) {
  log_rows found{state(aggregate), {}, {}};
  if (!found.state) return found;
  const auto number = wish.number != 0 ? wish.number : found.state->number;
  const auto keys = keys_of(wish, *found.state);
  postgres_pipeline pipeline(db_);
  pipeline.send(read_noted, postgres_parameters::of(aggregate, wish.noted));
  for (const auto& key : keys)
    pipeline.send(read_tile, postgres_parameters::of(aggregate, number, key.level, key.position));
  const bool finds_join = value_of(wish.joined) > 0;
  if (finds_join) pipeline.send(read_bundle, postgres_parameters::of(aggregate, number, wish.joined));
  pipeline.flush();
  pipeline.receive_each([&](const postgres_row& r) {
    found.noted.push_back({{r.number<std::uint64_t>(0), r.number<std::uint64_t>(1)}, {r.blob(2)}});
  });
  for (std::size_t i = 0; i < keys.size() + (finds_join ? 1 : 0); ++i)
    pipeline.receive_each([&](const postgres_row& r) { found.tiles.push_back(read_row<log_tile_row>(r)); });
  return found;
}

std::size_t postgres_logs::prune(timestamp before, std::size_t limit) {
  if (!is_set(before)) return 0;
  return db_.run(prune_tiles, postgres_parameters::of(before, limit)).affected();
}

} // namespace fq
