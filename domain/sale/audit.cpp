// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/audit.hpp"

#include "domain/money/pricing.hpp"

#include "domain/line/queue.hpp"
#include "domain/sale/seating.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace fq {
namespace {

using lines = std::vector<std::string>;

void tell(lines& out, std::string line) {
  if (out.size() < contradictions_max) out.push_back(std::move(line));
}

struct units {
  std::int64_t held = 0, sold = 0;
};

std::map<std::uint32_t, units> units_in(std::span<const claim_row> claims) {
  std::map<std::uint32_t, units> sums;
  for (const auto& c : claims)
    for (const auto& item : c.items) {
      auto& sum = sums[item.ticket_type];
      if (is_live(c.status)) sum.held += item.quantity;
      if (c.status == claim_status::confirmed) sum.sold += std::int64_t{item.quantity} - item.refunded;
    }
  return sums;
}

void audit_stock(const audited_rows& rows, lines& out) {
  auto counted = units_in(rows.claims);
  for (const auto& t : rows.ticket_types) {
    const auto sum = counted[t.ordinal];
    const auto name = "I1: ticket type " + to_string(t.id);
    if (t.held + t.sold > t.total) tell(out, name + " is oversold");
    if (t.held != sum.held)
      tell(out,
           name + " counts " + std::to_string(t.held) + " held, its claims hold " + std::to_string(sum.held));
    if (t.sold != sum.sold)
      tell(out, name + " counts " + std::to_string(t.sold) + " sold, its confirmed claims are "
                  + std::to_string(sum.sold));
  }
}

void audit_places(const audited_rows& rows, lines& out) {
  std::unordered_map<subject_key, queue_number> live;
  for (const auto& e : rows.entries) {
    if (!is_live(e.status)) continue;
    const auto [first, fresh] = live.try_emplace(e.subject, e.number);
    if (!fresh)
      tell(out, "I2: entries " + std::to_string(value_of(first->second)) + " and "
                  + std::to_string(value_of(e.number)) + " are live places of one subject");
  }
  std::map<customer_id, std::uint32_t> claims;
  for (const auto& c : rows.claims)
    if (is_live(c.status) && ++claims[c.customer] == rows.event.claims_per_customer + 1)
      tell(out, "I2: customer of claim " + to_string(c.id) + " has more live claims than allowed");
}

money refunded_value_of(const claim_item& i) { return price_of_one(i) * i.refunded; }

template <class Value>
money sum(const claim_row& c, Value value) {
  money total = 0;
  for (const auto& i : c.items) total += value(i);
  return total;
}

/// A claim may have captures beside its own: late money that is being refunded.
void audit_money(const audited_rows& rows, lines& out) {
  std::map<claim_id, std::vector<const payment_row*>> kept;
  std::map<payment_id, money> gone;
  for (const auto& r : rows.refunds)
    if (r.status == refund_status::succeeded) gone[r.payment] += r.amount;
  for (const auto& p : rows.payments) {
    if (is_kept(p.status)) kept[p.claim].push_back(&p);
    if (!rows.refunds.empty() && p.refunded != gone[p.id])
      tell(out, "I3: payment " + to_string(p.id) + " counts " + std::to_string(p.refunded)
                  + " refunded, its refunds are " + std::to_string(gone[p.id]));
  }
  for (const auto& c : rows.claims) {
    if (c.status != claim_status::confirmed || c.amount == 0) continue;
    const auto pays = [&](const payment_row* p) {
      return p->captured - p->tax == c.amount && p->amount == c.amount && p->other_currency.empty();
    };
    const auto& payers = kept[c.id];
    const auto payer = std::ranges::find_if(payers, pays);
    if (payer == payers.end()) {
      tell(out, "I4: claim " + to_string(c.id) + " is confirmed for " + std::to_string(c.amount)
                  + ", and no payment captured that");
      continue;
    }
    if (std::ranges::none_of(payers,
                             [&](const payment_row* p) { return p->refunded == sum(c, refunded_value_of); }))
      tell(out, "I3: claim " + to_string(c.id) + " has tickets refunded for "
                  + std::to_string(sum(c, refunded_value_of)) + ", and no payment of it gave that back");
  }
}

void audit_locks(const audited_rows& rows, lines& out) {
  std::unordered_set<queue_number> sessions;
  for (const auto& e : rows.entries)
    if (e.status == entry_status::admitted) sessions.insert(e.number);
  for (const auto& l : rows.locks)
    if (!sessions.contains(l.number)) tell(out, "lock " + l.name + " is of no live session");
}

/// Valid event tickets against the units of confirmed claims.
void audit_event_tickets(const audited_rows& rows, lines& out) {
  using unit = std::pair<claim_id, std::uint32_t>;
  std::map<unit, std::int64_t> valid;
  for (const auto& t : rows.event_tickets)
    if (is_valid(t.status)) ++valid[{t.claim, t.ticket_type}];
  for (const auto& c : rows.claims)
    for (const auto& item : c.items) {
      const auto due = c.status == claim_status::confirmed ? std::int64_t{item.quantity} - item.refunded : 0;
      const auto found = valid.extract({c.id, item.ticket_type});
      const auto count = found ? found.mapped() : 0;
      if (count != due)
        tell(out, "I3: claim " + to_string(c.id) + " has " + std::to_string(due) + " tickets of type "
                    + std::to_string(item.ticket_type) + ", and " + std::to_string(count)
                    + " valid event tickets");
    }
  for (const auto& [of, count] : valid)
    tell(out, "I3: event tickets of claim " + to_string(of.first) + " are of type "
                + std::to_string(of.second) + ", which it does not have");
}

using claimed_seats = std::map<claim_id, std::map<std::uint32_t, std::int64_t>>;

/// The live seats of each claim, by ticket type; I1 for seats.
claimed_seats live_seats(const audited_rows& rows, lines& out) {
  claimed_seats live;
  std::unordered_map<std::uint32_t, claim_id> taken;
  for (const auto& s : rows.claim_seats) {
    if (!s.is_live) continue;
    ++live[s.claim][s.ticket_type];
    const auto [first, is_free] = taken.emplace(s.seat, s.claim);
    if (!is_free)
      tell(out, "I1: claims " + to_string(first->second) + " and " + to_string(s.claim) + " have the seat "
                  + std::to_string(s.seat));
  }
  return live;
}

std::int64_t units_taken(const claim_row& claim, const claim_item& item) {
  if (is_live(claim.status)) return item.quantity;
  return claim.status == claim_status::confirmed ? std::int64_t{item.quantity} - item.refunded : 0;
}

/// Each valid event ticket of a type with seats has a live seat of its claim, and no other ticket has it.
void audit_ticket_seats(const audited_rows& rows, const seating& seats, lines& out) {
  std::map<std::pair<claim_id, std::uint32_t>, std::int64_t> left;
  for (const auto& s : rows.claim_seats)
    if (s.is_live) left[{s.claim, s.seat}] = 1;
  for (const auto& t : rows.event_tickets)
    if (is_valid(t.status) && seats.has_seats(t.ticket_type)
        && (t.seat == 0 || left[{t.claim, t.seat - 1}]-- != 1))
      tell(out, "I1: event ticket " + to_string(t.id) + " has no seat of its claim of its own");
}

/// Live seats against the units of each claim, and all seats against the plan.
void audit_claim_seats(const audited_rows& rows, const seating& seats, claimed_seats live, lines& out) {
  for (const auto& s : rows.claim_seats)
    if (s.seat >= seats.map().size())
      tell(out, "I1: claim " + to_string(s.claim) + " has the seat " + std::to_string(s.seat)
                  + ", which is not in the plan");
  const auto tell_seats = [&out](const claim_id& claim, std::uint32_t type, std::int64_t count,
                                 std::int64_t due) {
    tell(out, "I1: claim " + to_string(claim) + " has " + std::to_string(count) + " seats of type "
                + std::to_string(type) + " for " + std::to_string(due) + " units");
  };
  for (const auto& c : rows.claims)
    for (const auto& item : c.items) {
      const auto found = live[c.id].extract(item.ticket_type);
      const auto count = found ? found.mapped() : 0;
      const auto due = seats.has_seats(item.ticket_type) ? units_taken(c, item) : 0;
      if (count != due) tell_seats(c.id, item.ticket_type, count, due);
    }
  for (const auto& [claim, types] : live)
    for (const auto& [type, count] : types) tell_seats(claim, type, count, 0);
}

/// Seats against claims, event tickets and stock.
void audit_seats(const audited_rows& rows, lines& out) {
  auto live = live_seats(rows, out);
  if (rows.plan == nullptr) return;
  std::optional<seating> seats;
  try {
    seats.emplace(*rows.plan, 0, rows.owned);
    for (const auto& s : rows.seat_settings) seats->load(s);
  } catch (const std::runtime_error& e) { return tell(out, std::string{"I1: "} + e.what()); }
  audit_claim_seats(rows, *seats, std::move(live), out);
  for (const auto& t : rows.ticket_types)
    if (seats->governs(t.ordinal) && t.total != seats->units_of(t.ordinal))
      tell(out, "I1: ticket type " + to_string(t.id) + " has " + std::to_string(t.total) + " units, its plan "
                  + std::to_string(seats->units_of(t.ordinal)));
  if (rows.has_settled_tickets) audit_ticket_seats(rows, *seats, out);
}

/// A valid event ticket is in or out as its last admitted scan says.
void audit_scans(const audited_rows& rows, lines& out) {
  std::unordered_map<event_ticket_id, const scan_row*> last;
  for (const auto& s : rows.scans) {
    if (!s.is_admitted) continue;
    auto& known = last[s.ticket];
    if (known == nullptr || std::tie(known->at, known->id) < std::tie(s.at, s.id)) known = &s;
  }
  for (const auto& t : rows.event_tickets) {
    const auto found = last.find(t.id);
    if (found == last.end() || !is_valid(t.status)) continue;
    const auto due = found->second->type == scan_type::entry ? event_ticket_status::checked_in
                                                             : event_ticket_status::checked_out;
    if (t.status != due)
      tell(out, "I10: event ticket " + to_string(t.id) + " is " + std::string{name_of(t.status)}
                  + ", its last scan was an " + std::string{name_of(found->second->type)});
  }
}

/// Whether the order's status matches its claim.
bool agree(order_status order, const claim_row& claim) {
  const bool some_back = std::ranges::any_of(claim.items, [](const claim_item& i) { return i.refunded > 0; });
  switch (order) {
    case order_status::pending:
      return claim.status == claim_status::claimed || claim.status == claim_status::expiring;
    case order_status::awaiting_payment:
      return claim.status == claim_status::claimed || claim.status == claim_status::expiring;
    case order_status::success: return claim.status == claim_status::confirmed && !some_back;
    case order_status::failed:
    case order_status::cancelled:
      return claim.status == claim_status::released || claim.status == claim_status::expiring;
    case order_status::partially_refunded: return claim.status == claim_status::confirmed && some_back;
    case order_status::refunded: return claim.status == claim_status::refunded;
  }
  return false;
}

void audit_orders(const audited_rows& rows, lines& out) {
  std::unordered_map<claim_id, const claim_row*> claims;
  for (const auto& c : rows.claims) claims.emplace(c.id, &c);
  for (const auto& o : rows.orders) {
    const auto name = "I4: order " + to_string(o.id);
    const auto found = claims.find(o.claim);
    if (found == claims.end()) {
      tell(out, name + " has no claim");
      continue;
    }
    const auto& c = *found->second;
    if (!agree(o.status, c))
      tell(out,
           name + " is " + std::string{name_of(o.status)} + ", its claim " + std::string{name_of(c.status)});
    if (o.total != c.amount || fees_of(c) != o.platform_fee + o.processing_fee)
      tell(out, name + " costs " + std::to_string(o.total) + ", its claim " + std::to_string(c.amount));
  }
}

void audit_promo_codes(const audited_rows& rows, lines& out) {
  std::map<std::uint32_t, std::uint32_t> uses;
  for (const auto& c : rows.claims)
    if (c.promo != 0 && (is_live(c.status) || c.status == claim_status::confirmed)) ++uses[c.promo - 1];
  for (const auto& p : rows.promo_codes) {
    const auto name = "I4: promo code " + p.code;
    if (p.uses != uses[p.ordinal])
      tell(out, name + " counts " + std::to_string(p.uses) + " uses, its claims are "
                  + std::to_string(uses[p.ordinal]));
    if (p.uses_max != 0 && p.uses > p.uses_max) tell(out, name + " is used more often than it may be");
  }
}

template <class Row>
void tell_differences(const Row& memory, const Row& stored, const std::string& name, lines& out) {
  each_field<Row>(
    [&](const auto& field, const auto& expected, const auto& found) {
      if (field.when != written::counted && expected != found)
        tell(out, name + " has another " + field.name + " in the ledger");
    },
    memory, stored);
}

/// A setting that says what the plan says is the same as none.
bool settings_differ(const audited_memory& memory, const audited_rows& rows) {
  std::map<std::uint32_t, seat_setting_row> stored;
  for (const auto& row : rows.seat_settings) stored.emplace(row.seat, row);
  for (const auto& [seat, row] : memory.seat_settings) {
    const auto found = stored.extract(seat);
    if (!found || found.mapped() != row) return true;
  }
  const bool has_plan = rows.owned != nullptr && rows.plan != nullptr && rows.owned->row() == *rows.plan;
  return has_plan && std::ranges::any_of(stored, [&](const auto& s) {
           const auto& map = rows.owned->map();
           return s.second.is_blocked || s.first >= map.size()
                  || s.second.ticket_type != map.type_in_plan(s.first);
         });
}

} // namespace

