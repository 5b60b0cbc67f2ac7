// SPDX-License-Identifier: Apache-2.0
// Every message between actors: imperative names for requests, past tense for facts. One line says who sends
// it and why; `inspect` follows directly. All types are registered in the type-id block of
// actors/protocol/protocol.hpp.
#pragma once
#include "actors/protocol/inspect_rows.hpp"
#include "actors/protocol/lease_horizon.hpp"
#include "domain/line/mirror.hpp"
#include "domain/model/change.hpp"
#include "domain/sale/views.hpp"
#include "outbound/channel.hpp"
#include "outbound/gateway.hpp"
#include "store/port/cache.hpp"
#include "store/port/ledger.hpp"

#include <caf/actor_addr.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/type_id.hpp>

#include <memory>
#include <string>
#include <vector>

namespace fq {

FQ_INSPECT(trace_context, x.trace, x.span, x.is_sampled, x.state)
FQ_INSPECT(refusal, x.why, x.detail, x.at, x.id, x.first, x.second)
FQ_INSPECT(entry_view, x.id, x.event, x.kind, x.customer, x.subject_name, x.message, x.number, x.status,
           x.position, x.eta_low_seconds, x.eta_high_seconds, x.poll_after_ms, x.admission_no,
           x.admission_batch, x.joined_at, x.admitted_at, x.session_expires_at, x.claim_by)
FQ_INSPECT(claim_view, x.claim, x.event, x.currency, x.item_ids)
FQ_INSPECT(payment_view, x.payment, x.event, x.currency)
FQ_INSPECT(event_view, x.event, x.ticket_types, x.sold_out)
FQ_INSPECT(event_stats, x.event, x.status, x.waiting, x.away, x.admitted, x.joined_total, x.admitted_total,
           x.completed_total, x.total, x.held, x.sold, x.available, x.claims_live, x.claims_confirmed,
           x.payments_open, x.revenue, x.refunded, x.admission_rate_per_minute, x.arrival_rate_per_minute,
           x.last_admission_batch, x.server_time)
template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f, maybe<T>& x) {
  return f(caf::meta::type_name("maybe"), x.given, x.value);
}
FQ_INSPECT(ticket_type_patch, x.id, x.name, x.price, x.total, x.max_per_order, x.on_sale, x.hidden,
           x.sale_from, x.sale_until)
FQ_INSPECT(event_patch, x.name, x.queue_opens_at, x.sale_start, x.sale_end, x.policy, x.concurrency,
           x.rate_per_minute, x.batch_size, x.over_admission_percent, x.claims_per_customer,
           x.admission_interval, x.session_ttl, x.claim_window, x.claim_ttl, x.ticket_ttl, x.capacity,
           x.presence_timeout, x.away_grace, x.message, x.async_percent, x.ticket_types)
FQ_INSPECT(principal, x.kind, x.tenant, x.id)
FQ_INSPECT(item_wish, x.ticket_type, x.quantity, x.donation)
FQ_INSPECT(order_wish, x.items, x.promo_code, x.contact, x.success_url, x.cancel_url, x.gateway)
FQ_INSPECT(order_view, x.order, x.claim, x.event_name, x.payment, x.payment_state, x.payment_url, x.refunded,
           x.can_retry, x.typical_page_time)
FQ_INSPECT(priced_item, x.ticket_type, x.quantity, x.unit_price, x.donation, x.unit_discount)
FQ_INSPECT(price_quote, x.items, x.subtotal, x.discount, x.donations, x.platform_fee, x.processing_fee,
           x.total)
FQ_INSPECT(quote_view, x.event, x.currency, x.price, x.item_ids, x.promo_code)
FQ_INSPECT(promo_code_patch, x.id, x.code, x.reduction, x.valid_from, x.valid_until, x.uses_max,
           x.uses_per_customer, x.is_active)
FQ_INSPECT(invitation_wish, x.ticket_type, x.quantity, x.valid_until)
FQ_INSPECT(gateway_money, x.amount, x.currency)
FQ_INSPECT(gateway_line, x.name, x.unit_amount, x.quantity)
FQ_INSPECT(gateway_charge, x.reference, x.gateway_id, x.money, x.lines, x.title, x.customer_email,
           x.success_url, x.cancel_url, x.expires_at, x.destination, x.application_fee, x.trace)
FQ_INSPECT(entry_change, x.id, x.number, x.status, x.admission_no, x.admission_batch, x.admitted_at,
           x.session_expires_at, x.claim_by)
FQ_INSPECT(gateway_fact, x.gateway, x.gateway_event, x.what, x.reference, x.amount, x.currency, x.refund,
           x.tax, x.gateway_id)

/// The Idempotency-Key of a request, hashed with its principal and route, and the hash of its body. `given`
/// false: no key.
struct idempotency_ref {
  bool given = false;
  digest128 key{};
  digest128 body{};
};
FQ_INSPECT(idempotency_ref, x.given, x.key, x.body)

