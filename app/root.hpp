// SPDX-License-Identifier: Apache-2.0
// The root supervisor: monitors every global actor. The region restarts event owners; a global actor ends
// only by a defect, and its callers hold its handle. So the root reports the end and the process exits to
// be restarted (crash-only).
#pragma once
#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace fq {

/// Stopped in reverse order when the root gets an exit message.
using root_children = std::vector<std::pair<std::string, caf::actor>>;

caf::behavior root_supervisor(caf::event_based_actor* self, root_children children,
                              std::function<void(std::string)> on_failure);

} // namespace fq
