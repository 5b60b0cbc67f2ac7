// SPDX-License-Identifier: Apache-2.0
// What the memory ledger keeps of a customer, for an export and before an erasure.
#include "store/memory/memory_ledger.hpp"
#include "store/memory/memory_tables.hpp"
#include "store/port/record_sql.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace fq {
namespace {

customer_record record_at(record_position at, std::uint32_t status, timestamp created_at,
                          timestamp changed_at, timestamp ended_at) {
  customer_record r;
  r.at = std::move(at);
  r.status = status;
  r.created_at = created_at;
  r.changed_at = changed_at;
  r.ended_at = ended_at;
  return r;
}

template <class Enum>
std::uint32_t number_of_state(Enum state) {
  return static_cast<std::uint32_t>(state);
}

/// The rows of an event. Scanned kinds: of all customers. Other kinds: of this customer.
void read_image(const aggregate_image& image, aggregate_id number, const customer_id& customer,
                std::vector<seen_record>& out) {
  using enum record_kind;
  const auto add = [&](customer_record r, const std::string& text = {}, money amount = 0,
                       std::uint64_t count = 0) -> seen_record& {
    r.text = text;
    r.amount = amount;
    r.count = count;
    return out.emplace_back(seen_record{std::move(r), {}, {}});
  };
  for (const auto& e : image.entries)
    add(record_at({place, number, value_of(e.number), 0, {}}, number_of_state(e.status), e.joined_at,
                  e.admitted_at, e.ended_at),
        {}, 0, e.priority_class)
      .subject = e.subject;
  for (const auto& c : image.claims) {
    std::uint64_t tickets = 0;
    for (const auto& i : c.items) tickets += i.quantity;
    add(record_at({claim, number, 0, 0, c.id}, number_of_state(c.status), c.created_at, c.expires_at,
                  c.ended_at),
        {}, c.amount, tickets)
      .subject = c.customer;
  }
  for (const auto& p : image.payments)
    add(record_at({payment, number, 0, 0, p.id}, number_of_state(p.status), p.created_at, p.updated_at, {}),
        p.gateway, p.amount, static_cast<std::uint64_t>(p.refunded))
      .subject = p.customer;
  for (const auto& p : image.priorities)
    if (p.customer == customer)
      add(record_at({priority, number, 0, 0, {}}, 0, p.created_at, {}, {}), {}, 0, p.priority_class);
  for (const auto& i : image.invitations)
    if (i.customer == customer)
      add(record_at({invitation, number, 0, 0, {}}, 0, i.told_at, {}, i.valid_until), {}, 0, i.quantity);
  for (const auto& t : image.event_tickets)
    if (t.holder == customer) {
      const auto* type = find_row(image.ticket_types, t.ticket_type);
      add(
        record_at({event_ticket, {}, 0, 0, t.id}, number_of_state(t.status), t.created_at, t.updated_at, {}),
        type != nullptr ? type->name : std::string{});
    }
  for (const auto& o : image.transfers)
    if (o.giver == customer || o.receiver == customer)
      add(record_at({transfer, {}, 0, 0, o.id}, number_of_state(o.status), o.created_at, o.expires_at,
                    o.ended_at),
          o.giver == customer ? "given" : "received");
  for (const auto& s : image.scans)
    if (const auto* t = find_row(image.event_tickets, s.ticket); t != nullptr && t->holder == customer) {
      const auto* list = find_row(image.checkin_lists, s.list);
      add(record_at({scan, {}, 0, 0, s.id}, number_of_state(s.type), s.at, {}, {}),
          list != nullptr ? list->name : std::string{}, 0, s.is_admitted ? 1 : 0);
    }
}

} // namespace

record_page memory_ledger::list_records(const record_filter& filter) {
  using enum record_kind;
  std::vector<seen_record> all;
  for (const auto& [number, state] : state_.aggregates) {
    const auto begin = all.size();
    read_image(state.image, number, filter.customer, all);
    for (const auto& o : state.outbox) {
      auto& seen = all.emplace_back();
      seen.record = record_at({mail, number, o.seq, o.ordinal, o.content.id}, 0, o.content.created_at, {},
                              o.delivered_at);
      seen.record.text = o.content.topic;
      seen.naming = o.content.payload;
    }
    for (const auto& l : state.dead_letters) {
      auto& seen = all.emplace_back();
      seen.record =
        record_at({letter, number, 0, 0, l.id}, number_of_state(l.status), l.created_at, l.updated_at, {});
      if (l.kind == dead_letter_kind::undelivered) seen.naming = l.payload;
    }
    if (!state.image.event) continue;
    for (auto i = begin; i < all.size(); ++i) all[i].record.event = state.image.event->id;
  }
  for (const auto& b : state_.aggregates.at(accounts_aggregate).image.blocks)
    if (b.customer == filter.customer)
      all.push_back({record_at({block, {}, static_cast<std::uint64_t>(b.tenant), 0, b.organizer}, 0,
                               b.created_at, {}, {}),
                     {},
                     {}});
  for (const auto& [id, d] : state_.devices)
    if (d.holder == filter.customer)
      all.push_back(
        {record_at({device, {}, 0, 0, id}, number_of_state(d.way), d.registered_at, {}, d.gone_at), {}, {}});
  std::map<uuid, seen_record> notices; // one for all devices
  for (const auto& [key, d] : state_.deliveries) {
    if (d.holder != filter.customer) continue;
    auto& r = notices[d.notice].record;
    const auto status = number_of_state(d.state);
    r.status = r.count == 0 ? status : std::min(r.status, status);
    r.created_at = r.count == 0 ? d.created_at : std::min(r.created_at, d.created_at);
    r.ended_at = std::max(r.ended_at, d.ended_at);
    r.at = {notice, {}, 0, 0, d.notice};
    r.text = d.topic;
    ++r.count;
  }
  for (auto& [id, seen] : notices) all.push_back(std::move(seen));
  std::erase_if(all, [&](const seen_record& s) {
    return s.record.at.kind != filter.after.kind || s.record.at <= filter.after;
  });
  std::ranges::sort(all, {}, [](const seen_record& s) { return s.record.at; });
  if (all.size() > filter.limit) all.resize(filter.limit);
  return page_of(filter, std::move(all));
}

open_purchase memory_ledger::find_open_purchase(const customer_id& customer) {
  auto found = open_purchase::none;
  for (const auto& [number, state] : state_.aggregates) {
    const auto has = [&](const auto& rows, auto is_one) {
      return std::ranges::any_of(rows, [&](const auto& r) { return r.customer == customer && is_one(r); });
    };
    const auto is_held_by_customer = [&](const order_row& o) { // else by a guest
      return std::ranges::any_of(
        state.image.claims, [&](const claim_row& c) { return c.id == o.claim && c.customer == o.customer; });
    };
    if (has(state.image.orders,
            [&](const order_row& o) { return is_open(o.status) && is_held_by_customer(o); })
        || has(state.image.payments, [](const payment_row& p) {
             return is_open(p.status) || p.status == payment_status::confirmed_late
                    || p.status == payment_status::refund_pending;
           }))
      return open_purchase::payment;
    if (has(state.image.claims, [](const claim_row& c) { return is_live(c.status); }))
      found = open_purchase::claim;
  }
  return found;
}

} // namespace fq
