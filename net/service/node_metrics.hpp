// SPDX-License-Identifier: Apache-2.0
// What the transport, the actors, the cache and the cluster know of themselves, for GET /metrics.
#pragma once
#include "domain/base/ids.hpp"

#include <mutex>
#include <vector>

namespace fq::net {

class metric_page;
struct server_state;

/// Events whose numbers have series of their own; all others are one, "other". Thousands of events must not
/// be thousands of series, and who looks at a screen looks at the fullest ones.
inline constexpr std::size_t shown_events_max = 20;

/// Which they were at the last scrape: they stay if they can.
struct shown_events {
  std::mutex mutex; // two scrapes may meet
  std::vector<event_id> now;
};

void append_node(metric_page& page, const server_state& state, shown_events& shown);

} // namespace fq::net