// -- fans: net -> event actor

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
};
FQ_INSPECT(join, x.event, x.customer, x.join_key, x.kind, x.tenant, x.subject_name)

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
};
FQ_INSPECT(entry_reply, x.no, x.created, x.replayed, x.entry)

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

/// From a hub, periodically: these places have an open socket. Counts as presence.
struct present {
  std::vector<queue_number> numbers;
};
FQ_INSPECT(present, x.numbers)

/// Success, or the refusal in `no`.
struct ack_reply {
  refusal no;
};
FQ_INSPECT(ack_reply, x.no)

/// An admitted customer claims stock. `admission_token` as the client sent it. Empty `items`: one unit of the
/// first ticket type on sale.
struct open_claim {
  event_id event; ///< from the path; not_found unless it is the actor's event
  customer_id customer;
  std::string admission_token;
  std::vector<item_wish> items;
  idempotency_ref idempotency;
};
FQ_INSPECT(open_claim, x.event, x.customer, x.admission_token, x.items, x.idempotency)

struct find_claim {
  customer_id customer;
  claim_id claim;
};
FQ_INSPECT(find_claim, x.customer, x.claim)

/// The holder releases the claim.
struct release_claim {
  customer_id customer;
  claim_id claim;
};
FQ_INSPECT(release_claim, x.customer, x.claim)

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

// -- checkout: net -> event actor

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
};
FQ_INSPECT(find_order, x.order, x.customer, x.by, x.wait)

struct cancel_order {
  order_id order;
  customer_id customer;
};
FQ_INSPECT(cancel_order, x.order, x.customer)

// -- organizers: net -> event actor, catalog, accounts

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

/// The event as seen by the principal in `what`. Without one: the public view, without drafts; a queue then
/// shows only its waiting page.
struct find_event {
  managed what;
  customer_id viewer = {}; ///< adds the quota that this customer is invited to; nil: none
};
FQ_INSPECT(find_event, x.what, x.viewer)

struct patch_event {
  managed what;
  audit_note note;
  event_patch patch;
};
FQ_INSPECT(patch_event, x.what, x.note, x.patch)

struct turn_event {
  managed what;
  audit_note note;
  event_trigger trigger{};
};
FQ_INSPECT(turn_event, x.what, x.note, x.trigger)

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

/// Number of affected places, customers or rows.
struct count_reply {
  refusal no;
  std::uint64_t count = 0;
};
FQ_INSPECT(count_reply, x.no, x.count)

/// From a hub: the state of the event or queue that its sockets show.
struct find_line {
  event_id event;
};
FQ_INSPECT(find_line, x.event)

struct line_reply {
  refusal no;
  event_status status{};
  bool sold_out = false;
  bool watches_presence = false; ///< the hub must send `present` periodically
  std::string message{}; ///< set by the operator
};
FQ_INSPECT(line_reply, x.no, x.status, x.sold_out, x.watches_presence, x.message)

struct event_reply {
  refusal no;
  bool replayed = false;
  event_view event{};
};
FQ_INSPECT(event_reply, x.no, x.replayed, x.event)

struct find_stats {
  managed what;
};
FQ_INSPECT(find_stats, x.what)

struct stats_reply {
  refusal no;
  event_stats stats{};
};
FQ_INSPECT(stats_reply, x.no, x.stats)

/// A validated draft event, or a queue that opens immediately. The catalog sets id, aggregate, status and
/// creation times; tenant and organizer come from `by`.
struct create_event {
  principal by;
  event_row event;
  std::vector<ticket_type_row> ticket_types;
  idempotency_ref idempotency;
  audit_note note;
};
FQ_INSPECT(create_event, x.by, x.event, x.ticket_types, x.idempotency, x.note)

/// An organizer gets its own events, an operator its tenant's events; both get their tenant's queues. Without
/// a principal: the public list of events. `after`: cursor. `limit`: 1..200.
struct list_events {
  principal by = {};
  event_kind kind = event_kind::sale;
  std::string external_id = {}; ///< queues only; empty: any
  aggregate_id after{};
  std::uint32_t limit = 50;
};
FQ_INSPECT(list_events, x.by, x.kind, x.external_id, x.after, x.limit)

/// Newest first, from committed state.
struct list_audit {
  principal by = {}; ///< an organizer sees its own actions and those on queues, an operator all of the tenant
  uuid target; ///< nil: all targets of the tenant
  uuid before; ///< cursor; nil: start with the newest
  std::uint32_t limit = 50;
};
FQ_INSPECT(list_audit, x.by, x.target, x.before, x.limit)

struct audit_reply {
  refusal no;
  std::vector<audit_row> rows; ///< at most `limit`
  bool more = false;
};
FQ_INSPECT(audit_reply, x.no, x.rows, x.more)

// -- orders and promo codes: organizers -> event actor, catalog; mail_consumer -> event actor

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
};
FQ_INSPECT(list_event_orders, x.what, x.before, x.limit)

struct orders_reply {
  refusal no;
  std::vector<order_view> orders = {}; ///< at most `limit`
  bool more = false;
};
FQ_INSPECT(orders_reply, x.no, x.orders, x.more)

