// SPDX-License-Identifier: Apache-2.0
// Reads of the memory ledger, and its state for tests.
#include "store/memory/memory_ledger.hpp"
#include "store/memory/memory_tables.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace fq {
namespace {

bool is_on_sale(const event_row& event) {
  return event.status == event_status::active || event.status == event_status::paused;
}

/// Whether the aggregate needs a running owner: I13. A due payment link needs no condition of its
/// own, because its claim is live.
bool must_run(const aggregate_image& image, timestamp now) {
  if (image.event && is_on_sale(*image.event)) return true;
  const bool cancelled = image.event && image.event->status == event_status::cancelled;
  const auto entry_runs = [](const entry_row& e) { return is_live(e.status); };
  const auto claim_runs = [](const claim_row& c) { return is_live(c.status); };
  const auto payment_runs = [cancelled, now](const payment_row& p) {
    return is_open(p.status) || p.status == payment_status::confirmed_late
           || (p.status == payment_status::failed && is_set(p.recheck_at) && p.recheck_at <= now)
           || p.status == payment_status::refund_pending || (cancelled && is_refundable(p.status));
  };
  const auto refund_runs = [](const refund_row& r) { return r.status == refund_status::requested; };
  const auto transfer_runs = [](const transfer_row& t) { return t.status == transfer_status::offered; };
  return std::any_of(image.entries.begin(), image.entries.end(), entry_runs)
         || std::any_of(image.claims.begin(), image.claims.end(), claim_runs)
         || std::any_of(image.payments.begin(), image.payments.end(), payment_runs)
         || std::any_of(image.refunds.begin(), image.refunds.end(), refund_runs)
         || std::any_of(image.transfers.begin(), image.transfers.end(), transfer_runs);
}

/// Whether an ended event has another number of valid event tickets than sold units.
bool owes_event_tickets(const aggregate_image& image) {
  std::int64_t sold = 0;
  for (const auto& type : image.ticket_types) sold += type.sold;
  return sold != std::ranges::count_if(image.event_tickets, [](const auto& t) { return is_valid(t.status); });
}

/// Whether a customer in `blocks` has paid here and was not fully refunded.
bool has_paid(const aggregate_image& image, const std::vector<block_row>& blocks) {
  return std::ranges::any_of(image.payments, [&](const payment_row& p) {
    return (p.status == payment_status::confirmed || p.status == payment_status::partially_refunded)
           && std::ranges::any_of(blocks, [&](const block_row& b) {
                return b.customer == p.customer && b.tenant == image.event->tenant
                       && (b.organizer.is_nil() || b.organizer == image.event->organizer)
                       && (b.includes_ended || image.event->status != event_status::ended);
              });
  });
}

} // namespace

std::vector<event_listing> memory_ledger::list_events(const event_filter& filter) {
  std::vector<event_listing> result;
  for (auto i = state_.aggregates.upper_bound(filter.after); i != state_.aggregates.end(); ++i) {
    if (result.size() >= filter.limit) break;
    const auto& event = i->second.image.event;
    if (!event) continue;
    const bool is_sale = event->kind == event_kind::sale;
    const bool is_wanted = filter.organizer ? is_sale && event->organizer == *filter.organizer
                           : filter.tenant
                             ? event->tenant == *filter.tenant && event->kind == filter.kind
                                 && (filter.external_id.empty() || event->external_id == filter.external_id)
                             : is_sale && is_on_sale(*event);
    if (!is_wanted) continue;
    result.push_back({*event, i->second.image.ticket_types});
    result.back().event.facts.description.clear();
    result.back().event.facts.ticket_terms.clear();
    result.back().event.questions.clear();
  }
  return result;
}

