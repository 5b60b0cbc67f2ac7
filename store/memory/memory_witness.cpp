// SPDX-License-Identifier: Apache-2.0
// What the memory ledger has of the logs that this installation cosigns.
#include "store/memory/memory_ledger.hpp"

#include <algorithm>

namespace fq {

std::optional<witnessed_row> memory_ledger::find_witnessed(const std::string& id) {
  const auto found = state_.witnessed.find(id);
  return found == state_.witnessed.end() ? std::nullopt : std::optional{found->second};
}

bool memory_ledger::store_witnessed(const witnessed_row& next, const witnessed_before& before) {
  if (const auto known = state_.witnessed.find(next.id); known != state_.witnessed.end()) {
    auto& row = known->second;
    if (row.size != before.size || row.root != before.root) return false;
    row = next;
    return true;
  }
  const auto has_key = [&](const auto& stored) { return stored.second.log_key == next.log_key; };
  if (before.size != 0
      || std::ranges::count_if(state_.witnessed, has_key)
           >= static_cast<std::ptrdiff_t>(witnessed_logs_per_key_max))
    return false;
  state_.witnessed.emplace(next.id, next);
  return true;
}

} // namespace fq
