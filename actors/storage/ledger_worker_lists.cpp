// SPDX-License-Identifier: Apache-2.0
// The part of the ledger worker that reads committed rows of many aggregates, page by page.
#include "actors/storage/ledger_worker.hpp"

#include "domain/base/planted.hpp"
#include "domain/sale/inventory.hpp"

#include <algorithm>
#include <utility>

namespace fq {

event_list_reply ledger_worker_state::list(const list_events& x) {
  event_list_reply reply;
  event_filter filter;
  const bool is_organizer = x.by.kind == principal_kind::organizer;
  if (is_organizer && x.kind == event_kind::sale)
    filter.organizer = x.by.id;
  else if (x.by.kind != principal_kind::nobody)
    filter.tenant = x.by.tenant;
  filter.kind = x.kind;
  filter.external_id = x.external_id;
  filter.after = x.after;
  filter.limit = x.limit + 1;
  const bool read = reached([&] {
    for (auto& e : ledger_->list_events(filter))
      reply.events.push_back({std::move(e.event), std::move(e.ticket_types)});
  });
  if (!read) reply.no = reason::unavailable;
  reply.more = reply.events.size() > x.limit;
  if (reply.more) reply.events.resize(x.limit);
  for (auto& e : reply.events)
    e.sold_out =
      e.event.kind == event_kind::sale && std::ranges::none_of(e.ticket_types, inventory::has_unsold);
  if (x.by.kind == principal_kind::nobody)
    for (auto& e : reply.events)
      std::erase_if(e.ticket_types, [](const ticket_type_row& t) { return t.hidden; });
  return reply;
}

audit_reply ledger_worker_state::list(const list_audit& x) {
  audit_reply reply;
  const auto actor = x.by.kind == principal_kind::organizer ? name_of(x.by) : std::string{};
  if (!reached([&] { reply.rows = ledger_->audit({x.by.tenant, x.target, actor, x.before, x.limit + 1}); }))
    reply.no = reason::unavailable;
  reply.more = reply.rows.size() > x.limit && !planted(bug::page_ends_early);
  reply.rows.resize(std::min<std::size_t>(reply.rows.size(), x.limit));
  return reply;
}

order_list_reply ledger_worker_state::list(const fq::list_orders& x) {
  order_list_reply reply;
  if (!reached([&] { reply.orders = ledger_->list_orders({x.customer, x.before, x.limit + 1}); }))
    reply.no = reason::unavailable;
  reply.more = reply.orders.size() > x.limit;
  if (reply.more) reply.orders.resize(x.limit);
  return reply;
}

held_tickets_reply ledger_worker_state::list(const list_held_tickets& x) {
  held_tickets_reply reply;
  if (!reached([&] { reply.tickets = ledger_->list_event_tickets({x.holder, x.before, x.limit + 1}); }))
    reply.no = reason::unavailable;
  reply.more = reply.tickets.size() > x.limit;
  if (reply.more) reply.tickets.resize(x.limit);
  return reply;
}

transfers_reply ledger_worker_state::list(const fq::list_transfers& x) {
  transfers_reply reply;
  if (!reached([&] { reply.transfers = ledger_->list_transfers({x.customer, x.limit}); }))
    reply.no = reason::unavailable;
  return reply;
}

purchase_found ledger_worker_state::find(const fq::find_open_purchase& x) {
  purchase_found reply;
  reply.was_read = reached([&] { reply.what = ledger_->find_open_purchase(x.customer); });
  return reply;
}

tenant_plans_reply ledger_worker_state::list(const list_tenant_plans& x) {
  tenant_plans_reply reply;
  seat_plan_filter filter{.tenant = x.by.tenant, .id = x.id, .after = x.after, .limit = x.limit + 1};
  if (x.by.kind == principal_kind::organizer) filter.organizer = x.by.id;
  if (!reached([&] { reply.plans = ledger_->list_seat_plans(filter); })) reply.no = reason::unavailable;
  reply.more = reply.plans.size() > x.limit;
  if (reply.more) reply.plans.resize(x.limit);
  return reply;
}

statistics_reply ledger_worker_state::list(const fq::list_statistics& x) {
  statistics_reply reply;
  const bool read = reached([&] {
    reply.rows = ledger_->list_statistics({x.aggregate, x.from, x.to, x.step});
    if (x.with_figures) reply.figures = ledger_->figures(x.aggregate);
  });
  if (!read) reply.no = reason::unavailable;
  return reply;
}

records_reply ledger_worker_state::list(const fq::list_records& x) {
  records_reply reply;
  record_filter filter{x.customer, x.email, {}, x.after, x.limit};
  if (is_scanned(x.after.kind)) filter.limit = records_looked_at;
  const bool read = reached([&] {
    if (x.after.kind >= record_kind::mail)
      for (const auto& l : ledger_->list_orders({x.customer, {}, orders_with_mail}))
        filter.orders.push_back(to_string(l.order.id));
    reply.page = ledger_->list_records(filter);
  });
  if (!read) reply.no = reason::unavailable;
  return reply;
}

dead_letters_reply ledger_worker_state::list(const fq::list_dead_letters& x) {
  dead_letters_reply reply;
  dead_letter_filter filter{x.by.tenant, std::nullopt, x.is_open, x.before, x.limit + 1};
  if (x.by.kind == principal_kind::organizer) filter.organizer = x.by.id;
  if (!reached([&] { reply.letters = ledger_->list_dead_letters(filter); })) reply.no = reason::unavailable;
  reply.more = reply.letters.size() > x.limit;
  if (reply.more) reply.letters.resize(x.limit);
  return reply;
}

} // namespace fq