/// Refunds these tickets; none given: everything not yet refunded.
struct refund_tickets {
  order_act what;
  audit_note note;
  std::vector<item_wish> items;
  idempotency_ref idempotency = {};
  trace_context trace = {};
};
FQ_INSPECT(refund_tickets, x.what, x.note, x.items, x.idempotency, x.trace)

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

struct customers_reply {
  refusal no;
  std::vector<customer_id> customers = {};
};
FQ_INSPECT(customers_reply, x.no, x.customers)

/// Invites the customers whose right this changes; each gets a mail.
struct invite_customers {
  managed what;
  audit_note note;
  std::vector<customer_id> customers;
  std::vector<std::string> emails; ///< of `customers`, in the same order
  invitation_wish wish;
};
FQ_INSPECT(invite_customers, x.what, x.note, x.customers, x.emails, x.wish)

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

/// To owners of events: the block lists may have changed.
struct blocks_changed {};
FQ_INSPECT_EMPTY(blocks_changed)

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

/// A customer's orders at all events, newest first, from committed state.
struct list_orders {
  customer_id customer;
  order_id before;
  std::uint32_t limit = 50;
};
FQ_INSPECT(list_orders, x.customer, x.before, x.limit)

struct order_list_reply {
  refusal no;
  std::vector<order_listing> orders = {}; ///< at most `limit`
  bool more = false;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, order_listing& x) {
  return f(caf::meta::type_name("order_listing"), x.event, x.event_name, x.currency, x.order);
}
FQ_INSPECT(order_list_reply, x.no, x.orders, x.more)

/// Dead letters, newest first, from committed state.
struct list_dead_letters {
  principal by;
  bool is_open = true;
  uuid before;
  std::uint32_t limit = 50;
};
FQ_INSPECT(list_dead_letters, x.by, x.is_open, x.before, x.limit)

struct dead_letters_reply {
  refusal no;
  std::vector<dead_letter_listing> letters = {}; ///< at most `limit`
  bool more = false;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, dead_letter_listing& x) {
  return f(caf::meta::type_name("dead_letter_listing"), x.event, x.letter);
}
FQ_INSPECT(dead_letters_reply, x.no, x.letters, x.more)

/// To accounts: the customers with these addresses. Unknown addresses get an account; with `only_known` they
/// are omitted from the answer.
struct find_customers {
  tenant_id tenant = default_tenant;
  std::vector<std::string> emails; ///< lower case, validated
  bool only_known = false;
};
FQ_INSPECT(find_customers, x.tenant, x.emails, x.only_known)

/// To accounts: adds to the block list of an organizer, or for an operator of the whole tenant. Unknown
/// addresses get an account, so that the block applies when they first log in.
struct block_customers {
  principal by;
  audit_note note;
  std::vector<std::string> emails; ///< lower case, validated
  bool includes_ended = false; ///< also refunds their orders at sales that have ended
};
FQ_INSPECT(block_customers, x.by, x.note, x.emails, x.includes_ended)

struct unblock_customer {
  principal by;
  audit_note note;
  customer_id customer;
};
FQ_INSPECT(unblock_customer, x.by, x.note, x.customer)

/// Ordered by customer.
struct find_blocks {
  principal by;
  customer_id after; ///< cursor; nil: from the first
  std::uint32_t limit = 50;
};
FQ_INSPECT(find_blocks, x.by, x.after, x.limit)

struct blocks_reply {
  refusal no;
  std::vector<block_row> blocks = {}; ///< at most `limit`
  bool more = false;
};
FQ_INSPECT(blocks_reply, x.no, x.blocks, x.more)

/// To accounts: changes a setting of the installation; audited.
struct change_setting {
  principal by;
  setting_row setting;
  audit_note note;
};
FQ_INSPECT(change_setting, x.by, x.setting, x.note)

/// To accounts: writes an audit row for an action on an object without an owner. Answered after commit; the
/// caller acts afterwards.
struct record_deed {
  principal by;
  std::string action;
  uuid target;
  audit_note note;
};
FQ_INSPECT(record_deed, x.by, x.action, x.target, x.note)

// -- tenants and API keys: control socket -> accounts; directory <-> ledger reader

/// From the control socket. If the tenant exists, `replace` sets its new key for subject tokens.
struct add_tenant {
  std::string name;
  std::string subject_jwk; ///< may be empty
  bool replace = false;
  std::string stripe_account = {}; ///< may be empty
};
FQ_INSPECT(add_tenant, x.name, x.subject_jwk, x.replace, x.stripe_account)

struct list_tenants {};
FQ_INSPECT_EMPTY(list_tenants)

struct tenants_reply {
  refusal no;
  std::vector<tenant_row> tenants;
  std::vector<api_key_row> api_keys; ///< without hashes
};
FQ_INSPECT(tenants_reply, x.no, x.tenants, x.api_keys)

struct issue_api_key {
  std::string tenant; ///< tenant name
  api_key_scope scope{};
  std::string label;
};
FQ_INSPECT(issue_api_key, x.tenant, x.scope, x.label)

