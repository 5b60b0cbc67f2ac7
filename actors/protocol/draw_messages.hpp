// SPDX-License-Identifier: Apache-2.0
// Lobby and draw: net -> event actor; event actor <-> draw worker, in the same process.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "domain/line/ranks.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <functional>
#include <memory>
#include <string>

namespace fq {

/// An entry in the lobby opens a party, or joins one. Answered by the entry, which has the party's code.
struct change_party {
  event_id event; ///< from the path; not_found unless it is the actor's event
  customer_id customer;
  entry_id ticket = {}; ///< in place of both; nil: none
  std::string party_code = {}; ///< as typed; empty: opens one, or gives the entry's own
};
FQ_INSPECT(change_party, x.event, x.customer, x.ticket, x.party_code)

/// The organizer enters the value that the lobby announced.
struct enter_beacon {
  managed what;
  audit_note note;
  std::string value; ///< 1 to 500 bytes
};
FQ_INSPECT(enter_beacon, x.what, x.note, x.value)

/// An operator ends the wait for the beacon.
struct end_draw_wait {
  managed what;
  audit_note note;
};
FQ_INSPECT(end_draw_wait, x.what, x.note)

/// To the event actor, from the draw worker or a source of beacons.
struct lobby_computed {
  std::uint64_t asked = 0; ///< number of the question
  std::string root = {}; ///< hex digits; empty: not asked for
  std::string beacon = {}; ///< drand's signature as hex digits; empty: not asked for, or there is none yet
  std::shared_ptr<const line_ranks> ranks = {}; ///< null: not asked for
};

/// From an event actor: what would keep the event waiting, about a second for a million entries. Answered by
/// lobby_computed to the sender.
struct compute_lobby {
  std::shared_ptr<const std::function<lobby_computed()>> work;
};

/// Detached in production.
using draw_worker_handle = caf::typed_actor<caf::reacts_to<compute_lobby>>;

} // namespace fq

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::compute_lobby)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::lobby_computed)
