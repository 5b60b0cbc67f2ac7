// SPDX-License-Identifier: Apache-2.0
// Devices, webhook endpoints and deliveries of the memory ledger.
#include "store/memory/memory_ledger.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace fq {
namespace {

bool contains(const auto& list, const auto& value) { return std::ranges::find(list, value) != list.end(); }

/// Whether the organizer of `mine` already has endpoints_per_organizer_max endpoints.
bool has_its_share(const auto& endpoints, const webhook_endpoint_row& mine) {
  const auto is_its = [&](const auto& e) {
    return e.second.tenant == mine.tenant && e.second.organizer == mine.organizer;
  };
  return !mine.organizer.is_nil()
         && static_cast<std::size_t>(std::ranges::count_if(endpoints, is_its)) >= endpoints_per_organizer_max;
}

/// See known_customer.
bool knows(const auto& image, const customer_id& customer) {
  const auto is_own = [&](const order_row& o) { return o.customer == customer && o.guest.is_nil(); };
  const auto has_had = [&](const transfer_row& t) {
    return t.giver == customer || (t.receiver == customer && t.status == transfer_status::accepted);
  };
  return std::ranges::any_of(image.orders, is_own)
         || std::ranges::find(image.event_tickets, customer, &event_ticket_row::holder)
              != image.event_tickets.end()
         || std::ranges::any_of(image.transfers, has_had);
}

} // namespace

notice_audience memory_ledger::audience(const audience_filter& filter) {
  notice_audience all;
  std::set<tenant_id> told(filter.tenants.begin(), filter.tenants.end());
  for (const auto& [number, state] : state_.aggregates)
    for (const auto& customer : filter.customers)
      if (state.image.event && knows(state.image, customer))
        all.known.push_back({customer, state.image.event->tenant});
  std::ranges::sort(all.known);
  const auto rest = std::ranges::unique(all.known);
  all.known.erase(rest.begin(), rest.end());
  for (const auto& k : all.known) told.insert(k.tenant);
  for (const auto& [id, d] : state_.devices)
    if (!is_set(d.gone_at) && contains(filter.holders, d.holder)) all.devices.push_back(d);
  for (const auto& [id, e] : state_.endpoints)
    if (e.is_enabled && told.contains(e.tenant)) all.endpoints.push_back(e);
  return all;
}

std::vector<device_row> memory_ledger::crowd(const crowd_filter& filter) {
  const auto* at = find(filter.aggregate);
  const auto has_place = [&](const uuid& holder) {
    if (owner_of(holder) == filter.aggregate) return true;
    if (at == nullptr) return false;
    const auto is_there = [&](const entry_row& e) {
      return e.subject == holder && e.status != entry_status::expired && e.status != entry_status::revoked;
    };
    const auto has_taken_over = [&](const transfer_row& x) {
      const auto ticket = std::ranges::find(at->image.event_tickets, x.ticket, &event_ticket_row::id);
      return x.receiver == holder && x.status == transfer_status::accepted && ticket->holder == holder
             && (is_valid(ticket->status) || ticket->updated_at >= filter.cancelled_at);
    };
    return std::ranges::any_of(at->image.entries, is_there)
           || std::ranges::find(at->image.orders, holder, &order_row::customer) != at->image.orders.end()
           || std::ranges::any_of(at->image.transfers, has_taken_over);
  };
  std::vector<device_row> devices;
  for (const auto& [id, d] : state_.devices)
    if (d.token > filter.after && !is_set(d.gone_at) && has_place(d.holder)) devices.push_back(d);
  std::ranges::sort(devices, {}, [](const device_row& d) { return std::tie(d.token, d.id); });
  devices.resize(std::min<std::size_t>(devices.size(), filter.limit));
  return devices;
}

void memory_ledger::store_deliveries(std::span<const delivery_row> rows) {
  for (const auto& r : rows) state_.deliveries.try_emplace({r.target, r.notice}, r);
}

std::vector<due_delivery> memory_ledger::take_deliveries(const due_filter& filter, timestamp now) {
  std::vector<delivery_row*> due;
  for (auto& [key, r] : state_.deliveries)
    if (r.way == filter.way && r.state == delivery_state::pending && r.due_at <= now
        && !contains(filter.busy_tenants, r.tenant)
        && (filter.per_target == 0 || !contains(filter.busy, r.target)))
      due.push_back(&r);
  std::ranges::sort(due, {}, [](const delivery_row* r) {
    return std::tuple{r->due_at, r->target, r->notice};
  });
  std::map<uuid, std::uint32_t> of_target;
  if (filter.per_target > 0)
    std::erase_if(due, [&](const delivery_row* r) {
      return ++of_target[r->target]
             > (contains(filter.trusted, r->target) ? filter.per_target : filter.per_other);
    });
  if (due.size() > filter.limit) due.resize(filter.limit);
  std::vector<due_delivery> taken;
  for (auto* r : due) {
    due_delivery one{*r, std::nullopt, std::nullopt};
    if (const auto d = state_.devices.find(r->target); d != state_.devices.end()) one.device = d->second;
    if (const auto e = state_.endpoints.find(r->target); e != state_.endpoints.end())
      one.endpoint = e->second;
    taken.push_back(std::move(one));
    r->due_at = now + filter.hold;
  }
  return taken;
}

void memory_ledger::settle_deliveries(std::span<const delivery_row> rows) {
  for (const auto& r : rows) {
    const auto found = state_.deliveries.find({r.target, r.notice});
    if (found == state_.deliveries.end() || found->second.state != delivery_state::pending) continue;
    auto& mine = found->second;
    std::tie(mine.state, mine.due_at, mine.attempts, mine.status, mine.reason, mine.ended_at) =
      std::tie(r.state, r.due_at, r.attempts, r.status, r.reason, r.ended_at);
  }
}