/// The only copy of the key itself: the ledger stores a hash.
struct api_key_reply {
  refusal no;
  uuid id{};
  std::string key{};
};
FQ_INSPECT(api_key_reply, x.no, x.id, x.key)

struct revoke_api_key {
  uuid id;
};
FQ_INSPECT(revoke_api_key, x.id)

/// To the directory: read again. Answered by ack_reply after the read.
struct refresh_directory {};
FQ_INSPECT_EMPTY(refresh_directory)

/// From the directory to a ledger reader. Answered by directory_read to the sender.
struct read_directory {};
FQ_INSPECT_EMPTY(read_directory)

/// From the directory to a ledger reader, when the block lists' version has changed. Answered by blocks_read
/// to the sender.
struct read_blocks {};
FQ_INSPECT_EMPTY(read_blocks)

struct blocks_read {
  std::shared_ptr<const std::vector<block_row>> content; ///< null: ledger unavailable
};

struct directory_read {
  std::shared_ptr<const access_directory> content; ///< null: ledger unavailable
};

struct event_list_reply {
  refusal no;
  std::vector<event_view> events; ///< at most `limit`
  bool more = false;
};
FQ_INSPECT(event_list_reply, x.no, x.events, x.more)

struct log_in {
  std::string email; ///< lower case
  std::string password;
};
FQ_INSPECT(log_in, x.email, x.password)

struct request_otp {
  std::string email; ///< lower case, validated
};
FQ_INSPECT(request_otp, x.email)

struct verify_otp {
  std::string email;
  std::string code;
};
FQ_INSPECT(verify_otp, x.email, x.code)

/// From the control socket or the demo set-up. If the address exists, `replace` sets the new password.
struct add_organizer {
  std::string email;
  std::string password;
  bool replace = false;
  std::string tenant = "default"; ///< tenant name
};
FQ_INSPECT(add_organizer, x.email, x.password, x.replace, x.tenant)

/// The person that logged in, was verified or was added.
struct person_reply {
  refusal no;
  uuid person{};
};
FQ_INSPECT(person_reply, x.no, x.person)

// -- hubs: one per io thread

/// From a hub: push changes of this event until the hub unsubscribes or dies. Idempotent.
struct subscribe {
  bool on = true;
};
FQ_INSPECT(subscribe, x.on)

/// From a hub: current positions of these places. At most 2,000 numbers.
struct find_positions {
  std::vector<queue_number> numbers;
};
FQ_INSPECT(find_positions, x.numbers)

/// Parallel to the request; 0: no longer in line. The ETA is seconds per place times the position; -1:
/// unknown.
struct positions_reply {
  std::vector<std::uint64_t> positions;
  double seconds_per_place_low = -1;
  double seconds_per_place_high = -1;
};
FQ_INSPECT(positions_reply, x.positions, x.seconds_per_place_low, x.seconds_per_place_high)

/// To subscribed hubs, after commit: these places changed state. In order per event.
struct entries_changed {
  event_id event;
  std::vector<entry_change> changes;
};
FQ_INSPECT(entries_changed, x.event, x.changes)

/// To subscribed hubs, after commit: an entry left the line, so positions may have changed. Coalesced.
struct line_moved {
  event_id event;
};
FQ_INSPECT(line_moved, x.event)

/// To subscribed hubs, after commit: a socket notice about the whole queue.
struct event_noticed {
  event_id event;
  notice_kind what{};
  std::string message = {}; ///< the operator's message, for notice_kind::message
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

/// To subscribed hubs, after commit and before the entries_changed of the same decision.
struct orders_changed {
  event_id event;
  std::vector<order_change> changes;
};
FQ_INSPECT(orders_changed, x.event, x.changes)

/// From a session table: send all sessions of this aggregate now, and every change after its commit.
struct watch_sessions {
  bool on = true;
};
FQ_INSPECT(watch_sessions, x.on)

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
  bool is_all = false; ///< replaces everything known of this aggregate
  bool is_lost = false; ///< the content is invalid: watch again
  std::vector<session_state> begun; ///< new sessions, or sessions with a new end
  std::vector<entry_id> ended;
  /// The content is void after its end; null: no lease. Stays in this process.
  std::shared_ptr<const lease_horizon> lease;
  milliseconds trusted_for{0}; ///< to another node: the content is void unless the next message arrives
                               ///< within this; 0: `lease` applies
};
FQ_INSPECT(sessions_changed, x.event, x.tenant, x.kind, x.now, x.is_all, x.is_lost, x.begun, x.ended,
           x.trusted_for)

// -- owners <-> ledger worker (same process always)

using batch_ptr = std::shared_ptr<const batch>;
using acquired_ptr = std::shared_ptr<const acquired>;

/// From a journal. Answered by batch_settled to the sender.
struct commit_batch {
  batch_ptr content;
};

