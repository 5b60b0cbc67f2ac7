// SPDX-License-Identifier: Apache-2.0
#include "net/service/plan_cache.hpp"

#include "net/service/limits.hpp"

#include <algorithm>
#include <utility>

namespace fq::net {

kept_plan plan_cache::find(const event_id& event, std::string_view form) {
  const std::scoped_lock held{lock_};
  const auto found =
    std::ranges::find_if(plans_, [&](const kept_plan& p) { return p.event == event && p.form == form; });
  if (found == plans_.end()) return {event, std::string{form}};
  std::rotate(plans_.begin(), found, found + 1);
  return plans_.front();
}

void plan_cache::keep(kept_plan plan) {
  const std::scoped_lock held{lock_};
  std::erase_if(plans_, [&](const kept_plan& p) { return p.event == plan.event && p.form == plan.form; });
  plans_.push_front(std::move(plan));
  if (plans_.size() > kept_plans_max) plans_.pop_back();
}

} // namespace fq::net
