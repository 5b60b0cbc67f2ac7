// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/checkout_watch.hpp"

#include <charconv>

namespace fq {

std::int32_t async_percent_of(std::string_view stored, std::int32_t configured) {
  std::int32_t percent = configured;
  std::from_chars(stored.data(), stored.data() + stored.size(), percent);
  return percent;
}

std::string_view name_of(rollback_trigger t) {
  switch (t) {
    case rollback_trigger::success: return "success";
    case rollback_trigger::workers: return "workers";
    case rollback_trigger::queue: return "queue";
  }
  return "";
}

std::optional<rollback_trigger> checkout_watch::look(const checkout_look& now) {
  const bool has_gap = !looks_.empty() && now.at - looks_.back().at > rules_.gap_max;
  if (has_gap || !now.is_async) begin_anew();
  remember(now);
  if (!now.is_async) return std::nullopt;
  std::optional<rollback_trigger> due;
  for (const auto t : rollback_triggers) {
    auto& since = since_[static_cast<std::size_t>(t)];
    if (!holds(t, now))
      since.reset();
    else if (!since)
      since = now.at;
    if (!due && since && now.at - *since >= patience(t)) due = t;
  }
  return due;
}

void checkout_watch::begin_anew() {
  looks_.clear();
  since_.fill(std::nullopt);
}

void checkout_watch::remember(const checkout_look& now) {
  looks_.push_back(now);
  const auto is_older = [&](const checkout_look& l) { return l.at <= now.at - rules_.success_span; };
  while (looks_.size() > looks_max || (looks_.size() > 1 && is_older(looks_[1]))) looks_.pop_front();
}

bool checkout_watch::holds(rollback_trigger t, const checkout_look& now) const {
  switch (t) {
    case rollback_trigger::success: {
      const auto succeeded = now.succeeded - looks_.front().succeeded,
                 ended = succeeded + now.failed - looks_.front().failed;
      return ended >= rules_.orders_min && succeeded * 100 < ended * rules_.success_percent_min;
    }
    case rollback_trigger::workers: return now.workers == 0 && now.queue > 0;
    case rollback_trigger::queue: return now.queue > rules_.queue_max;
  }
  return false;
}

milliseconds checkout_watch::patience(rollback_trigger t) const {
  switch (t) {
    case rollback_trigger::success: return rules_.success_for;
    case rollback_trigger::workers: return rules_.workers_for;
    case rollback_trigger::queue: return rules_.queue_for;
  }
  return rules_.success_for;
}

} // namespace fq