/// To the journal that sent the batch. `unavailable`: the outcome is unknown; submit again.
struct batch_settled {
  aggregate_id aggregate{};
  std::uint64_t epoch = 0;
  std::uint64_t to_seq = 0;
  bool unavailable = false;
  commit_outcome outcome{};
};
FQ_INSPECT(batch_settled, x.aggregate, x.epoch, x.to_seq, x.unavailable, x.outcome)

/// From an owner that starts: raise the epoch and load. Answered by aggregate_acquired to the sender.
struct acquire_aggregate {
  aggregate_id aggregate{};
  timestamp idempotency_since;
};
FQ_INSPECT(acquire_aggregate, x.aggregate, x.idempotency_since)

enum class acquire_outcome : std::uint8_t { acquired, absent, unavailable, not_owner };

struct aggregate_acquired {
  acquire_outcome outcome{};
  acquired_ptr content; ///< set if acquired
  std::shared_ptr<const lease_horizon> lease; ///< set if acquired under a lease
  std::string lease_owner; ///< not_owner: the other node
  milliseconds lease_left{0}; ///< not_owner: remaining time of its lease
};

/// To an owner: its lease expired and another node acquired the aggregate.
struct lease_lost {
  aggregate_id aggregate{};
};
FQ_INSPECT(lease_lost, x.aggregate)

/// From an owner that stops cleanly: a successor need not wait for the lease.
struct release_aggregate {
  aggregate_id aggregate{};
};
FQ_INSPECT(release_aggregate, x.aggregate)

/// From the region, at start and periodically: aggregates that must run without a request and that no other
/// node leases.
struct find_aggregates_to_wake {};
FQ_INSPECT_EMPTY(find_aggregates_to_wake)

struct aggregates_to_wake {
  bool unavailable = false;
  std::vector<aggregate_id> aggregates;
};
FQ_INSPECT(aggregates_to_wake, x.unavailable, x.aggregates)

/// From the catalog when it loads: the highest allocated aggregate number.
struct find_last_aggregate {};
FQ_INSPECT_EMPTY(find_last_aggregate)

struct last_aggregate_found {
  bool unavailable = false;
  aggregate_id last{};
};
FQ_INSPECT(last_aggregate_found, x.unavailable, x.last)

// -- outbox: dispatcher <-> ledger worker, consumers

/// From a lane's dispatcher: lease free partitions and return the next rows. Answered by outbox_taken to the
/// sender.
struct take_outbox {
  lane which{};
  std::uint32_t limit = 0;
  aggregate_id after{}; ///< return rows of greater aggregates first
};
FQ_INSPECT(take_outbox, x.which, x.limit, x.after)

struct outbox_taken {
  bool unavailable = false;
  std::shared_ptr<const std::vector<outbox_item>> items;
};

/// From a lane's dispatcher: this lane has processed these rows. Answered by outbox_marked to the sender.
struct mark_outbox {
  lane which{};
  std::shared_ptr<const std::vector<outbox_key>> keys;
};

struct outbox_marked {
  bool unavailable = false;
};
FQ_INSPECT(outbox_marked, x.unavailable)

/// To a consumer: rows in order per aggregate. Answered by outbox_consumed with the processed keys; all other
/// rows are sent again.
struct consume_outbox {
  std::shared_ptr<const std::vector<outbox_item>> items;
};

struct outbox_consumed {
  std::shared_ptr<const std::vector<outbox_key>> keys; ///< of processed rows
  aggregate_id last{}; ///< the last aggregate considered; 0: all were
};

// -- notices: fan-out, couriers and the API <-> a ledger reader (same process always)

/// From the fan-out: the devices of these holders and the endpoints of these tenants.
struct find_audience {
  std::vector<uuid> holders;
  std::vector<tenant_id> tenants;
};
struct audience_found {
  refusal no;
  std::shared_ptr<const notice_audience> content;
};

/// From the fan-out: the next page of devices of all customers of an event.
struct find_crowd {
  crowd_filter filter;
};
struct devices_reply {
  refusal no;
  std::shared_ptr<const std::vector<device_row>> devices;
};

/// From the fan-out, and from the API for a test. Rows that exist already stay unchanged.
struct store_deliveries {
  std::shared_ptr<const std::vector<delivery_row>> rows;
  /// One test row: refused with invalid_transition while the holder's newest delivery is pending and younger
  /// than test_pause.
  bool alone = false;
};

/// From a courier: claims due deliveries for the visibility timeout.
struct take_deliveries {
  due_filter filter;
};
struct deliveries_taken {
  refusal no;
  std::shared_ptr<const std::vector<due_delivery>> due;
};

/// From a courier: stores the results of attempts.
struct settle_deliveries {
  std::shared_ptr<const std::vector<delivery_row>> rows;
};

/// From a courier: the token is invalid. Ignored if the device was registered again after `since`.
struct end_device {
  uuid device;
  timestamp since;
  std::string why;
};

/// From a courier: disables an endpoint that is gone, or that accepted nothing since `since`. Ignored if it
/// was changed after that. Answers the number of disabled endpoints.
struct disable_endpoint {
  uuid endpoint;
  std::string why;
  timestamp since;
};

