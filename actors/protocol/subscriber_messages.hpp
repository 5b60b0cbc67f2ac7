// SPDX-License-Identifier: Apache-2.0
// The line table and the session table of each io thread: what they ask an event actor, and what it pushes to
// them after commit. See actors/sale/push_window.hpp for the limit on pushes to other nodes.
#pragma once
#include "actors/protocol/line_facts.hpp"
#include "actors/protocol/shared_messages.hpp"

#include <memory>
#include <string>
#include <vector>

namespace fq {

/// From an io thread, periodically: the holders of these places polled, or have an open socket. Counts as
/// presence.
struct present {
  std::vector<queue_number> numbers;
};
FQ_INSPECT(present, x.numbers)

/// From a line table: the state of the event or queue.
struct find_line {
  event_id event;
};
FQ_INSPECT(find_line, x.event)

struct line_reply {
  refusal no;
  event_status status{};
  bool sold_out = false;
  bool watches_presence = false; ///< the io thread must send `present`
  std::string message{}; ///< set by the operator
  line_facts line{};
};
FQ_INSPECT(line_reply, x.no, x.status, x.sold_out, x.watches_presence, x.message, x.line)

/// From a line table: push changes of this event until the subscriber unsubscribes or dies. Idempotent.
struct subscribe {
  bool on = true;
};
FQ_INSPECT(subscribe, x.on)

/// To subscribers, after commit, in order per event: the line went from version `before` to `version`, the
/// sequence number of the decision. Sent for every decision with changed places, overtaking places or
/// notices, after its other pushes.
struct entries_changed {
  event_id event;
  std::uint64_t before = 0, version = 0;
  std::vector<line_spot> overtaking; ///< new places before others
  std::vector<entry_change> changes;
};
FQ_INSPECT(entries_changed, x.event, x.before, x.version, x.overtaking, x.changes)

/// To subscribers, after commit: a socket notice about the whole queue.
struct event_noticed {
  event_id event;
  socket_notice_kind what{};
  std::string message = {}; ///< the operator's message, for socket_notice_kind::message
};
FQ_INSPECT(event_noticed, x.event, x.what, x.message)

/// An order's change, as sent to its customer's sockets.
struct order_change {
  order_id order;
  queue_number number{}; ///< of the entry that placed the order
  order_status status{};
  std::string payment_url; ///< current payment page; empty: none
  std::string failure;
  timestamp expires_at;
};
FQ_INSPECT(order_change, x.order, x.number, x.status, x.payment_url, x.failure, x.expires_at)

/// To subscribers, after commit and before the entries_changed of the same decision.
struct orders_changed {
  event_id event;
  std::vector<order_change> changes;
};
FQ_INSPECT(orders_changed, x.event, x.changes)

/// From a session table: send all sessions of this aggregate now, and every change after its commit.
struct watch_sessions {
  bool on = true;
  milliseconds asked_at{0}; ///< steady time of the table
};
FQ_INSPECT(watch_sessions, x.on, x.asked_at)

/// An active session; `GET /access` answers from it.
struct session_state {
  entry_id ticket;
  std::uint32_t admission_no = 0;
  std::string subject_name;
  timestamp expires_at;
};
FQ_INSPECT(session_state, x.ticket, x.admission_no, x.subject_name, x.expires_at)

/// To session tables, after commit, in order per aggregate.
struct sessions_changed {
  event_id event;
  tenant_id tenant = default_tenant;
  event_kind kind{};
  timestamp now; ///< the owner's clock, to compute the remaining time of sessions
  bool is_paused = false; ///< the owner's clock stands still: no session ends
  bool is_all = false; ///< replaces everything known of this aggregate
  bool is_lost = false; ///< the content is invalid: watch again
  std::vector<session_state> begun; ///< new sessions, or sessions with a new end
  std::vector<entry_id> ended;
  lease_of_copy lease; ///< the content is void after its end; stays in this process
  milliseconds trusted_for{0}; ///< to another node: the content is void unless the next message arrives
                               ///< within this; 0: `lease` applies
  milliseconds asked_at{0}; ///< of the watch_sessions that `is_all` answers: the content may be that old
};
FQ_INSPECT(sessions_changed, x.event, x.tenant, x.kind, x.now, x.is_paused, x.is_all, x.is_lost, x.begun,
           x.ended, x.trusted_for, x.asked_at)

/// From an io thread that keeps the owner's handle for later requests.
struct owner_kept {};
FQ_INSPECT_EMPTY(owner_kept)

/// To subscribers and to senders of owner_kept: the sender handed the event over, or its lease has
/// passed. The region resolves the new owner.
struct owner_left {
  aggregate_id aggregate{};
};
FQ_INSPECT(owner_left, x.aggregate)

/// Content of pushes: places to line tables, sessions to session tables.
enum class push_kind : std::uint8_t { places, sessions };

/// From an owner after pushes to a listener on another node. The listener returns it as push_read; see
/// actors/sale/push_window.hpp.
struct push_mark {
  std::uint64_t number = 0;
  push_kind kind{};
};
FQ_INSPECT(push_mark, x.number, x.kind)

struct push_read {
  std::uint64_t number = 0;
  push_kind kind{};
};
FQ_INSPECT(push_read, x.number, x.kind)

/// To a subscriber: it read too slowly and pushes were dropped, or the owner loads again. Everything must be
/// read again.
struct pushes_lost {
  aggregate_id aggregate{};
};
FQ_INSPECT(pushes_lost, x.aggregate)

/// Subscriber of events: one per io thread (net/bridge/line_table) and one per other node
/// (net/bridge/push_relay). Receives only committed changes, in order per event.
using subscriber_handle = caf::typed_actor<caf::reacts_to<entries_changed>, caf::reacts_to<event_noticed>,
                                           caf::reacts_to<orders_changed>, caf::reacts_to<owner_left>,
                                           caf::reacts_to<push_mark>, caf::reacts_to<pushes_lost>>;

} // namespace fq
