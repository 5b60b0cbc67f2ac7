// SPDX-License-Identifier: Apache-2.0
// The configuration every actor system of ours starts from: it knows the messages of
// actors/protocol/protocol.hpp. Compiled once, because what CAF generates for each message costs ten seconds
// a file.
#pragma once
#include <caf/actor_system_config.hpp>

namespace fq {

class system_config : public caf::actor_system_config {
public:
  system_config();
};

} // namespace fq
