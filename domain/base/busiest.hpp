// SPDX-License-Identifier: Apache-2.0
// Selects the few events that metrics show by name. The selection changes rarely, because each new name
// creates a new time series in the metrics store.
#pragma once
#include "domain/base/ids.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace fq {

struct event_load {
  event_id event;
  std::uint64_t waiting = 0;
};

/// Returns at most `limit` events of `all`, each once. Events of `before` that still exist come first, in
/// their order. Free places go to the fullest events; an event with more than twice as many waiting replaces
/// a selected one.
std::vector<event_id> busiest(std::span<const event_load> all, std::span<const event_id> before,
                              std::size_t limit);

} // namespace fq