access_directory memory_ledger::directory() {
  const auto& accounts = state_.aggregates.at(accounts_aggregate).image;
  access_directory all;
  all.tenants = accounts.tenants;
  std::ranges::copy_if(accounts.api_keys, std::back_inserter(all.api_keys),
                       [](const api_key_row& k) { return !is_set(k.revoked_at); });
  for (const auto& o : accounts.organizers) all.organizers.push_back({o.id, o.tenant, o.tokens_not_before});
  for (const auto& s : accounts.organizer_sessions)
    if (is_set(s.ended_at)) all.ended_sessions.push_back(s.id);
  all.settings = accounts.settings;
  return all;
}

std::vector<block_row> memory_ledger::blocks() {
  return state_.aggregates.at(accounts_aggregate).image.blocks;
}

std::vector<audit_row> memory_ledger::audit(const audit_filter& filter) {
  std::vector<audit_row> rows;
  for (const auto& [number, state] : state_.aggregates)
    for (const auto& r : state.audit)
      if (r.tenant == filter.tenant && (filter.target.is_nil() || r.target == filter.target)
          && (filter.before.is_nil() || r.id < filter.before)
          && (filter.actor.empty() || r.actor == filter.actor || r.actor == "system"
              || r.action.starts_with("queue.")))
        rows.push_back(r);
  std::ranges::sort(rows, std::greater{}, &audit_row::id);
  if (rows.size() > filter.limit) rows.resize(filter.limit);
  return rows;
}

std::vector<order_listing> memory_ledger::list_orders(const order_filter& filter) {
  std::vector<order_listing> rows;
  for (const auto& [number, state] : state_.aggregates)
    if (const auto& event = state.image.event)
      for (const auto& o : state.image.orders)
        if (o.customer == filter.customer && (filter.before.is_nil() || o.id < filter.before))
          rows.push_back({event->id, event->name, event->currency, o});
  std::ranges::sort(rows, std::greater{}, [](const order_listing& l) { return l.order.id; });
  if (rows.size() > filter.limit) rows.resize(filter.limit);
  return rows;
}

std::vector<event_ticket_listing> memory_ledger::list_event_tickets(const event_ticket_filter& filter) {
  std::vector<event_ticket_listing> rows;
  for (const auto& [number, state] : state_.aggregates)
    for (const auto& t : state.image.event_tickets) {
      const auto* type = find_row(state.image.ticket_types, t.ticket_type);
      if (t.holder == filter.holder && is_valid(t.status) && type != nullptr
          && (filter.before.is_nil() || t.id < filter.before))
        rows.push_back({state.image.event->id, state.image.event->name, type->id, type->name, t,
                        state.image.event->event_tickets, state.image.event->facts.starts_at,
                        state.image.event->facts.time_zone, state.image.event->facts.venue_name,
                        state.image.event->status});
    }
  std::ranges::sort(rows, std::greater{}, [](const event_ticket_listing& l) { return l.ticket.id; });
  if (rows.size() > filter.limit) rows.resize(filter.limit);
  return rows;
}

std::vector<seat_plan_row> memory_ledger::list_seat_plans(const seat_plan_filter& filter) {
  std::vector<seat_plan_row> rows;
  for (const auto& p : state_.seat_plans) {
    const bool is_wanted = filter.id.is_nil() ? p.id > filter.after : p.id == filter.id;
    const bool is_seen = !filter.organizer || p.organizer.is_nil() || p.organizer == *filter.organizer;
    if (p.tenant != filter.tenant || !is_wanted || !is_seen) continue;
    if (rows.size() == filter.limit) break;
    rows.push_back(p);
    if (filter.id.is_nil()) rows.back().content.clear();
  }
  return rows;
}

std::vector<transfer_listing> memory_ledger::list_transfers(const transfer_filter& filter) {
  std::vector<transfer_listing> rows;
  for (const auto& [number, state] : state_.aggregates)
    for (const auto& o : state.image.transfers) {
      const bool is_theirs = o.giver == filter.customer || o.receiver == filter.customer;
      const auto& ticket = *find_row(state.image.event_tickets, o.ticket);
      const auto* type = find_row(state.image.ticket_types, ticket.ticket_type);
      if (is_theirs && o.status == transfer_status::offered && type != nullptr && state.image.event)
        rows.push_back({state.image.event->id, state.image.event->name, type->name, o});
    }
  std::ranges::sort(rows, std::greater{}, [](const transfer_listing& l) { return l.transfer.id; });
  if (rows.size() > filter.limit) rows.resize(filter.limit);
  return rows;
}

