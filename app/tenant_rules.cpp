// SPDX-License-Identifier: Apache-2.0
#include "app/tenant_rules.hpp"

#include "actors/protocol/protocol.hpp"

#include <charconv>
#include <string_view>

namespace fq {
namespace {

/// The tenant number at the end of a setting's name. Nothing: the name is another setting's.
std::optional<tenant_id> tenant_in(std::string_view name) {
  if (!name.starts_with(notice_routing_setting)) return std::nullopt;
  name.remove_prefix(notice_routing_setting.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && end == name.data() + name.size() ? std::optional{tenant_id{number}}
                                                                  : std::nullopt;
}

} // namespace

bool tenant_rules::publish(const access_directory& content) {
  std::map<tenant_id, std::shared_ptr<const notice_routing>> routings;
  for (const auto& s : content.settings)
    if (const auto tenant = tenant_in(s.name))
      routings.emplace(*tenant, std::make_shared<const notice_routing>(notice_routing::parse(s.value)));
  const bool is_same = content.blocks == blocks_; // only this thread writes it
  auto lists = is_same ? lists_of_owners{} : lists_of(content.blocks.get());

  const std::scoped_lock lock(mutex_);
  routings_ = std::move(routings);
  const bool has_erased = content.ended_sessions != *erased_; // by id, so sorted
  if (has_erased) erased_ = std::make_shared<const std::vector<uuid>>(content.ended_sessions);
  if (is_same) return has_erased; // events keep their lists
  blocks_ = content.blocks;
  for (auto& [whose, list] : lists) // an unchanged list keeps its pointer, so that its events skip the
                                    // check
    if (const auto before = lists_.find(whose); before != lists_.end() && *before->second == *list)
      list = before->second;
  const bool is_news = lists != lists_;
  lists_ = std::move(lists);
  return is_news || has_erased;
}

tenant_rules::lists_of_owners tenant_rules::lists_of(const std::vector<block_row>* blocks) {
  lists_of_owners lists;
  if (blocks == nullptr) return lists;
  std::map<owner, std::shared_ptr<blocked_customers::list>> made;
  for (const auto& b : *blocks) {
    auto& list = made[{b.tenant, b.organizer}];
    if (!list) list = std::make_shared<blocked_customers::list>();
    list->emplace(b.customer, b.includes_ended);
  }
  return {made.begin(), made.end()};
}

blocked_customers tenant_rules::blocked_at(tenant_id tenant, const organizer_id& organizer) const {
  const std::scoped_lock lock(mutex_);
  const auto list = [this](const owner& whose) {
    const auto found = lists_.find(whose);
    return found == lists_.end() ? nullptr : found->second;
  };
  return {organizer.is_nil() ? nullptr : list({tenant, organizer}), list({tenant, organizer_id{}})};
}

std::shared_ptr<const std::vector<uuid>> tenant_rules::erased() const {
  const std::scoped_lock lock(mutex_);
  return erased_;
}

std::shared_ptr<const notice_routing> tenant_rules::routing_of(tenant_id tenant) const {
  const std::scoped_lock lock(mutex_);
  const auto found = routings_.find(tenant);
  return found == routings_.end() ? everything_ : found->second;
}

} // namespace fq
