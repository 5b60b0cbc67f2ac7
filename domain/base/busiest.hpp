// SPDX-License-Identifier: Apache-2.0
// Which few of many events are shown by name. Who is shown stays as long as that is not misleading: a name
// that comes and goes is a new series to whoever keeps them.
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

/// At most `limit` of `all`, each once. Those of `before` that are still there go first, in their order; free
/// places go to the fullest, and somebody's place to who has more than twice as many waiting.
std::vector<event_id> busiest(std::span<const event_load> all, std::span<const event_id> before,
                              std::size_t limit);

} // namespace fq
