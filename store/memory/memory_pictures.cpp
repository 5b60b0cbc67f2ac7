// SPDX-License-Identifier: Apache-2.0
// Pictures of the memory ledger.
#include "store/memory/memory_ledger.hpp"

#include <algorithm>

namespace fq {

bool memory_ledger::store_picture(const picture_row& picture) {
  const auto key = std::pair{picture.id, picture.tenant};
  if (const auto known = state_.pictures.find(key); known != state_.pictures.end()) {
    known->second.stored_at = picture.stored_at;
    return true;
  }
  std::size_t of_tenant = 0, of_organizer = 0;
  for (const auto& [id, p] : state_.pictures) {
    if (p.tenant != picture.tenant) continue;
    ++of_tenant;
    if (!picture.organizer.is_nil() && p.organizer == picture.organizer) ++of_organizer;
  }
  if (of_tenant >= pictures_per_tenant_max || of_organizer >= pictures_per_organizer_max) return false;
  state_.pictures.emplace(key, picture);
  return true;
}

std::vector<char> memory_ledger::find_picture(const std::string& id, picture_size size) {
  const auto found = state_.pictures.lower_bound({id, tenant_id{}});
  if (found == state_.pictures.end() || found->second.id != id) return {};
  const auto& p = found->second;
  return size == picture_size::small ? p.small : size == picture_size::medium ? p.medium : p.large;
}

std::size_t memory_ledger::prune_pictures(timestamp before, std::size_t most) {
  if (!is_set(before)) return 0;
  const auto turn = pictures_to_prune(before);
  const auto is_named = [&](const picture_row& p) {
    const auto shows_it = [&](const tenant_row& t) { return t.id == p.tenant && t.logo == p.id; };
    if (std::ranges::any_of(state_.aggregates.at(accounts_aggregate).image.tenants, shows_it)) return true;
    return std::ranges::any_of(state_.aggregates, [&](const auto& a) {
      const auto& event = a.second.image.event;
      return event && event->tenant == p.tenant && event->facts.picture == p.id;
    });
  };
  auto left = most;
  std::erase_if(state_.pictures, [&](const auto& stored) {
    const auto& p = stored.second;
    const bool is_due = p.id >= turn.first && p.id < turn.second && p.stored_at < before;
    return is_due && left > 0 && !is_named(p) && left-- > 0;
  });
  return most - left;
}

} // namespace fq
