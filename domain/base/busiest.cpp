// SPDX-License-Identifier: Apache-2.0
#include "domain/base/busiest.hpp"

#include <algorithm>

namespace fq {

std::vector<event_id> busiest(std::span<const event_load> all, std::span<const event_id> before,
                              std::size_t limit) {
  std::vector<event_load> shown, others;
  for (const auto& id : before) {
    const auto known = std::ranges::find(all, id, &event_load::event);
    if (known != all.end() && shown.size() < limit) shown.push_back(*known);
  }
  for (const auto& one : all)
    if (std::ranges::find(shown, one.event, &event_load::event) == shown.end()) others.push_back(one);
  const auto is_fuller = [](const event_load& a, const event_load& b) {
    return std::pair{b.waiting, a.event} < std::pair{a.waiting, b.event};
  };
  const auto contenders = std::min(limit, others.size());
  std::ranges::partial_sort(others, others.begin() + static_cast<std::ptrdiff_t>(contenders), is_fuller);
  others.resize(contenders);
  for (const auto& one : others) {
    if (shown.size() < limit) {
      shown.push_back(one);
      continue;
    }
    const auto least = std::ranges::min_element(shown, {}, &event_load::waiting);
    if (least == shown.end() || one.waiting <= 2 * least->waiting)
      break; // the remaining events are no fuller
    *least = one;
  }
  std::vector<event_id> names;
  for (const auto& one : shown) names.push_back(one.event);
  return names;
}

} // namespace fq
