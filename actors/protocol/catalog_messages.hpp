// SPDX-License-Identifier: Apache-2.0
// Catalog: creates events and lists what is committed. The lists are read by a ledger reader.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "store/port/ledger.hpp"

#include <string>
#include <vector>

namespace fq {

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

/// A holder's valid event tickets at all events, newest first, from committed state.
struct list_held_tickets {
  customer_id holder;
  event_ticket_id before;
  std::uint32_t limit = 50;
};
FQ_INSPECT(list_held_tickets, x.holder, x.before, x.limit)

struct held_tickets_reply {
  refusal no;
  std::vector<event_ticket_listing> tickets = {}; ///< at most `limit`
  bool more = false;
  std::vector<ticket_seat> seats = {}; ///< filled in by net/service/ticket_seats; is not sent
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, event_ticket_listing& x) {
  return f(caf::meta::type_name("event_ticket_listing"), x.event, x.event_name, x.ticket_type,
           x.ticket_type_name, x.ticket, x.settings, x.starts_at, x.time_zone, x.venue_name, x.event_state);
}

FQ_INSPECT(held_tickets_reply, x.no, x.tickets, x.more)

/// A customer's open offers of event tickets, given and received, from committed state.
struct list_transfers {
  customer_id customer;
  std::uint32_t limit = 50;
};
FQ_INSPECT(list_transfers, x.customer, x.limit)

struct transfers_reply {
  refusal no;
  std::vector<transfer_listing> transfers = {}; ///< newest first, at most `limit`
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, transfer_listing& x) {
  return f(caf::meta::type_name("transfer_listing"), x.event, x.event_name, x.ticket_type_name, x.transfer);
}

FQ_INSPECT(transfers_reply, x.no, x.transfers)

/// The statistics of an event, from committed state. The caller checks the right to see them. See
/// statistics_filter.
struct list_statistics {
  aggregate_id aggregate{};
  timestamp from, to;
  milliseconds step{0};
  bool with_figures = false;
};
FQ_INSPECT(list_statistics, x.aggregate, x.from, x.to, x.step, x.with_figures)

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, type_figures& x) {
  return f(caf::meta::type_name("type_figures"), x.ticket_type, x.bought, x.refunded, x.revenue);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, sale_figures& x) {
  return f(caf::meta::type_name("sale_figures"), x.types, x.purchases, x.buyers, x.places, x.refunds,
           x.refunds_open, x.refunded, x.waiting_peak, x.waiting_peak_at, x.sold_out_at);
}

struct statistics_reply {
  refusal no;
  std::vector<statistics_row> rows = {}; ///< by time
  sale_figures figures = {}; ///< if they were asked for
};
FQ_INSPECT(statistics_reply, x.no, x.rows, x.figures)

/// Part of what is kept of a customer: see ledger::list_records.
struct list_records {
  customer_id customer;
  std::string email; ///< the account's
  record_position after;
  std::uint32_t limit = 50;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, record_position& x) {
  return f(caf::meta::type_name("record_position"), x.kind, x.aggregate, x.number, x.ordinal, x.id);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, customer_record& x) {
  return f(caf::meta::type_name("customer_record"), x.at, x.event, x.status, x.text, x.amount, x.count,
           x.created_at, x.changed_at, x.ended_at);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, record_page& x) {
  return f(caf::meta::type_name("record_page"), x.records, x.next, x.more);
}

FQ_INSPECT(list_records, x.customer, x.email, x.after, x.limit)

struct records_reply {
  refusal no;
  record_page page = {};
};
FQ_INSPECT(records_reply, x.no, x.page)

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

/// Stores a plan of a tenant, with a new id if it has none; an empty text removes it.
struct store_tenant_plan {
  principal by;
  audit_note note;
  uuid id;
  std::string name;
  std::string plan; ///< text_of(seat_plan)
};
FQ_INSPECT(store_tenant_plan, x.by, x.note, x.id, x.name, x.plan)

struct tenant_plan_reply {
  refusal no;
  seat_plan_row plan = {}; ///< without its content
};
FQ_INSPECT(tenant_plan_reply, x.no, x.plan)

/// The seat plans of a tenant, by id, from committed state. An organizer gets its own and those that belong
/// to the tenant, an operator all.
struct list_tenant_plans {
  principal by;
  uuid id; ///< set: only this one, with its content
  uuid after; ///< cursor
  std::uint32_t limit = 50;
};
FQ_INSPECT(list_tenant_plans, x.by, x.id, x.after, x.limit)

struct tenant_plans_reply {
  refusal no;
  std::vector<seat_plan_row> plans = {}; ///< at most `limit`
  bool more = false;
};
FQ_INSPECT(tenant_plans_reply, x.no, x.plans, x.more)

struct event_list_reply {
  refusal no;
  std::vector<event_view> events; ///< at most `limit`
  bool more = false;
};
FQ_INSPECT(event_list_reply, x.no, x.events, x.more)

/// Creates events and keeps the seat plans of tenants; lists from committed state.
using catalog_handle =
  caf::typed_actor<caf::replies_to<create_event>::with<event_reply>, ///< after commit
                   caf::replies_to<list_events>::with<event_list_reply>,
                   caf::replies_to<list_audit>::with<audit_reply>,
                   caf::replies_to<list_orders>::with<order_list_reply>,
                   caf::replies_to<list_held_tickets>::with<held_tickets_reply>,
                   caf::replies_to<list_transfers>::with<transfers_reply>,
                   caf::replies_to<list_dead_letters>::with<dead_letters_reply>,
                   caf::replies_to<list_records>::with<records_reply>,
                   caf::replies_to<list_statistics>::with<statistics_reply>,
                   caf::replies_to<store_tenant_plan>::with<tenant_plan_reply>, ///< after commit
                   caf::replies_to<list_tenant_plans>::with<tenant_plans_reply>,
                   caf::reacts_to<cluster_changed>, ///< from the cluster
                   caf::reacts_to<batch_settled>, ///< INTERNAL
                   caf::reacts_to<aggregate_acquired>, ///< INTERNAL
                   caf::reacts_to<lease_lost>, ///< INTERNAL
                   caf::reacts_to<last_aggregate_found>, ///< INTERNAL
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq
