// SPDX-License-Identifier: Apache-2.0
// The witnesses of this installation's public logs, as witness.urls names them, and their client. Part of the
// composition.
#pragma once
#include "actors/outbox/witness_client.hpp"
#include "app/root.hpp"
#include "config/options.hpp"
#include "domain/base/environment.hpp"

#include <caf/actor_system.hpp>

#include <memory>

namespace fq {

/// Owns what the client uses while it runs.
class witnesses {
public:
  /// Throws std::runtime_error, with a message for the operator, for a key that is none. `env` must outlive
  /// this.
  witnesses(const config::options& options, environment& env);

  /// Null: there are none.
  witness_client_handle spawn(caf::actor_system& system, root_children& children);

private:
  std::unique_ptr<witness_port> port_; ///< null: there are none
  witness_client_services services_;
};

} // namespace fq