std::vector<dead_letter_listing> memory_ledger::list_dead_letters(const dead_letter_filter& filter) {
  std::vector<dead_letter_listing> rows;
  for (const auto& [number, state] : state_.aggregates) {
    const auto& event = state.image.event; // the accounts' letters have no event
    if (state.tenant != filter.tenant
        || (filter.organizer && !(event && event->organizer == *filter.organizer)))
      continue;
    for (const auto& l : filter.is_open ? state.image.dead_letters : state.dead_letters)
      if (filter.before.is_nil() || l.id < filter.before) rows.push_back({event ? event->id : event_id{}, l});
  }
  std::ranges::sort(rows, std::greater{}, [](const dead_letter_listing& l) { return l.letter.id; });
  if (rows.size() > filter.limit) rows.resize(filter.limit);
  return rows;
}

std::vector<statistics_row> memory_ledger::list_statistics(const statistics_filter& filter) {
  std::vector<statistics_row> rows;
  const auto* state = find(filter.aggregate);
  if (!state) return rows;
  const auto step_of = [&](timestamp t) { return unix_ms(t) / filter.step.count(); };
  for (auto r : state->statistics) {
    if (r.at < filter.from || r.at >= filter.to) continue;
    if (rows.empty() || step_of(rows.back().at) != step_of(r.at)) {
      rows.push_back(r);
      continue;
    }
    r.waiting_peak = std::max(r.waiting_peak, rows.back().waiting_peak);
    r.arrivals += rows.back().arrivals;
    r.admissions += rows.back().admissions;
    rows.back() = r;
  }
  return rows;
}

sale_figures memory_ledger::figures(aggregate_id aggregate) {
  sale_figures f;
  const auto* state = find(aggregate);
  if (!state) return f;
  std::map<std::uint32_t, type_figures> types;
  std::set<customer_id> buyers;
  std::set<queue_number> places;
  for (const auto& c : state->image.claims) {
    if (c.status != claim_status::confirmed && c.status != claim_status::refunded) continue;
    ++f.purchases;
    buyers.insert(c.customer);
    places.insert(c.entry);
    for (const auto& i : c.items) {
      auto& type = types[i.ticket_type];
      type.ticket_type = i.ticket_type;
      type.bought += i.quantity;
      type.refunded += i.refunded;
      type.revenue += (i.unit_price - i.unit_discount + i.donation) * (std::int64_t{i.quantity} - i.refunded);
    }
  }
  for (const auto& [ordinal, type] : types) f.types.push_back(type);
  f.buyers = buyers.size();
  f.places = places.size();
  for (const auto& r : state->image.refunds) {
    f.refunds += r.status == refund_status::succeeded;
    f.refunds_open += r.status == refund_status::requested;
    if (r.status == refund_status::succeeded) f.refunded += r.amount;
  }
  for (const auto& r : state->statistics) {
    if (!is_set(f.waiting_peak_at) || r.waiting_peak > f.waiting_peak) {
      f.waiting_peak = r.waiting_peak;
      f.waiting_peak_at = r.at;
    }
    if (!is_set(f.sold_out_at) && r.available == 0 && r.held == 0 && r.sold > 0) f.sold_out_at = r.at;
  }
  return f;
}

std::vector<aggregate_id> memory_ledger::aggregates_to_wake(const std::string& owner) {
  const auto now = options_.now();
  const auto& blocks = state_.aggregates.at(accounts_aggregate).image.blocks;
  std::vector<aggregate_id> result;
  for (const auto& [number, state] : state_.aggregates)
    if ((must_run(state.image, now) || has_paid(state.image, blocks) || !state.noted.empty())
        && !state.lease.keeps_out(owner, now))
      result.push_back(number);
  return result;
}

