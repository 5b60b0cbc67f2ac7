// SPDX-License-Identifier: Apache-2.0
#include "app/tenant_rules.hpp"

#include "actors/protocol.hpp"

#include <charconv>
#include <set>
#include <string_view>

namespace fq {
namespace {

using customer_set = std::set<customer_id>;

/// The tenant that a setting's name ends in; nothing: it is another setting.
std::optional<tenant_id> tenant_in(std::string_view name) {
  if (!name.starts_with(notice_routing_setting)) return std::nullopt;
  name.remove_prefix(notice_routing_setting.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && end == name.data() + name.size() ? std::optional{tenant_id{number}} : std::nullopt;
}

} // namespace

bool tenant_rules::publish(const access_directory& content) {
  std::map<tenant_id, std::shared_ptr<const notice_routing>> routings;
  for (const auto& s : content.settings)
    if (const auto tenant = tenant_in(s.name)) routings.emplace(*tenant, std::make_shared<const notice_routing>(notice_routing::parse(s.value)));

  std::map<owner, std::shared_ptr<customer_set>> sets;
  const auto set_of = [&sets](const owner& o) -> customer_set& {
    auto& set = sets[o];
    if (!set) set = std::make_shared<customer_set>();
    return *set;
  };
  for (const auto& b : content.blocks) set_of({b.tenant, b.organizer}).insert(b.customer);
  for (auto& [o, set] : sets)
    if (const auto all = sets.find({o.first, organizer_id{}}); all != sets.end() && !o.second.is_nil()) set->insert(all->second->begin(), all->second->end());

  const std::scoped_lock lock(mutex_);
  routings_ = std::move(routings);
  const bool is_other = blocks_ != content.blocks;
  if (!is_other) return false; // events keep the set that they have
  blocks_ = content.blocks;
  blocked_ = {sets.begin(), sets.end()};
  return true;
}

blocked_customers tenant_rules::blocked_at(tenant_id tenant, const organizer_id& organizer) const {
  const std::scoped_lock lock(mutex_);
  const auto own = blocked_.find({tenant, organizer});
  if (own != blocked_.end()) return own->second;
  const auto all = blocked_.find({tenant, organizer_id{}});
  return all == blocked_.end() ? nullptr : all->second;
}

std::shared_ptr<const notice_routing> tenant_rules::routing_of(tenant_id tenant) const {
  const std::scoped_lock lock(mutex_);
  const auto found = routings_.find(tenant);
  return found == routings_.end() ? everything_ : found->second;
}

} // namespace fq
