// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about reserved seats: which ones a claim gets, which ones a refund names, and the
// organizer's changes. `seating` has the map.
#include "domain/model/invalid_field.hpp"
#include "domain/sale/limits.hpp"
#include "domain/sale/sale.hpp"

#include <algorithm>

namespace fq {
namespace {

/// What a seat_patch changes about seats. Without seats it changes rules only.
struct seat_changes {
  std::vector<seat_number> seats; ///< sorted
  std::optional<bool> is_blocked;
  std::optional<std::uint32_t> type;
};

refusal patch_rules(const seat_patch& patch, seat_rules& rules) {
  if (patch.singles.given) rules.singles = single_rule{patch.singles.value};
  if (rules.singles > single_rule::off) return invalid_field("singles", "no such rule");
  if (patch.may_split.given) rules.may_split = patch.may_split.value;
  if (patch.accessible_for_all.given) rules.accessible_for_all = patch.accessible_for_all.value;
  return {};
}

refusal wanted_changes(const seat_patch& patch, const seating& seating, const inventory& stock,
                       seat_changes& out) {
  if (!patch.ticket_type.is_nil()) {
    const auto* row = stock.find(patch.ticket_type);
    if (row == nullptr || !seating.has_seats(row->ordinal))
      return invalid_field("ticket_type_id", "must be a ticket type of the plan's seats");
    out.type = row->ordinal;
  }
  for (const auto& name : patch.seats) {
    const auto n = seating.map().plan().find(name);
    if (!n) return invalid_field("seats", "no such seat: " + name);
    out.seats.push_back(*n);
  }
  if (patch.is_blocked.given) out.is_blocked = patch.is_blocked.value;
  if (out.seats.empty()) {
    const bool has_rules_only = patch.has_rules() && !out.is_blocked && !out.type;
    return has_rules_only ? refusal{} : invalid_field("seats", "must have at least one");
  }
  std::ranges::sort(out.seats);
  if (std::ranges::adjacent_find(out.seats) != out.seats.end()) return invalid_field("seats", "given twice");
  const bool has_change = out.is_blocked || out.type;
  return has_change ? refusal{} : invalid_field("is_blocked", "is required without ticket_type_id");
}

} // namespace

void sale::load(const event_plan_row& row, std::uint64_t first_version) {
  seating_ = std::make_unique<seating>(row, first_version);
}

// -- what a customer wants

refusal sale::refusal_of(const seat_refusal& no) const {
  switch (no.why) {
    case seat_fault::none: return {};
    case seat_fault::taken: return {reason::seat_taken, seating_->names_of(no.seats)};
    case seat_fault::kept_accessible: return {reason::seat_accessible_only, seating_->names_of(no.seats)};
    case seat_fault::leaves_single: return {reason::seat_single, seating_->names_of(no.seats)};
    case seat_fault::repeated:
      return invalid_field("items.seats", seating_->names_of(no.seats) + " is given twice");
    case seat_fault::too_many: return reason::limit_exceeded;
    case seat_fault::unknown:
    case seat_fault::claim_known:
    case seat_fault::wrong_type: break; // checked before
  }
  return invalid_field("items.seats", "not possible");
}

/// The best seats, and an item for each of their ticket types.
refusal sale::best_items(const seat_wish& wish, timestamp now, wanted& out,
                         std::vector<item_wish>& items) const {
  const auto& best = wish.best;
  if (!seating_) return invalid_field("best", "the event has no seats");
  if (best.count > claim_seats_max) return reason::limit_exceeded;
  if (best.accessible > best.count)
    return invalid_field("best.accessible", "must be at most the number of seats");
  best_wish asked{best.count, best.accessible, {}, 0};
  if (!best.section.empty()) {
    asked.section = seating_->map().plan().find_section(best.section);
    if (!asked.section) return invalid_field("best.section", "no such section");
  }
  refusal closed = invalid_field("best.ticket_type_id", "has no seats on sale here");
  const auto refuse = [&closed](refusal no) { // the first reason that says more than this
    if (closed.why == reason::invalid_field) closed = std::move(no);
  };
  const bool is_of_one_type = best.accessible == 0;
  std::int64_t most = 0, all = 0; // free units of one type, and of all
  for (const auto& t : stock_.types()) {
    if (!seating_->has_seats(t.ordinal) || (!best.ticket_type.is_nil() && t.id != best.ticket_type)) continue;
    if (auto no = may_buy(t, is_of_one_type ? best.count : 1, out, now)) {
      refuse(std::move(no));
    } else if (is_of_one_type && best.count > t.max_per_order) {
      refuse(reason::limit_exceeded);
    } else {
      asked.types |= std::uint64_t{1} << t.ordinal;
      most = std::max(most, inventory::free_units(t));
      all += inventory::free_units(t);
    }
  }
  if (asked.types == 0) return closed;
  if ((is_of_one_type ? most : all) < std::int64_t{best.count}) return none_free(out, now);
  out.seats = fq::best(seating_->map(), asked, seating_->rules());
  if (out.seats.empty()) return reason::no_best_seats;
  for (const auto n : out.seats) {
    const auto& type = stock_.types()[seating_->map().type(n)].id;
    const auto item = std::ranges::find(items, type, &item_wish::ticket_type);
    if (item != items.end())
      ++item->quantity;
    else
      items.push_back({type});
  }
  return {};
}

refusal sale::named_seats(const item_wish& wish, std::uint32_t ticket_type,
                          std::vector<seat_number>& out) const {
  if (wish.seats.size() != wish.quantity)
    return invalid_field("items.quantity", "must be the number of seats");
  for (const auto& name : wish.seats) {
    const auto n = seating_->map().plan().find(name);
    if (!n) return invalid_field("items.seats", "no such seat: " + name);
    if (seating_->map().type(*n) != ticket_type)
      return invalid_field("items.seats", name + " is of another ticket type");
    out.push_back(*n);
  }
  return {};
}

/// The seats of the wanted items: those that the wishes name, else the best ones.
refusal sale::choose_seats(const std::vector<item_wish>& wishes, const seat_wish& wish, timestamp now,
                           wanted& out) const {
  std::size_t count = 0, with_seats = 0;
  for (const auto& item : out.items) {
    if (!seating_->has_seats(item.ticket_type)) continue;
    count += item.quantity;
    ++with_seats;
  }
  if (count > claim_seats_max) return reason::limit_exceeded;
  std::vector<seat_number> named;
  std::vector<priced_item> unnamed;
  for (std::size_t i = 0; i < out.items.size(); ++i) {
    const auto type = out.items[i].ticket_type;
    const auto* asked = wishes.empty() ? nullptr : &wishes[i];
    const bool has_names = asked != nullptr && !asked->seats.empty();
    if (!seating_->has_seats(type)) {
      if (has_names) return invalid_field("items.seats", "the ticket type has no seats");
      continue;
    }
    if (has_names) {
      if (auto no = named_seats(*asked, type, named)) return no;
    } else {
      unnamed.push_back(out.items[i]);
    }
  }
  const auto accessible = with_seats == 1 ? wish.asks_accessible : 0; // whose they are is clear then
  const auto is_accessible = [this](seat_number n) {
    return seating_->map().plan().seats()[n].has(seat_plan::accessible);
  };
  if (accessible < wish.asks_accessible && !unnamed.empty() && std::ranges::none_of(named, is_accessible))
    return reason::seat_accessible_unclear;
  std::size_t choices = 0;
  for (const auto& item : unnamed) {
    const auto quantity = item.quantity;
    if (inventory::free_units(stock_.types()[item.ticket_type]) < std::int64_t{quantity})
      return none_free(out, now);
    const auto types = std::uint64_t{1} << item.ticket_type;
    const best_wish best_of_type{quantity, std::min(accessible, quantity), {}, types};
    const auto best = fq::best(seating_->map(), best_of_type, seating_->rules());
    if (best.empty()) return reason::no_best_seats;
    out.seats.insert(out.seats.end(), best.begin(), best.end());
    ++choices;
  }
  if (!named.empty()) {
    const auto no = check_choice(seating_->map(), {named, wish.asks_accessible}, seating_->rules());
    if (no) return refusal_of(no);
    out.seats.insert(out.seats.end(), named.begin(), named.end());
    ++choices;
  }
  std::ranges::sort(out.seats);
  // Each choice keeps the rule alone; together they may leave a single.
  const bool may_leave_single = choices > 1 && seating_->rules().singles == single_rule::strict;
  return may_leave_single
           ? refusal_of(check_choice(seating_->map(), {out.seats, claim_seats_max}, seating_->rules()))
           : refusal{};
}

// -- event tickets

/// The seats of the claim and type that have no valid event ticket.
std::vector<seat_number> sale::seats_to_issue(const claim_id& claim, std::uint32_t ticket_type) const {
  std::vector<seat_number> seats;
  if (!seating_) return seats;
  const auto tickets = event_tickets_.of_claim(claim);
  for (const auto n : seating_->seats_of(claim)) {
    const auto has_it = [&](const event_ticket_row* t) { return is_valid(t->status) && t->seat == n + 1; };
    if (seating_->map().type(n) == ticket_type && std::ranges::none_of(tickets, has_it)) seats.push_back(n);
  }
  std::ranges::sort(seats);
  return seats;
}

/// Replaces the seats that the wish names by their event tickets.
refusal sale::tickets_of_seats(const claim_id& claim, refund_wish& wish) const {
  for (auto& item : wish.items) {
    for (const auto& name : item.seats) {
      const auto n = seating_ ? seating_->map().plan().find(name) : std::nullopt;
      const auto tickets = event_tickets_.of_claim(claim);
      const auto its = std::ranges::find_if(
        tickets, [&](const event_ticket_row* t) { return n && is_valid(t->status) && t->seat == *n + 1; });
      if (its == tickets.end()) return invalid_field("items.seats", "not a seat of this order: " + name);
      wish.event_tickets.push_back((*its)->id);
    }
    item.seats.clear();
  }
  return {};
}

// -- the organizer's changes

/// The totals of the governed ticket types become the units of the plan.
void sale::follow_plan(decision& out) {
  const auto types = stock_.types();
  for (auto row : types) {
    if (!seating_->governs(row.ordinal) || row.total == seating_->units_of(row.ordinal)) continue;
    row.total = seating_->units_of(row.ordinal);
    stock_.change_type(row, out.content);
  }
}

/// A type whose seats were all blocked has no units, which only a plan may say.
void sale::leave_plan(const seating& before, decision& out) {
  const auto types = stock_.types();
  for (auto row : types) {
    if (!before.governs(row.ordinal) || row.total != 0) continue;
    row.total = 1;
    stock_.change_type(row, out.content);
  }
}

refusal sale::set_plan(std::shared_ptr<const seat_plan> plan, const std::vector<ticket_type_id>& types,
                       const seat_rules& rules, timestamp, decision& out) {
  if (event_.status != event_status::draft)
    return {reason::invalid_transition, std::string{name_of(event_.status)}};
  std::vector<std::uint8_t> ordinals;
  for (const auto& id : types) {
    const auto* type = stock_.find(id);
    if (type == nullptr) return invalid_field("ticket_types", "no such ticket type");
    ordinals.push_back(static_cast<std::uint8_t>(type->ordinal));
  }
  if (plan != nullptr)
    if (auto no = may_seat(*plan, ordinals)) return no;
  const auto before = std::move(seating_);
  if (before) {
    next_map_version_ = before->map().version() + 1;
    out.content.emplace_back(std::in_place_type<event_plan_removed>);
  }
  out.reveals = true;
  if (plan != nullptr) {
    seating_ = std::make_unique<seating>(std::move(plan), std::move(ordinals), rules, next_map_version_);
    out.content.emplace_back(std::in_place_type<event_plan_set>, event_plan_set{seating_->row()});
    follow_plan(out);
  }
  if (before) leave_plan(*before, out);
  return {};
}

refusal sale::set_seats(const seat_patch& patch, timestamp, decision& out) {
  if (event_.status == event_status::ended || event_.status == event_status::cancelled)
    return {reason::invalid_transition, std::string{name_of(event_.status)}};
  if (!seating_) return reason::not_found;
  auto rules = seating_->rules();
  if (auto no = patch_rules(patch, rules)) return no;
  seat_changes wanted;
  if (auto no = wanted_changes(patch, *seating_, stock_, wanted)) return no;
  if (!wanted.seats.empty()) {
    if (const auto no = seating_->set(wanted.seats, wanted.is_blocked, wanted.type, out.content))
      return refusal_of(no);
    follow_plan(out);
  }
  if (patch.has_rules()) seating_->set(rules, out.content);
  out.reveals = true;
  return {};
}

} // namespace fq
