// SPDX-License-Identifier: Apache-2.0
// Base configuration of every actor system: registers the messages of actors/protocol. Compiled
// once, because the code that CAF generates per message costs about 10 s per file.
#pragma once
#include <caf/actor_system_config.hpp>

namespace fq {

class system_config : public caf::actor_system_config {
public:
  system_config();
};

} // namespace fq