events_to_settle memory_ledger::find_events_to_settle(const std::string& owner, aggregate_id after) {
  const auto now = options_.now();
  std::vector<event_looked_at> rows;
  for (auto i = state_.aggregates.upper_bound(after);
       i != state_.aggregates.end() && rows.size() < events_looked_at; ++i) {
    const auto& [number, state] = *i;
    const auto& event = state.image.event;
    if (event && (event->status == event_status::ended || event->status == event_status::cancelled))
      rows.push_back({number, owes_event_tickets(state.image) && !state.lease.keeps_out(owner, now)});
  }
  return first_due_of(rows);
}

aggregate_id memory_ledger::last_aggregate() {
  const auto least = aggregate_id{number_of(first_event_aggregate) - 1};
  return std::max(least, state_.aggregates.rbegin()->first);
}

std::vector<history_row> memory_ledger::history(aggregate_id aggregate) {
  const auto* state = find(aggregate);
  return state ? state->history : std::vector<history_row>{};
}

aggregate_snapshot memory_ledger::peek(aggregate_id aggregate) {
  const auto* state = find(aggregate);
  if (!state) return {};
  aggregate_snapshot found{state->head, state->image};
  std::erase_if(found.image.entries,
                [&](const entry_row& r) { return r.number < state->head.line.first_kept; });
  return found;
}

std::optional<entry_row> memory_ledger::read_entry(aggregate_id aggregate, queue_number number) {
  const auto* found = find_entry(aggregate, number);
  return found ? std::optional{*found} : std::nullopt;
}

// -- for tests

const memory_ledger::aggregate_state* memory_ledger::find(aggregate_id aggregate) const {
  const auto found = state_.aggregates.find(aggregate);
  return found == state_.aggregates.end() ? nullptr : &found->second;
}

std::vector<aggregate_id> memory_ledger::aggregates() const {
  std::vector<aggregate_id> result;
  for (const auto& [number, state] : state_.aggregates) result.push_back(number);
  return result;
}

const aggregate_head* memory_ledger::head(aggregate_id aggregate) const {
  const auto* state = find(aggregate);
  return state ? &state->head : nullptr;
}

const aggregate_image* memory_ledger::committed(aggregate_id aggregate) const {
  const auto* state = find(aggregate);
  return state ? &state->image : nullptr;
}

const std::vector<history_row>* memory_ledger::committed_history(aggregate_id aggregate) const {
  const auto* state = find(aggregate);
  return state ? &state->history : nullptr;
}

const ticket_type_row* memory_ledger::find_ticket_type(aggregate_id aggregate, std::uint32_t ordinal) const {
  const auto* image = committed(aggregate);
  return image ? find_row(image->ticket_types, ordinal) : nullptr;
}

const entry_row* memory_ledger::find_entry(aggregate_id aggregate, queue_number number) const {
  const auto* image = committed(aggregate);
  return image ? find_row(image->entries, number) : nullptr;
}

std::string memory_ledger::lease_owner(aggregate_id aggregate) const {
  const auto* state = find(aggregate);
  return state ? state->lease.owner : std::string{};
}

std::uint64_t memory_ledger::incarnation_of(const std::string& node) const {
  const auto at = state_.incarnations.find(node);
  return at == state_.incarnations.end() ? 0 : at->second;
}

const claim_row* memory_ledger::find_claim(aggregate_id aggregate, const claim_id& id) const {
  const auto* image = committed(aggregate);
  return image ? find_row(image->claims, id) : nullptr;
}

const payment_row* memory_ledger::find_payment(aggregate_id aggregate, const payment_id& id) const {
  const auto* image = committed(aggregate);
  return image ? find_row(image->payments, id) : nullptr;
}

const refund_row* memory_ledger::find_refund(aggregate_id aggregate, const refund_id& id) const {
  const auto* image = committed(aggregate);
  return image ? find_row(image->refunds, id) : nullptr;
}

} // namespace fq
