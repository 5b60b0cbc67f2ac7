// SPDX-License-Identifier: Apache-2.0
// Public logs of the memory ledger.
#include "store/memory/memory_applier.hpp"

namespace fq {

bool memory_ledger::applier::operator()(const log_noted& c) {
  own_.noted.push_back({{batch_.to_seq, log_rows_++}, c.row});
  undo([this] { own_.noted.pop_back(); });
  return true;
}

bool memory_ledger::applier::operator()(const log_kept& c) {
  auto& log = own_.image.log;
  undo([&log, before = log, &noted = own_.noted, rows = own_.noted] {
    log = before;
    noted = rows;
  });
  log = c.state;
  for (const auto& tile : c.tiles) insert_or_replace(own_.log_tiles, tile);
  std::erase_if(own_.noted, [&](const noted_rows& r) {
    return r.place <= log_place{c.state.taken_seq, c.state.taken_ordinal};
  });
  return true;
}

log_rows memory_ledger::read_log(aggregate_id aggregate, const log_wish& wish) {
  log_rows found;
  const auto* own = find(aggregate);
  if (own == nullptr || !own->image.log) return found;
  found.state = own->image.log;
  const auto number = wish.number != 0 ? wish.number : found.state->number;
  found.noted.assign(own->noted.begin(),
                     own->noted.begin()
                       + static_cast<std::ptrdiff_t>(std::min(wish.noted, own->noted.size())));
  for (const auto& key : keys_of(wish, *found.state))
    if (const auto* tile = find_row(own->log_tiles, std::tuple{number, key.level, key.position}))
      found.tiles.push_back(*tile);
  if (value_of(wish.joined) == 0) return found;
  for (const auto& tile : own->log_tiles)
    if (tile.number == number && tile.level == bundle_level && tile.last_number >= wish.joined) {
      found.tiles.push_back(tile);
      break;
    }
  return found;
}

const std::vector<noted_rows>* memory_ledger::committed_notes(aggregate_id aggregate) const {
  const auto* own = find(aggregate);
  return own != nullptr ? &own->noted : nullptr;
}

/// Of events that have ended, by aggregate and key.
std::size_t memory_ledger::prune_logs(timestamp before, std::size_t most) {
  if (!is_set(before)) return 0;
  std::size_t gone = 0;
  for (auto& [number, state] : state_.aggregates) {
    const auto& e = state.image.event;
    const bool is_over = e && e->kind == event_kind::sale && e->sale_end < before
                         && (e->status == event_status::ended || e->status == event_status::cancelled);
    if (!is_over) continue;
    auto& tiles = state.log_tiles;
    const auto count = std::min(most - gone, tiles.size());
    tiles.erase(tiles.begin(), tiles.begin() + static_cast<std::ptrdiff_t>(count));
    gone += count;
  }
  return gone;
}

} // namespace fq
