// SPDX-License-Identifier: Apache-2.0
// Changes of settings while a simulated sale runs. The descriptions of the rows list the settings; a setting
// without a drawing does not compile.
#pragma once
#include "tests/sim/world.hpp"

namespace fq::sim {

/// New values for some settings of the event, or of one of its ticket types. The server may refuse them.
event_patch some_patch(world* w);

} // namespace fq::sim
