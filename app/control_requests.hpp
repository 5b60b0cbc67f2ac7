// SPDX-License-Identifier: Apache-2.0
// What subcommands ask of a running server, on both sides of the control socket: the request as JSON, what
// the server does, the answer.
#pragma once
#include "actors/protocol/protocol.hpp"
#include "app/control.hpp"

#include <string>
#include <vector>

namespace caf {
class actor_system;
}

namespace fq {

struct organizer_request {
  std::string email;
  std::string password;
  bool replace = false;
  std::string tenant = "default";
};

/// What came of a request: the organizer's id, or a code and a text.
struct organizer_answer {
  std::string organizer_id;
  std::string error; ///< empty: done
};

/// Asks `accounts` and waits up to 10 s.
organizer_answer add_organizer_now(caf::actor_system& system, const accounts_handle& accounts,
                                   const organizer_request& request);

/// What an event says of itself: its cache against its memory, its memory against the ledger, the ledger's
/// rows against one another.
struct event_verification {
  mirror_report cache;
  ledger_report ledger;
};

/// Verifies every event that runs in this process, after building its mirror anew if `rebuild` is set.
std::vector<event_verification> verify_events_now(caf::actor_system& system, const region_handle& region,
                                                  bool rebuild);

/// "equal", "lost", "different", "unavailable" or "none".
std::string_view name_of(mirror_state state);

/// The server's side.
struct control_targets {
  caf::actor_system& system;
  accounts_handle accounts;
  region_handle region;
  directory_handle directory;
  cluster_handle cluster{}; ///< null: the node is not one of a cluster
};
/// Every answer has an `error`, empty when it was done.
control_handlers control_requests(const control_targets& targets);

} // namespace fq
