// SPDX-License-Identifier: Apache-2.0
// The requests of subcommands to a running server, on both sides of the control socket: the JSON of request
// and answer, and what the server does.
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

/// Result of a request: the organizer's id, or an error.
struct organizer_answer {
  std::string organizer_id;
  std::string error; ///< empty: success
};

/// Sends the request to `accounts` and waits up to 10 s.
organizer_answer add_organizer_now(caf::actor_system& system, const accounts_handle& accounts,
                                   const organizer_request& request);

/// Result of verifying one event: its cache against its memory, its memory against the ledger, and the
/// ledger's rows against each other.
struct event_verification {
  mirror_report cache;
  ledger_report ledger;
};

/// Verifies every event that runs in this process. `rebuild`: rebuilds each mirror first.
std::vector<event_verification> verify_events_now(caf::actor_system& system, const region_handle& region,
                                                  bool rebuild);

/// "equal", "lost", "different", "unavailable" or "none".
std::string_view name_of(mirror_state state);

/// What the server's request handlers use.
struct control_targets {
  caf::actor_system& system;
  accounts_handle accounts;
  region_handle region;
  directory_handle directory;
  ledger_worker_handle ledger; ///< for the aggregates' rows
  cluster_handle cluster{}; ///< null: this node is not in a cluster
  milliseconds token_life{24 * 60 * 60 * 1000}; ///< of customers
  std::vector<std::string> mail_senders = {}; ///< From addresses that tenants may use
};
/// Every answer has an `error`, empty on success.
control_handlers control_requests(const control_targets& targets);

} // namespace fq
