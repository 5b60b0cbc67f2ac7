// SPDX-License-Identifier: Apache-2.0
// Messages that several conversations use.
#pragma once
#include "actors/protocol/inspect_domain.hpp"
#include "actors/protocol/type_ids.hpp"

#include <string>
#include <vector>

namespace fq {

/// The Idempotency-Key of a request, hashed with its principal and route, and the hash of its body. `given`
/// false: no key.
struct idempotency_ref {
  bool given = false;
  digest128 key{};
  digest128 body{};
};
FQ_INSPECT(idempotency_ref, x.given, x.key, x.body)

/// Success, or the refusal in `no`.
struct ack_reply {
  refusal no;
};
FQ_INSPECT(ack_reply, x.no)

/// rate_limited if the address had too many by mail.
struct challenge_reply {
  refusal no;
  challenge_kind kind{}; ///< that the owner asks for
  opened_challenge opened = {}; ///< of proof_of_work
  solved_challenge solved = {}; ///< of other ways
};
FQ_INSPECT(challenge_reply, x.no, x.kind, x.opened, x.solved)

/// An event or queue and its manager. not_found if `by` does not manage it or if it is of the other kind.
struct managed {
  event_id event; ///< from the path; not_found unless it is the actor's event
  principal by;
  event_kind kind = event_kind::sale;
};
FQ_INSPECT(managed, x.event, x.by, x.kind)

/// For the audit log: the request as a JSON object, and the reason if given.
struct audit_note {
  std::string detail = "{}";
  std::string reason;
};
FQ_INSPECT(audit_note, x.detail, x.reason)

/// Number of affected places, customers or rows.
struct count_reply {
  refusal no;
  std::uint64_t count = 0;
};
FQ_INSPECT(count_reply, x.no, x.count)

struct event_reply {
  refusal no;
  bool replayed = false;
  event_view event{};
};
FQ_INSPECT(event_reply, x.no, x.replayed, x.event)

struct customers_reply {
  refusal no;
  std::vector<customer_id> customers = {};
  std::vector<language> languages = {}; ///< of the customers' mails; may be empty
};
FQ_INSPECT(customers_reply, x.no, x.customers, x.languages)

/// INTERNAL: a timer. An actor ignores timers with an old `generation`.
enum class timer_kind : std::uint8_t {
  admission,
  sweep,
  journal,
  restart,
  flush,
  idle,
  retry_load,
  renew,
  mirror,
  vouch,
  beat,
  pulse,
  moved,
  lapse,
  statistics,
  beacon,
  log,
  tasks
};

struct timer_fired {
  timer_kind kind{};
  std::uint64_t generation = 0;
};
FQ_INSPECT(timer_fired, x.kind, x.generation)

} // namespace fq
