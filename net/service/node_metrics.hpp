// SPDX-License-Identifier: Apache-2.0
// Metrics of transport, actors, cache and cluster, for GET /metrics.
#pragma once
#include "domain/base/ids.hpp"
#include "net/service/limits.hpp"

#include <mutex>
#include <vector>

namespace fq::net {

class metric_page;
struct server_state;

/// The events shown at the last scrape; they stay if possible.
struct shown_events {
  std::mutex mutex; // scrapes may run in parallel
  std::vector<event_id> now;
};

void append_node(metric_page& page, const server_state& state, shown_events& shown);

} // namespace fq::net