std::vector<std::string> contradictions(const audited_rows& rows) {
  lines out;
  audit_stock(rows, out);
  audit_places(rows, out);
  audit_money(rows, out);
  if (rows.has_settled_tickets) audit_event_tickets(rows, out);
  audit_seats(rows, out);
  audit_scans(rows, out);
  audit_orders(rows, out);
  audit_promo_codes(rows, out);
  audit_locks(rows, out);
  return out;
}

bool is_audited(const change& c) {
  return std::holds_alternative<event_changed>(c) || std::holds_alternative<ticket_type_added>(c)
         || std::holds_alternative<ticket_type_changed>(c) || std::holds_alternative<seats_taken>(c)
         || std::holds_alternative<seats_ended>(c) || std::holds_alternative<seats_set>(c)
         || std::holds_alternative<event_plan_removed>(c) || std::holds_alternative<lock_taken>(c)
         || std::holds_alternative<lock_freed>(c);
}

void audited_memory::apply(const changes& content) {
  for (const auto& c : content)
    if (const auto* changed = std::get_if<event_changed>(&c))
      event = changed->event;
    else if (const auto* added = std::get_if<ticket_type_added>(&c))
      ticket_types.push_back(added->row);
    else if (const auto* moved = std::get_if<ticket_type_changed>(&c))
      if (moved->row.ordinal < ticket_types.size())
        copy_updated(ticket_types[moved->row.ordinal], moved->row);
  for (const auto& c : content)
    if (const auto* taken = std::get_if<seats_taken>(&c))
      for (const auto& s : taken->rows) seats[s.seat] = s.claim;
    else if (const auto* ended = std::get_if<seats_ended>(&c))
      for (const auto n : ended->seats) seats.erase(n);
    else if (const auto* locked = std::get_if<lock_taken>(&c))
      locks[locked->row.name] = locked->row.number;
    else if (const auto* freed = std::get_if<lock_freed>(&c))
      locks.erase(freed->name);
    else if (const auto* set = std::get_if<seats_set>(&c))
      for (const auto& s : set->rows) seat_settings[s.seat] = s;
    else if (std::holds_alternative<event_plan_removed>(c))
      seat_settings.clear();
}

std::vector<std::string> differences(const audited_memory& memory, const audited_rows& rows) {
  lines out;
  tell_differences(memory.event, rows.event, "the event", out);
  if (memory.ticket_types.size() != rows.ticket_types.size())
    tell(out, "the ledger has another number of ticket types");
  for (std::size_t i = 0; i < std::min(memory.ticket_types.size(), rows.ticket_types.size()); ++i)
    tell_differences(memory.ticket_types[i], rows.ticket_types[i],
                     "ticket type " + to_string(memory.ticket_types[i].id), out);
  std::map<std::uint32_t, claim_id> taken;
  for (const auto& s : rows.claim_seats)
    if (s.is_live) taken[s.seat] = s.claim;
  if (taken != memory.seats) tell(out, "the ledger has other seats of claims");
  std::map<std::string, queue_number> locked;
  for (const auto& l : rows.locks) locked[l.name] = l.number;
  if (locked != memory.locks) tell(out, "the ledger has other locks of sessions");
  if (settings_differ(memory, rows)) tell(out, "the ledger has other settings of seats");
  return out;
}

} // namespace fq