/// From the API: a page of a delivery log, newest first. Fewer rows than the filter's limit: the end of the
/// log.
struct list_deliveries {
  delivery_filter filter;
};
struct deliveries_reply {
  refusal no;
  std::vector<delivery_row> rows;
};

/// From the API: sends an ended delivery again. not_found: the tenant has no such delivery.
struct replay_delivery {
  tenant_id tenant{};
  uuid target, notice;
};

struct register_device {
  device_row device;
};
struct device_reply {
  refusal no;
  uuid id; ///< the device's id
};
struct list_devices {
  uuid holder;
};
struct remove_device {
  uuid holder, device;
};

/// From the API: a new endpoint, or a new version (webhook_endpoint_row::replaces). Refused with
/// invalid_field if the tenant or organizer has too many endpoints, or if the replaced version is not the
/// newest.
struct store_endpoint {
  webhook_endpoint_row endpoint;
};
struct list_endpoints {
  tenant_id tenant{};
};
struct endpoints_reply {
  refusal no;
  std::vector<webhook_endpoint_row> endpoints;
};
struct remove_endpoint {
  tenant_id tenant{};
  uuid endpoint;
};

/// INTERNAL, to a courier from its port: the result of an attempt.
struct delivery_answered {
  uuid target, notice;
  delivery_answer answer;
};

// -- cache: event actor <-> cache worker (same process always)

/// From an event actor, after commit: the next step of its mirror. Answered only on failure, by mirror_lost.
struct take_mirror_step {
  std::shared_ptr<const mirror_step> step;
};

/// From an event actor, periodically: vouches that its mirror is complete; every step was sent before.
/// Answered only on failure, by mirror_lost.
struct vouch_for_mirror {
  std::shared_ptr<const vouched_mirror> mirror;
  milliseconds said_at{0}; ///< steady time; the cache worker drops the message if it waited too long
};

/// To the session reader: the session of an entry that another node owns. Answered by session_found.
struct find_session {
  entry_id entry;
};
FQ_INSPECT(find_session, x.entry)

enum class session_verdict : std::uint8_t {
  in_force,
  over,
  unknown, ///< no mirror of it is vouched for, or the cache is unavailable
};

struct session_found {
  session_verdict verdict = session_verdict::unknown;
  uuid queue = {}; ///< or event
  tenant_id tenant = default_tenant;
  std::uint32_t admission_no = 0;
  std::string subject_name = {};
  timestamp expires_at = {};
};
FQ_INSPECT(session_found, x.verdict, x.queue, x.tenant, x.admission_no, x.subject_name, x.expires_at)

/// From an event actor: compares the cache with `expected`. Every step up to `steps` was sent before.
/// Answered by mirror_checked to the sender.
struct check_mirror {
  aggregate_id aggregate{};
  uuid queue;
  std::uint64_t generation = 0;
  std::uint64_t steps = 0;
  timestamp now; ///< the owner's clock
  milliseconds sent_at{0}; ///< steady time; corrects `now` for the time this message waits
  std::shared_ptr<const mirror_image> expected;
};

enum class mirror_state : std::uint8_t {
  equal,
  lost, ///< missing, another owner's, or incomplete
  different,
  unavailable, ///< the cache cannot be reached
  none, ///< no cache is configured
};

struct mirror_checked {
  std::uint64_t generation = 0;
  mirror_state state{};
  std::vector<std::string> differences; ///< for the report; at most 20
};
FQ_INSPECT(mirror_checked, x.generation, x.state, x.differences)

/// To an event actor: a step of this generation did not reach the cache. cache_is_back follows when a rebuild
/// can be tried.
struct mirror_lost {
  std::uint64_t generation = 0;
};
FQ_INSPECT(mirror_lost, x.generation)

struct cache_is_back {};
FQ_INSPECT_EMPTY(cache_is_back)

/// From `fairqueue admin verify` and `rebuild`: compare ledger and cache, or rebuild the mirror. Answered by
/// mirror_report.
struct verify_mirror {
  bool rebuild = false;
};
FQ_INSPECT(verify_mirror, x.rebuild)

struct mirror_report {
  event_id event;
  std::uint64_t generation = 0;
  mirror_state state{};
  std::vector<std::string> differences;
};
FQ_INSPECT(mirror_report, x.event, x.generation, x.state, x.differences)

// -- verification: event actor <-> ledger reader

/// From an event actor: read all its rows from the ledger. Answered by aggregate_peeked to the sender.
struct peek_aggregate {
  aggregate_id aggregate{};
  std::uint64_t reading = 0; ///< returned with the answer
};
FQ_INSPECT(peek_aggregate, x.aggregate, x.reading)

struct aggregate_peeked {
  std::uint64_t reading = 0;
  std::shared_ptr<const aggregate_snapshot> found; ///< null: ledger unavailable
};

/// From `fairqueue admin verify`: check the ledger's rows against one another and against the owner's memory.
/// Answered by ledger_report.
struct verify_ledger {};
FQ_INSPECT_EMPTY(verify_ledger)

