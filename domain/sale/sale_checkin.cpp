// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about check-in. The state of a ticket follows from its admitted scans in the order of
// their times at the gates, whatever the order of their arrival: gates may be offline.
#include "domain/base/letters.hpp"
#include "domain/base/planted.hpp"
#include "domain/model/invalid_field.hpp"
#include "domain/sale/sale.hpp"

#include <algorithm>

namespace fq {
namespace {

bool contains(const std::string& whole, const std::string& part) {
  return !part.empty() && whole.find(part) != std::string::npos;
}

std::string full_name(const contact& c) {
  return c.last_name.empty() ? c.first_name : c.first_name + ' ' + c.last_name;
}

} // namespace

// -- lists and devices

refusal sale::patch_list(const checkin_list_patch& p, checkin_list_row& row) const {
  if (p.name.given) row.name = p.name.value;
  if (row.name.empty()) return invalid_field("name", "is required");
  if (p.mode.given) row.mode = p.mode.value;
  if (p.gates.given) {
    row.gates.clear();
    for (const auto& gate : p.gates.value) row.gates += (row.gates.empty() ? "" : "\n") + gate;
  }
  if (!p.ticket_types.given) return {};
  row.ticket_types = 0;
  for (const auto& id : p.ticket_types.value) {
    const auto* type = stock_.find(id);
    if (type == nullptr) return invalid_field("ticket_type_ids", "not a ticket type of this event");
    row.ticket_types |= std::uint64_t{1} << type->ordinal;
  }
  return {};
}

refusal sale::set_checkin_list(const checkin_list_patch& p, timestamp now, decision& out,
                               checkin_list_id& id) {
  checkin_list_row row;
  if (p.id.is_nil()) {
    if (checkin_.lists().size() >= rules_.bounds.checkin_lists) {
      refusal no{reason::too_many};
      no.first = static_cast<std::int64_t>(rules_.bounds.checkin_lists);
      return no;
    }
    row.id = make_uuid(now, event_.aggregate, random_());
    row.created_at = now;
  } else {
    const auto* old = checkin_.find_list(p.id);
    if (old == nullptr || is_set(old->removed_at)) return reason::not_found;
    row = *old;
  }
  if (auto no = patch_list(p, row)) return no;
  row.updated_at = now;
  if (p.remove) row.removed_at = now;
  id = row.id;
  checkin_.store(std::move(row), out.content);
  out.reveals = true;
  return {};
}

refusal sale::set_checkin_device(const checkin_device_patch& p, timestamp now, decision& out,
                                 checkin_device_id& id) {
  const auto* old = p.id.is_nil() ? nullptr : checkin_.find_device(p.id);
  if (old == nullptr && !p.id.is_nil()) return reason::not_found;
  if (old == nullptr && checkin_.devices().size() >= rules_.bounds.checkin_devices) {
    refusal no{reason::too_many};
    no.first = static_cast<std::int64_t>(rules_.bounds.checkin_devices);
    return no;
  }
  checkin_device_row row;
  if (old != nullptr) {
    row = *old;
  } else {
    for (const auto& list : p.lists)
      if (const auto* found = checkin_.find_list(list); found == nullptr || is_set(found->removed_at))
        return invalid_field("list_ids", "not a check-in list of this event");
    row.id = make_uuid(now, event_.aggregate, random_());
    row.label = p.label;
    row.gate = p.gate;
    row.lists = p.lists;
    row.secret_hash = p.secret_hash;
    row.may_force = p.may_force;
    row.created_at = now;
  }
  id = row.id;
  if (p.revoke && !is_set(row.revoked_at)) row.revoked_at = now;
  checkin_.store(std::move(row), out.content);
  out.reveals = true;
  return {};
}

// -- scans

scan_objection sale::objection_to(const scan_wish& wish, const event_ticket_row* ticket,
                                  const checkin_list_row& list) const {
  if (has_no_ticket(wish.code)) return wish.code;
  if (ticket == nullptr) return scan_objection::unknown_ticket;
  if (wish.code != scan_objection::none) return wish.code;
  if (event_.status == event_status::cancelled) return scan_objection::cancelled; // all codes are void
  if (wish.generation != 0 && wish.generation != ticket->generation) return scan_objection::transferred;
  if (const auto no = may_present(*ticket))
    return no.why == reason::refund_open ? scan_objection::refund_pending : scan_objection::cancelled;
  if (is_set(list.removed_at) || !list.admits(ticket->ticket_type)) return scan_objection::wrong_list;
  const bool is_in = ticket->status == event_ticket_status::checked_in;
  if (wish.type == scan_type::entry) return is_in ? scan_objection::already_in : scan_objection::none;
  if (list.mode == checkin_mode::entry) return scan_objection::no_exit;
  return is_in ? scan_objection::none : scan_objection::not_in;
}

/// The first entry since the last exit; null: none.
const scan_row* sale::entry_before(const event_ticket_id& ticket) const {
  const scan_row* entry = nullptr;
  const auto scans = checkin_.of_ticket(ticket);
  for (auto i = scans.rbegin(); i != scans.rend() && (*i)->type == scan_type::entry; ++i) entry = *i;
  return entry;
}

void sale::follow_scans(const event_ticket_id& ticket, const scan_row& newest, timestamp now, decision& out) {
  const auto scans = checkin_.of_ticket(ticket);
  const auto last = planted(bug::late_scan_moves_back) ? newest.type : scans.back()->type;
  const auto status = [&] { return event_tickets_.find(ticket)->status; };
  if (status() == event_ticket_status::issued || status() == event_ticket_status::transferred)
    event_tickets_.move(ticket, event_ticket_trigger::check_in, now, out.content);
  if (last == scan_type::entry && status() == event_ticket_status::checked_out)
    event_tickets_.move(ticket, event_ticket_trigger::check_in, now, out.content);
  if (last == scan_type::exit && status() == event_ticket_status::checked_in)
    event_tickets_.move(ticket, event_ticket_trigger::check_out, now, out.content);
}

scan_view sale::redeem(const checkin_device_id& device, const scan_wish& wish, timestamp now, decision& out) {
  scan_view answer;
  answer.scan.id = wish.id;
  const auto* known = checkin_.find(wish.id);
  if (known != nullptr && !planted(bug::scan_counted_twice)) {
    answer = view_of(*known);
    answer.is_replayed = true;
    if (known->ticket != wish.ticket || known->type != wish.type) answer.no = reason::scan_id_reused;
    return answer;
  }
  const auto* list = checkin_.find_list(wish.list);
  const auto& scanner = *checkin_.find_device(device);
  const auto& lists = scanner.lists;
  const bool may_use = lists.empty() || std::ranges::find(lists, wish.list) != lists.end();
  if (list == nullptr || !may_use) answer.no = reason::not_found;
  if (checkin_.scans() >= rules_.bounds.scans || checkin_.scans_of(device) >= rules_.bounds.scans_of_device)
    answer.no = reason::too_many;
  if (answer.no != reason::none) return answer;

  const auto* ticket = event_tickets_.find(wish.ticket);
  if (ticket != nullptr && checkin_.of_ticket(ticket->id).size() >= rules_.bounds.scans_of_ticket) {
    answer.no = reason::too_many;
    return answer;
  }
  const auto objection = wish.refused ? wish.objection : objection_to(wish, ticket, *list);
  const auto earliest = std::max(now - scan_age_max, ticket != nullptr ? ticket->created_at : never);
  scan_row row{wish.id, wish.list, device, wish.ticket, wish.type};
  if (known != nullptr) row.id.lo ^= 1; // planted
  const bool passes = wish.passed || (wish.force && scanner.may_force);
  row.is_forced = passes && !wish.refused;
  row.is_admitted =
    !wish.refused
    && (objection == scan_objection::none || (passes && ticket != nullptr && !has_no_ticket(objection)));
  row.objection = objection;
  if (objection == scan_objection::already_in)
    if (const auto* entry = entry_before(wish.ticket)) row.earlier = entry->id;
  row.at = std::clamp(is_set(wish.at) ? wish.at : now, earliest, now);
  row.received_at = now;
  if (row.is_admitted || checkin_.refused() < rules_.bounds.refused_scans) {
    checkin_.record(row, out.content);
    out.reveals = true;
  }
  if (row.is_admitted) follow_scans(row.ticket, row, now, out);
  return view_of(row);
}

// -- views

scan_place sale::place_of(const scan_row& scan) const {
  const auto* list = checkin_.find_list(scan.list);
  const auto* device = checkin_.find_device(scan.device);
  scan_place place{scan};
  if (list != nullptr) place.list = list->name;
  if (device != nullptr) {
    place.gate = device->gate;
    place.device = device->label;
  }
  return place;
}

scan_view sale::view_of(const scan_row& scan) const {
  scan_view v;
  v.scan = scan;
  if (const auto* earlier = checkin_.find(scan.earlier)) v.earlier = place_of(*earlier);
  const auto* ticket = event_tickets_.find(scan.ticket);
  if (ticket != nullptr && !has_no_ticket(scan.objection)) v.ticket = at_gate({&ticket, 1}).front();
  return v;
}

std::vector<checkin_ticket> sale::at_gate(ticket_rows tickets) const {
  const auto pending = pending_refunds(tickets);
  std::vector<checkin_ticket> views;
  for (const auto* t : tickets) {
    auto& v = views.emplace_back();
    v.ticket = *t;
    v.type = stock_.types()[t->ticket_type].name;
    v.refund_pending = std::ranges::binary_search(pending, t->id);
    auto seat = seat_of(*t);
    v.seat = std::move(seat.name);
    v.place = std::move(seat.place);
    const auto* order = orders_.of_claim(t->claim);
    if (order != nullptr) v.order = order->id;
    if (order != nullptr && order->customer == t->holder) v.name = full_name(order->contact);
    if (const auto scans = checkin_.of_ticket(t->id); !scans.empty()) v.last = place_of(*scans.back());
  }
  return views;
}

checkin_conflict sale::conflict_of(const event_ticket_id& ticket) const {
  const auto* row = event_tickets_.find(ticket);
  checkin_conflict conflict{at_gate({&row, 1}).front()};
  for (const auto* scan : checkin_.of_ticket(ticket)) conflict.scans.push_back(place_of(*scan));
  return conflict;
}

std::vector<checkin_type_count> sale::checkin_counts() const {
  std::vector<checkin_type_count> counts;
  for (const auto& type : stock_.types()) {
    checkin_type_count c{type.id, type.name};
    const auto of = [&](event_ticket_status s) { return event_tickets_.count(type.ordinal, s); };
    c.in = of(event_ticket_status::checked_in);
    c.out = of(event_ticket_status::checked_out);
    c.valid = of(event_ticket_status::issued) + of(event_ticket_status::transferred) + c.in + c.out;
    counts.push_back(std::move(c));
  }
  return counts;
}

/// `id`: of an event ticket, an order or a claim.
std::vector<const event_ticket_row*> sale::tickets_of_id(const uuid& id) const {
  if (const auto* ticket = event_tickets_.find(id)) return {ticket};
  const auto* order = orders_.find(id);
  return event_tickets_.of_claim(order != nullptr ? order->claim : id);
}

std::vector<checkin_ticket> sale::find_at_gate(const checkin_list_row& list, std::string_view text,
                                               std::size_t limit) const {
  std::vector<const event_ticket_row*> found; // whose holders may come
  std::vector<const event_ticket_row*> others; // in or cancelled
  const auto add = [&](const event_ticket_row* ticket) {
    const bool is_other =
      ticket->status == event_ticket_status::checked_in || ticket->status == event_ticket_status::cancelled;
    auto& part = is_other ? others : found;
    if (part.size() < limit && list.admits(ticket->ticket_type)) part.push_back(ticket);
  };
  const auto joined = [&] {
    others.resize(std::min(others.size(), limit - found.size()));
    found.insert(found.end(), others.begin(), others.end());
    return at_gate(found);
  };
  if (const auto id = parse_uuid(text)) {
    for (const auto* ticket : tickets_of_id(*id)) add(ticket);
    return joined();
  }
  std::size_t looked_at = 0;
  const bool may_be_id =
    text.size() >= gate_id_min && text.find_first_not_of("0123456789abcdefABCDEF-") == std::string_view::npos;
  const auto wanted = folded(text);
  const auto& orders = orders_.all();
  for (auto i = orders.rbegin(); i != orders.rend() && found.size() < limit; ++i) {
    if (++looked_at > gate_search_max) break;
    const auto& order = i->second;
    if (is_open(order.status)) continue;
    const bool is_name = contains(folded(full_name(order.contact)), wanted);
    const bool is_order = may_be_id && contains(to_string(order.id), wanted);
    if (!is_name && !may_be_id) continue;
    for (const auto* ticket : event_tickets_.of_claim(order.claim))
      if ((is_name && ticket->holder == order.customer) || is_order
          || (may_be_id && contains(to_string(ticket->id), wanted)))
        add(ticket); // the buyer's name finds no ticket that he gave away
  }
  return joined();
}

} // namespace fq
