// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_logs.hpp"

#include "store/sqlite/sqlite_rows.hpp"

namespace fq {

sqlite_log_reader::sqlite_log_reader(sqlite_db& db) :
    state_(db, select_rows<log_state_row>() + "WHERE aggregate = ?"),
    noted_(db,
           "SELECT seq, ordinal, content FROM log_batch WHERE aggregate = ? ORDER BY seq, ordinal LIMIT ?"),
    tile_(db,
          select_rows<log_tile_row>() + "WHERE aggregate = ? AND number = ? AND level = ? AND position = ?"),
    bundle_(db, select_rows<log_tile_row>()
                  + "INDEXED BY log_bundle_of_number WHERE aggregate = ? AND number = ? AND last_number >= ?"
                    " AND level = 255 ORDER BY last_number, position LIMIT 1") {}

std::optional<log_state_row> sqlite_log_reader::state(aggregate_id aggregate) {
  std::optional<log_state_row> found;
  state_.bind(aggregate);
  while (state_.step()) found = read_row<log_state_row>(state_);
  return found;
}

void sqlite_log_reader::take(sqlite_statement& s, std::vector<log_tile_row>& tiles) {
  while (s.step()) tiles.push_back(read_row<log_tile_row>(s));
}

log_rows sqlite_log_reader::read(aggregate_id aggregate, const log_wish& wish) {
  log_rows found{state(aggregate), {}, {}};
  if (!found.state) return found;
  const auto number = wish.number != 0 ? wish.number : found.state->number;
  noted_.bind(aggregate, wish.noted);
  while (noted_.step())
    found.noted.push_back(
      {{noted_.number<std::uint64_t>(0), noted_.number<std::uint64_t>(1)}, {noted_.blob(2)}});
  for (const auto& key : keys_of(wish, *found.state))
    take(tile_.bind(aggregate, number, key.level, key.position), found.tiles);
  if (value_of(wish.joined) > 0) take(bundle_.bind(aggregate, number, wish.joined), found.tiles);
  return found;
}

} // namespace fq
