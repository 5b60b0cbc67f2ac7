// SPDX-License-Identifier: Apache-2.0
// Organizers: net -> event actor. Also the mail and bus consumers' reports.
#pragma once
#include "actors/protocol/shared_messages.hpp"

#include <string>
#include <vector>

namespace fq {

/// The event as seen by the principal in `what`. Without one: the public view, without drafts; a queue then
/// shows only its waiting page.
struct find_event {
  managed what;
  customer_id viewer = {}; ///< adds the hidden types that this customer may buy; nil: none
};
FQ_INSPECT(find_event, x.what, x.viewer)

struct patch_event {
  managed what;
  audit_note note;
  event_patch patch;
};
FQ_INSPECT(patch_event, x.what, x.note, x.patch)

/// Gives a draft a seat plan; an empty text takes it away.
struct set_seat_plan {
  managed what;
  audit_note note;
  std::string plan; ///< text_of(seat_plan)
  std::vector<ticket_type_id> ticket_types = {}; ///< the event's for each of the plan's
  std::uint8_t singles = 0; ///< single_rule
  bool may_split = false;
  bool accessible_for_all = false;
};
FQ_INSPECT(set_seat_plan, x.what, x.note, x.plan, x.ticket_types, x.singles, x.may_split,
           x.accessible_for_all)

/// Blocks, unblocks and moves seats.
struct set_seats {
  managed what;
  audit_note note;
  seat_patch patch;
};
FQ_INSPECT(set_seats, x.what, x.note, x.patch)

/// The event's map as JSON (domain/seats/map_text.hpp): the changes since a version, or the whole. Without a
/// manager: as shoppers see it, and of no draft.
struct find_seats {
  managed what;
  std::uint64_t since = 0; ///< 0: the whole map
};
FQ_INSPECT(find_seats, x.what, x.since)

struct seats_reply {
  refusal no;
  std::string text = {};
  std::uint64_t from = 0; ///< changes since this version; 0: the whole map
  std::uint64_t version = 0;
};
FQ_INSPECT(seats_reply, x.no, x.text, x.from, x.version)

struct find_seat_plan {
  managed what;
  std::string known = {}; ///< digest of the plan that the reader has; empty: none
};
FQ_INSPECT(find_seat_plan, x.what, x.known)

struct seat_plan_reply {
  refusal no;
  std::string plan = {}; ///< text_of(seat_plan); empty: the reader knows it
  std::string digest = {};
};
FQ_INSPECT(seat_plan_reply, x.no, x.plan, x.digest)

struct turn_event {
  managed what;
  audit_note note;
  event_trigger trigger{};
};
FQ_INSPECT(turn_event, x.what, x.note, x.trigger)

/// Voids all codes of the event's tickets.
struct renew_ticket_keys {
  managed what;
  audit_note note;
};
FQ_INSPECT(renew_ticket_keys, x.what, x.note)

/// Policy `operator`: admits the next `count` entries.
struct advance_line {
  managed what;
  audit_note note;
  std::uint32_t count = 0;
};
FQ_INSPECT(advance_line, x.what, x.note, x.count)

/// Ends sessions early. Also ends waiting places, unless `scope` is all.
struct revoke_sessions {
  managed what;
  audit_note note;
  revocation_scope scope{};
  entry_id ticket; ///< for scope ticket
  subject_key subject; ///< for scope subject
};
FQ_INSPECT(revoke_sessions, x.what, x.note, x.scope, x.ticket, x.subject)

struct find_stats {
  managed what;
};
FQ_INSPECT(find_stats, x.what)

struct stats_reply {
  refusal no;
  event_stats stats{};
};
FQ_INSPECT(stats_reply, x.no, x.stats)

/// The manager of an order or dead letter whose event is not named in the path.
struct order_act {
  uuid id; ///< of the order or dead letter
  principal by;
};
FQ_INSPECT(order_act, x.id, x.by)

/// Newest first.
struct list_event_orders {
  managed what;
  order_id before; ///< cursor; nil: start with the newest
  std::uint32_t limit = 50;
  bool with_attendees = false; ///< also the event tickets of attendees who gave answers
};
FQ_INSPECT(list_event_orders, x.what, x.before, x.limit, x.with_attendees)

struct orders_reply {
  refusal no;
  std::vector<order_view> orders = {}; ///< at most `limit`
  bool more = false;
};
FQ_INSPECT(orders_reply, x.no, x.orders, x.more)

/// Newest first.
struct list_event_tickets {
  managed what;
  event_ticket_id before; ///< cursor; nil: start with the newest
  std::uint32_t limit = 50;
  maybe<event_ticket_status> status = {};
};
FQ_INSPECT(list_event_tickets, x.what, x.before, x.limit, x.status)

struct event_tickets_reply {
  refusal no;
  std::vector<event_ticket_view> tickets = {}; ///< at most `limit`; fewer if the filter had to skip many
  event_ticket_id next = {}; ///< cursor of the next page; nil: there is none
};
FQ_INSPECT(event_tickets_reply, x.no, x.tickets, x.next)

/// Refunds these tickets; none given: everything not yet refunded.
struct refund_tickets {
  order_act what;
  audit_note note;
  std::vector<item_wish> items;
  std::vector<event_ticket_id> event_tickets = {}; ///< see refund_wish
  idempotency_ref idempotency = {};
  trace_context trace = {};
};
FQ_INSPECT(refund_tickets, x.what, x.note, x.items, x.event_tickets, x.idempotency, x.trace)

/// Sends the mail for the order's current state again.
struct resend_order {
  order_act what;
  audit_note note;
};
FQ_INSPECT(resend_order, x.what, x.note)

struct set_promo_code {
  managed what;
  audit_note note;
  promo_code_patch patch;
  std::vector<ticket_type_id> ticket_types; ///< covered by patch.reduction; empty: all
};
FQ_INSPECT(set_promo_code, x.what, x.note, x.patch, x.ticket_types)

/// `code` nil: all codes of the event.
struct find_promo_codes {
  managed what;
  promo_code_id code;
};
FQ_INSPECT(find_promo_codes, x.what, x.code)

struct promo_codes_reply {
  refusal no;
  std::vector<promo_code_row> codes = {};
  std::vector<ticket_type_id> ticket_types = {}; ///< of the event, by ordinal
};
FQ_INSPECT(promo_codes_reply, x.no, x.codes, x.ticket_types)

/// Assigns these customers to `priority_class`; not given: to the default class.
struct set_priorities {
  managed what;
  audit_note note;
  std::vector<customer_id> customers;
  maybe<std::uint8_t> priority_class;
};
FQ_INSPECT(set_priorities, x.what, x.note, x.customers, x.priority_class)

struct find_priorities {
  managed what;
};
FQ_INSPECT(find_priorities, x.what)

/// Invites the customers whose right this changes; each gets a mail.
struct invite_customers {
  managed what;
  audit_note note;
  std::vector<customer_id> customers;
  std::vector<std::string> emails; ///< of `customers`, in the same order
  invitation_wish wish;
  std::vector<language> languages = {}; ///< of `customers`; English where it ends
};
FQ_INSPECT(invite_customers, x.what, x.note, x.customers, x.emails, x.wish, x.languages)

struct withdraw_invitations {
  managed what;
  audit_note note;
  std::vector<customer_id> customers;
};
FQ_INSPECT(withdraw_invitations, x.what, x.note, x.customers)

/// For a manager: all invitations, by customer. For a customer: its own valid invitation, or not_found.
struct find_invitations {
  managed what;
  customer_id viewer = {}; ///< nil: the manager asks
  customer_id after = {}; ///< cursor; nil: from the first
  std::uint32_t limit = 50;
};
FQ_INSPECT(find_invitations, x.what, x.viewer, x.after, x.limit)

struct invitations_reply {
  refusal no;
  std::vector<invitation_row> invitations = {}; ///< includes expired invitations; at most `limit`
  /// Tickets still available per invitation, ignoring its validity period.
  std::vector<std::uint32_t> left = {};
  std::vector<ticket_type_row> ticket_types = {}; ///< per invitation
  std::string currency = {};
  bool more = false;
};
FQ_INSPECT(invitations_reply, x.no, x.invitations, x.left, x.ticket_types, x.currency, x.more)

/// A manager resolves a dead letter.
struct settle_dead_letter {
  order_act what;
  audit_note note;
  bool retry = false; ///< false: dismiss it
};
FQ_INSPECT(settle_dead_letter, x.what, x.note, x.retry)

/// Delivery of this domain event was given up. Answered after its dead letter is committed.
struct report_undelivered {
  outbox_row row;
  std::string detail;
};
FQ_INSPECT(report_undelivered, x.row, x.detail)

} // namespace fq