struct ledger_report {
  bool was_read = false; ///< false: the ledger did not answer, or changed during every read
  std::vector<std::string> differences; ///< for the report; empty: no difference
};
FQ_INSPECT(ledger_report, x.was_read, x.differences)

// -- gateways: event actor <-> payments

enum class gateway_call_kind : std::uint8_t { initialize, verify, expire, refund };

/// From an event actor, after the row is committed. Answered once, within a deadline, by gateway_answered to
/// the sender.
struct call_gateway {
  gateway_call_kind kind{};
  std::string gateway;
  payment_id payment;
  gateway_charge charge;
  refund_id refund = {};
  money refund_amount = 0;
  std::uint8_t priority_class = 0; ///< orders waiting calls
};
FQ_INSPECT(call_gateway, x.kind, x.gateway, x.payment, x.charge, x.refund, x.refund_amount, x.priority_class)

constexpr std::string_view name_of(gateway_call_kind kind) {
  constexpr std::array<std::string_view, 4> names{"initialize", "verify", "expire", "refund"};
  return names[static_cast<std::size_t>(kind)];
}

enum class gateway_result : std::uint8_t {
  initialized, ///< authorization_url is set
  paid, ///< amount and currency are set
  unpaid, ///< known and still payable
  closed, ///< declined or expired; final
  unknown_reference, ///< the gateway does not know the reference
  rejected, ///< the gateway refuses the call; `what` has the reason
  refunded,
  refund_pending,
  refund_refused,
  unavailable, ///< after retries, or with an open circuit breaker
};

struct gateway_answered {
  gateway_call_kind kind{};
  gateway_result result{};
  std::string gateway;
  payment_id payment;
  std::string reference;
  refund_id refund = {};
  std::string authorization_url = {};
  std::string gateway_id = {};
  money amount = 0; ///< without tax
  money tax = 0;
  std::string currency = {};
  std::string what = {}; ///< reason, for a person
  bool reference_already_used =
    false; ///< rejected only because the reference was used before; a new reference may work
  milliseconds retry_after{0}; ///< unavailable: the gateway's Retry-After
};
FQ_INSPECT(gateway_answered, x.kind, x.result, x.gateway, x.payment, x.reference, x.refund,
           x.authorization_url, x.gateway_id, x.amount, x.tax, x.currency, x.what, x.reference_already_used,
           x.retry_after)

// -- blocking helpers of accounts

/// From accounts to the password worker (argon2id takes about 0.1 s of CPU). Empty `stored`: unknown address;
/// takes the same time and answers false.
struct check_password {
  std::string stored;
  std::string password;
};
FQ_INSPECT(check_password, x.stored, x.password)

struct password_checked {
  bool matches = false;
};
FQ_INSPECT(password_checked, x.matches)

struct hash_new_password {
  std::string password;
};
FQ_INSPECT(hash_new_password, x.password)

struct password_hashed {
  std::string stored; ///< empty: hashing failed
};
FQ_INSPECT(password_hashed, x.stored)

struct send_mail {
  std::string to, subject, body;
  std::string html = {};
};
FQ_INSPECT(send_mail, x.to, x.subject, x.body, x.html)

struct mail_sent {
  bool accepted = false;
};
FQ_INSPECT(mail_sent, x.accepted)

// -- supervision

/// To the region: resolve the owner of this aggregate, starting it if necessary.
struct resolve_event {
  aggregate_id aggregate{};
  bool is_forwarded = false; ///< by another node's region: do not forward further
  /// An owner that returned the request; resolve another one. Null: none. Stays in this process.
  caf::actor_addr returned_by = {};
};
FQ_INSPECT(resolve_event, x.aggregate, x.is_forwarded)

/// To subscribed hubs: the sender handed the event over, or its lease has passed. The region resolves the new
/// owner.
struct owner_left {
  aggregate_id aggregate{};
};
FQ_INSPECT(owner_left, x.aggregate)

/// Content of pushes: places to hubs, sessions to session tables.
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

/// To a hub that read too slowly: pushes were dropped, so it must query everything again.
struct pushes_lost {
  aggregate_id aggregate{};
};
FQ_INSPECT(pushes_lost, x.aggregate)

/// From the operator, to any node's region: move this event to node `to`. Answered after the handover.
/// Errors: absent; unavailable if the event did not move.
struct move_event {
  aggregate_id aggregate{};
  std::string to; ///< node id
  bool is_forwarded = false; ///< by another node's region
};
FQ_INSPECT(move_event, x.aggregate, x.to, x.is_forwarded)

/// To the region: the events that run in this process.
struct list_owned {};
FQ_INSPECT_EMPTY(list_owned)

struct owned_aggregates {
  std::vector<aggregate_id> aggregates;
};
FQ_INSPECT(owned_aggregates, x.aggregates)

/// From the region to an owner: stop deciding, commit pending decisions, end the lease. Answered by
/// handed_over.
struct hand_over {
  std::string to; ///< node id
  bool is_forced = false; ///< the node is shutting down; false: the owner may refuse to move now
};
FQ_INSPECT(hand_over, x.to, x.is_forced)