std::vector<delivery_row> memory_ledger::list_deliveries(const delivery_filter& filter) {
  const auto is_older = [&](const delivery_row& r) {
    return filter.before.is_nil()
           || std::pair{r.notice, r.target} < std::pair{filter.before, filter.before_target};
  };
  std::vector<delivery_row> rows;
  for (const auto& [key, r] : state_.deliveries) {
    const bool is_in_it = !filter.target.is_nil()   ? r.target == filter.target
                          : !filter.holder.is_nil() ? r.holder == filter.holder
                                                    : r.tenant == filter.tenant;
    if (is_in_it && is_older(r)) rows.push_back(r);
  }
  std::ranges::sort(rows, std::greater{}, [](const delivery_row& r) {
    return std::pair{r.notice, r.target};
  });
  if (rows.size() > filter.limit) rows.resize(filter.limit);
  return rows;
}

bool memory_ledger::replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice, timestamp now) {
  const auto found = state_.deliveries.find({target, notice});
  if (found == state_.deliveries.end() || found->second.tenant != tenant
      || found->second.state == delivery_state::pending)
    return false;
  auto& r = found->second;
  r.state = delivery_state::pending;
  r.due_at = now;
  r.expires_at = now + rules_of(channel::webhook).life;
  r.attempts = 0;
  r.ended_at = never;
  return true;
}

uuid memory_ledger::register_device(const device_row& device) {
  const auto same = std::ranges::find_if(state_.devices, [&](const auto& known) {
    return known.second.holder == device.holder && known.second.way == device.way
           && known.second.token == device.token;
  });
  auto stored = device;
  if (same != state_.devices.end()) stored.id = same->first;
  state_.devices.insert_or_assign(stored.id, stored);
  auto of_holder = list_devices(device.holder);
  for (std::size_t i = devices_per_holder_max; i < of_holder.size(); ++i)
    state_.devices.erase(of_holder[i].id);
  return stored.id;
}

std::vector<device_row> memory_ledger::list_devices(const uuid& holder) {
  std::vector<device_row> devices;
  for (const auto& [id, d] : state_.devices)
    if (d.holder == holder && !is_set(d.gone_at)) devices.push_back(d);
  std::ranges::sort(devices, std::greater{}, [](const device_row& d) {
    return std::pair{d.registered_at, d.id};
  });
  return devices;
}

bool memory_ledger::remove_device(const uuid& holder, const uuid& device) {
  const auto found = state_.devices.find(device);
  if (found == state_.devices.end() || found->second.holder != holder) return false;
  state_.devices.erase(found);
  return true;
}

void memory_ledger::end_device(const uuid& device, timestamp since, const std::string& reason, timestamp at) {
  const auto found = state_.devices.find(device);
  if (found == state_.devices.end()) return;
  const auto token = found->second.token;
  const auto way = found->second.way;
  for (auto& [id, d] : state_.devices) {
    if (d.token != token || d.way != way || is_set(d.gone_at) || d.registered_at > since) continue;
    d.gone_at = at;
    d.gone_reason = reason;
  }
}

bool memory_ledger::store_endpoint(const webhook_endpoint_row& endpoint) {
  const auto known = state_.endpoints.find(endpoint.id);
  const bool is_new = !is_set(endpoint.replaces), is_there = known != state_.endpoints.end();
  if (is_new && is_there) return known->second.updated_at == endpoint.updated_at; // a repeated call
  if (is_new
      && (list_endpoints(endpoint.tenant).size() >= endpoints_per_tenant_max
          || has_its_share(state_.endpoints, endpoint)))
    return false;
  if (!is_new
      && (!is_there || known->second.tenant != endpoint.tenant
          || known->second.updated_at != endpoint.replaces))
    return false;
  state_.endpoints.insert_or_assign(endpoint.id, endpoint).first->second.replaces = never;
  return true;
}

std::vector<webhook_endpoint_row> memory_ledger::list_endpoints(tenant_id tenant) {
  std::vector<webhook_endpoint_row> endpoints;
  for (const auto& [id, e] : state_.endpoints)
    if (e.tenant == tenant) endpoints.push_back(e);
  return endpoints;
}

bool memory_ledger::disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since,
                                     timestamp at) {
  const auto found = state_.endpoints.find(endpoint);
  const bool took_some = std::ranges::any_of(state_.deliveries, [&](const auto& d) {
    return d.second.target == endpoint && d.second.state == delivery_state::delivered
           && d.second.ended_at > since;
  });
  if (found == state_.endpoints.end() || !found->second.is_enabled || found->second.updated_at > since
      || took_some)
    return false;
  found->second.is_enabled = false;
  found->second.off_reason = reason;
  mark_changed(found->second, at);
  found->second.replaces = never;
  return true;
}

bool memory_ledger::remove_endpoint(tenant_id tenant, const uuid& endpoint) {
  const auto found = state_.endpoints.find(endpoint);
  if (found == state_.endpoints.end() || found->second.tenant != tenant) return false;
  state_.endpoints.erase(found);
  return true;
}

std::size_t memory_ledger::prune_notices(const prune_bounds& bounds, std::size_t limit) {
  const auto before = limit;
  const auto is_old = [&](bool old) { return old && limit > 0 && limit-- > 0; };
  std::erase_if(state_.deliveries, [&](const auto& d) {
    return is_old(d.second.state != delivery_state::pending && d.second.ended_at < bounds.deliveries_before);
  });
  std::erase_if(state_.devices,
                [&](const auto& d) { return is_old(d.second.registered_at < bounds.devices_before); });
  return before - limit + prune_pictures(bounds.pictures_before, limit);
}

} // namespace fq
