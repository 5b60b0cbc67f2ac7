// SPDX-License-Identifier: Apache-2.0
// The outbox of the memory ledger for dispatchers. The applier inserts rows, prune() deletes them.
#include "store/memory/memory_ledger.hpp"

#include <algorithm>
#include <utility>

namespace fq {

std::vector<outbox_item> memory_ledger::undelivered(lane which, std::span<const std::uint32_t> partitions,
                                                    std::size_t limit, aggregate_id after) {
  const auto waits = [which](const stored_outbox_row& r) {
    return !is_set(r.delivered_at) && (r.content.lanes & bit_of(which)) != 0;
  };
  std::vector<aggregate_id> waiting;
  for (const auto& [number, state] : state_.aggregates)
    if (std::ranges::find(partitions, number_of(number) % outbox_partitions) != partitions.end()
        && std::ranges::any_of(state.outbox, waits))
      waiting.push_back(number);
  std::ranges::rotate(waiting, std::ranges::upper_bound(waiting, after));
  if (waiting.size() > aggregates_of_round(limit)) waiting.resize(aggregates_of_round(limit));
  std::vector<outbox_item> result;
  for (const auto number : waiting) {
    const auto& state = state_.aggregates.at(number);
    auto left = rows_of_each(limit, waiting.size());
    for (const auto& r : state.outbox) {
      if (left == 0 || !waits(r)) continue;
      --left;
      result.push_back({{number, r.seq, r.ordinal},
                        state.tenant,
                        state.image.event ? state.image.event->organizer : organizer_id{},
                        r.content});
    }
  }
  return result;
}

void memory_ledger::mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at) {
  pass_a_call({});
  const auto place = [](const stored_outbox_row& r) { return std::pair{r.seq, r.ordinal}; };
  for (const auto& key : keys) {
    const auto found = state_.aggregates.find(key.aggregate);
    if (found == state_.aggregates.end()) continue;
    auto& rows = found->second.outbox;
    const auto row = std::ranges::lower_bound(rows, std::pair{key.seq, key.ordinal}, {}, place);
    const bool waits =
      row != rows.end() && place(*row) == std::pair{key.seq, key.ordinal} && !is_set(row->delivered_at);
    if (!waits) continue;
    row->content.lanes = static_cast<std::uint8_t>(row->content.lanes & ~bit_of(which));
    if (row->content.lanes == 0) row->delivered_at = at;
  }
}

} // namespace fq