struct handed_over {
  aggregate_id aggregate{};
  bool is_done = false; ///< false: the aggregate did not move
};
FQ_INSPECT(handed_over, x.aggregate, x.is_done)

/// From an owner that moves. Answered when its lease has ended.
struct end_lease {
  aggregate_id aggregate{};
};
FQ_INSPECT(end_lease, x.aggregate)

/// INTERNAL, from an owner to its supervisor: loaded and serving.
struct owner_ready {};
FQ_INSPECT_EMPTY(owner_ready)

/// INTERNAL, from an owner to its supervisor: there is no such aggregate.
struct owner_absent {};
FQ_INSPECT_EMPTY(owner_absent)

/// INTERNAL, from an owner to its supervisor: another node owns the aggregate.
struct owner_denied {
  std::string owner; ///< the other node
};
FQ_INSPECT(owner_denied, x.owner)

/// INTERNAL, from an idle owner to its supervisor: nothing to serve; stop the owner.
struct owner_idle {};
FQ_INSPECT_EMPTY(owner_idle)

// -- nodes

/// From the cluster to the ledger worker: write this node's heartbeat and read all live nodes.
struct beat_node {
  node_row self;
  milliseconds alive_for{0};
};
FQ_INSPECT(beat_node, x.self, x.alive_for)

struct nodes_seen {
  bool is_unavailable = false;
  std::vector<node_row> nodes; ///< by id, including this node
};
FQ_INSPECT(nodes_seen, x.is_unavailable, x.nodes)

/// A node's actors, as reached from other nodes.
struct node_peer {
  std::string node;
  caf::strong_actor_ptr region, catalog, accounts;
};
FQ_INSPECT(node_peer, x.node, x.region, x.catalog, x.accounts)

/// The first message on a new connection, between the clusters of two nodes.
struct greet {
  node_peer from;
  std::uint32_t wire_version = 0;
};
FQ_INSPECT(greet, x.from, x.wire_version)

/// Answer to `greet`; none for another wire version.
struct greeting {
  node_peer from;
};
FQ_INSPECT(greeting, x.from)

/// To the dialer: connect to that node and greet it. Answered by node_dialed to the sender.
struct dial_node {
  node_row node;
  greet words;
};
FQ_INSPECT(dial_node, x.node, x.words)

struct node_dialed {
  std::string node;
  std::string failure; ///< empty: connected
  node_peer peer;
};
FQ_INSPECT(node_dialed, x.node, x.failure, x.peer)

/// To region, catalog and accounts, at every heartbeat and at every change of a connection.
struct cluster_changed {
  std::string self;
  std::vector<node_row> nodes; ///< reachable nodes that may own aggregates, including this one; by id
  std::vector<node_peer> peers; ///< currently connected
  /// Minority partition: fewer than half of the live nodes of this kind are reachable.
  bool is_isolated = false;
  bool is_ledger_away = false; ///< nothing can start on this node
  bool serves = true; ///< false: nodes of another kind serve; nothing may start here
  /// This node is the last of its kind and shuts down; nodes of another kind take over.
  bool leaves_to_successors = false;
};
FQ_INSPECT(cluster_changed, x.self, x.nodes, x.peers, x.is_isolated, x.is_ledger_away, x.serves,
           x.leaves_to_successors)

/// From the operator, or from a node before it stops: hand all events over and accept no more. Accounts and
/// catalog stay until the process ends.
struct drain_node {};
FQ_INSPECT_EMPTY(drain_node)

/// The nodes of the cluster, as seen by this node.
struct list_nodes {};
FQ_INSPECT_EMPTY(list_nodes)

struct node_status {
  node_row node;
  bool is_self = false;
  bool is_connected = false;
  std::string failure; ///< of the last connection attempt; empty: none
};
FQ_INSPECT(node_status, x.node, x.is_self, x.is_connected, x.failure)

struct nodes_reply {
  std::vector<node_status> nodes;
};
FQ_INSPECT(nodes_reply, x.nodes)

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
  lapse
};
struct timer_fired {
  timer_kind kind{};
  std::uint64_t generation = 0;
};
FQ_INSPECT(timer_fired, x.kind, x.generation)

} // namespace fq

// These never leave the process: the ledger worker is always local to the owner.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::commit_batch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::aggregate_acquired)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::outbox_taken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::mark_outbox)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::consume_outbox)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::outbox_consumed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::take_mirror_step)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::check_mirror)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::vouch_for_mirror)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::aggregate_peeked)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::directory_read)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::blocks_read)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::find_audience)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::audience_found)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::find_crowd)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::devices_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::store_deliveries)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::take_deliveries)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::deliveries_taken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::settle_deliveries)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::end_device)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::disable_endpoint)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::list_deliveries)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::deliveries_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::replay_delivery)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::register_device)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::device_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::list_devices)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::remove_device)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::store_endpoint)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::list_endpoints)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::endpoints_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::remove_endpoint)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::delivery_answered)
