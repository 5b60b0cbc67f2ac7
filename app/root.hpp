// SPDX-License-Identifier: Apache-2.0
// The root supervisor: knows every global actor. Event owners are restarted below the region; a global actor
// only ends by a defect, and its callers hold its handle, so the root reports it and the process ends to be
// started again (crash-only; recovery is tested).
#pragma once
#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace fq {

/// Stopped in reverse order when the root is told to exit.
using root_children = std::vector<std::pair<std::string, caf::actor>>;

caf::behavior root_supervisor(caf::event_based_actor* self, root_children children,
                              std::function<void(std::string)> on_failure);

} // namespace fq
