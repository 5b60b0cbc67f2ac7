// SPDX-License-Identifier: Apache-2.0
// Fans: net -> event actor. Queue, claims, payments, checkout; and the facts that gateways report.
#pragma once
#include "actors/protocol/shared_messages.hpp"

#include <string>
#include <vector>

namespace fq {

/// Requests a place in the queue, or the customer's existing place. `join_key`: hash of the Idempotency-Key;
/// 0: none.
struct join {
  event_id event; ///< from the path; not_found unless it is the actor's event
  subject_key customer; ///< for a queue: hash of the subject, or random
  std::uint64_t join_key = 0;
  event_kind kind = event_kind::sale; ///< not_found unless it is the actor's kind
  /// For a queue: tenant of the API key; not_found unless it is the actor's tenant.
  tenant_id tenant = default_tenant;
  std::string subject_name = {}; ///< for a queue
  std::string access_code = {}; ///< for a sale: as typed; empty: none
  uuid client = {}; ///< key of its address
  solved_challenge solved = {};
  bool is_trusted = false; ///< by a tenant's backend, which needs no challenge
  std::string party_code = {}; ///< in a lobby: as typed; empty: none
};
FQ_INSPECT(join, x.event, x.customer, x.join_key, x.kind, x.tenant, x.subject_name, x.access_code, x.client,
           x.solved, x.is_trusted, x.party_code)

/// Requests the challenge of a join, or one that is solved: for a mail or after a captcha.
struct open_challenge {
  event_id event; ///< from the path; not_found unless it is the actor's event
  event_kind kind = event_kind::sale; ///< not_found unless it is the actor's kind
  uuid client = {}; ///< key of its address
  challenge_way way = challenge_way::work;
};
FQ_INSPECT(open_challenge, x.event, x.kind, x.client, x.way)

/// Queries a customer's entry. Counts as presence if `by_holder`.
struct find_entry {
  event_id event; ///< from the path; not_found unless it is the actor's event
  customer_id customer;
  bool by_holder = true;
};
FQ_INSPECT(find_entry, x.event, x.customer, x.by_holder)

/// `created`: this request created the place (201). `replayed`: an earlier request with the same key did.
struct entry_reply {
  refusal no;
  bool created = false;
  bool replayed = false;
  entry_view entry{};
  std::uint64_t line_version = 0; ///< of a read: see entries_changed; 0: not told
};
FQ_INSPECT(entry_reply, x.no, x.created, x.replayed, x.entry, x.line_version)

/// The holder leaves the queue.
struct leave {
  event_id event; ///< from the path; not_found unless it is the actor's event
  customer_id customer;
};
FQ_INSPECT(leave, x.event, x.customer)

/// find_entry by the entry's own id. Counts as presence if `by_holder`.
struct find_ticket {
  entry_id ticket;
  bool by_holder = true; ///< see find_entry
};
FQ_INSPECT(find_ticket, x.ticket, x.by_holder)

/// Leaves the queue by the entry's own id. An admitted entry ends its session.
struct leave_ticket {
  entry_id ticket;
};
FQ_INSPECT(leave_ticket, x.ticket)

/// The holder of a session token, or its origin, ends the session. not_admitted if no active session has the
/// token.
struct end_session {
  std::string session_token;
};
FQ_INSPECT(end_session, x.session_token)

/// The holder of a session token locks a name at its queue, or frees it. not_admitted, lock_held or
/// locks_exhausted.
struct change_lock {
  event_id queue; ///< from the path; not_found unless it is the actor's queue
  std::string session_token;
  std::string name; ///< validated
  bool frees = false;
};
FQ_INSPECT(change_lock, x.queue, x.session_token, x.name, x.frees)

/// The locks of a session; with `tenant` and no token all of the queue, for its origin.
struct find_locks {
  event_id queue; ///< from the path; not_found unless it is the actor's queue
  std::string session_token = {};
  tenant_id tenant = default_tenant; ///< not_found unless it is the queue's
  std::string after = {}; ///< cursor: only later names
  std::uint32_t limit = 50;
};
FQ_INSPECT(find_locks, x.queue, x.session_token, x.tenant, x.after, x.limit)

struct locks_reply {
  refusal no;
  bool created = false;
  std::vector<lock_view> locks = {}; ///< by name; of change_lock: that one, or none
  bool more = false;
};
FQ_INSPECT(locks_reply, x.no, x.created, x.locks, x.more)

/// An admitted customer claims stock. `admission_token` as the client sent it. Empty `items`: one unit of the
/// first ticket type on sale.
struct open_claim {
  event_id event; ///< from the path; not_found unless it is the actor's event
  customer_id customer;
  std::string admission_token;
  std::vector<item_wish> items;
  idempotency_ref idempotency;
  seat_wish seats = {};
};
FQ_INSPECT(open_claim, x.event, x.customer, x.admission_token, x.items, x.idempotency, x.seats)

struct find_claim {
  customer_id customer;
  claim_id claim;
};
FQ_INSPECT(find_claim, x.customer, x.claim)

/// The holder releases the claim, and leaves if wanted.
struct release_claim {
  customer_id customer;
  claim_id claim;
  bool leaves = false;
};
FQ_INSPECT(release_claim, x.customer, x.claim, x.leaves)

struct claim_reply {
  refusal no;
  bool replayed = false;
  claim_view claim{};
};
FQ_INSPECT(claim_reply, x.no, x.replayed, x.claim)

/// Starts a payment attempt, or returns the open one.
struct open_payment {
  customer_id customer;
  claim_id claim;
  std::string gateway;
  idempotency_ref idempotency;
  trace_context trace = {};
};
FQ_INSPECT(open_payment, x.customer, x.claim, x.gateway, x.idempotency, x.trace)

struct find_payment {
  customer_id customer;
  payment_id payment;
};
FQ_INSPECT(find_payment, x.customer, x.payment)

struct payment_reply {
  refusal no;
  bool created = false;
  bool replayed = false;
  payment_view payment{};
};
FQ_INSPECT(payment_reply, x.no, x.created, x.replayed, x.payment)

/// A verified webhook, or the gateway's answer to a verify call. Applied at most once.
struct apply_fact {
  gateway_fact fact;
  bool is_report = false; ///< not trusted: the event actor asks the gateway and applies its answer
};
FQ_INSPECT(apply_fact, x.fact, x.is_report)

/// Prices an order without claiming stock.
struct get_quote {
  event_id event; ///< from the path; not_found unless it is the actor's event
  customer_id customer;
  order_wish wish;
};
FQ_INSPECT(get_quote, x.event, x.customer, x.wish)

struct quote_reply {
  refusal no;
  quote_view quote{};
};
FQ_INSPECT(quote_reply, x.no, x.quote)

/// Claims all items or none. `admission_token` as the client sent it; empty at an `open` event, which joins
/// the customer automatically.
struct place_order {
  event_id event;
  customer_id customer;
  std::string admission_token;
  order_wish wish;
  idempotency_ref idempotency;
  trace_context trace = {};
};
FQ_INSPECT(place_order, x.event, x.customer, x.admission_token, x.wish, x.idempotency, x.trace)

struct order_reply {
  refusal no;
  bool replayed = false;
  order_view order{};
  std::int32_t async_percent = async_inherited; ///< of the event
};
FQ_INSPECT(order_reply, x.no, x.replayed, x.order, x.async_percent)

/// Without `by`: the customer's own order. With `by`: an order of the organizer's event.
struct find_order {
  order_id order;
  customer_id customer = {};
  principal by = {};
  milliseconds wait{0}; ///< answers when the order leaves PENDING, at the latest after this
  bool with_tickets = false; ///< event tickets too; not for an answer that waited
};
FQ_INSPECT(find_order, x.order, x.customer, x.by, x.wait, x.with_tickets)

/// For its holder, or with `by` for the organizer of its event.
struct find_event_ticket {
  event_ticket_id ticket;
  customer_id customer = {};
  principal by = {};
};
FQ_INSPECT(find_event_ticket, x.ticket, x.customer, x.by)

struct event_ticket_reply {
  refusal no;
  event_ticket_view ticket{}; ///< for a holder who did not buy it: without order and claim
  event_ticket_settings settings = {}; ///< of its event
};
FQ_INSPECT(event_ticket_reply, x.no, x.ticket, x.settings)

/// What is printed of valid event tickets that the customer holds.
struct find_ticket_papers {
  uuid id; ///< of an event ticket, or of an order
  bool of_order = false; ///< also for the order's buyer, of what he holds of it
  customer_id holder;
  bool by_link = false; ///< of a guest's order, of what its customer holds; the caller has checked the link
};
FQ_INSPECT(find_ticket_papers, x.id, x.of_order, x.holder, x.by_link)

struct ticket_papers_reply {
  refusal no;
  event_row event = {};
  std::vector<ticket_paper> papers = {}; ///< by id; at most papers_max
};
FQ_INSPECT(ticket_papers_reply, x.no, x.event, x.papers)

/// The seats of event tickets that the customer holds.
struct find_ticket_seats {
  event_id event;
  customer_id holder;
  std::vector<event_ticket_id> tickets;
};
FQ_INSPECT(find_ticket_seats, x.event, x.holder, x.tickets)

struct ticket_seats_reply {
  refusal no;
  std::vector<ticket_seat> seats = {}; ///< of those that have one
};
FQ_INSPECT(ticket_seats_reply, x.no, x.seats)

/// The holder offers an event ticket to another person.
struct offer_ticket {
  transfer_wish wish;
};
FQ_INSPECT(offer_ticket, x.wish)

struct end_transfer {
  transfer_id transfer;
  customer_id by; ///< the receiver accepts and declines, the giver withdraws
  transfer_trigger how{};
};
FQ_INSPECT(end_transfer, x.transfer, x.by, x.how)

struct transfer_reply {
  refusal no;
  transfer_row transfer = {}; ///< without addresses
};
FQ_INSPECT(transfer_reply, x.no, x.transfer)

struct cancel_order {
  order_id order;
  customer_id customer;
};
FQ_INSPECT(cancel_order, x.order, x.customer)

} // namespace fq
