// SPDX-License-Identifier: Apache-2.0
#include "actors/outbox/fan_out.hpp"

#include "actors/protocol/notice_messages.hpp"
#include "domain/base/planted.hpp"
#include "domain/delivery/outbox.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace fq {
namespace {

uuid id_in(const boost::json::object& payload, std::string_view name) {
  const auto* v = payload.if_contains(name);
  const auto* text = v ? v->if_string() : nullptr;
  return text ? parse_uuid(std::string_view{text->data(), text->size()}).value_or(uuid{}) : uuid{};
}

timestamp time_in(const boost::json::object& payload, std::string_view name) {
  const auto* v = payload.if_contains(name);
  const auto* ms = v ? v->if_int64() : nullptr;
  return ms ? from_unix_ms(*ms) : never;
}

timestamp first_of(timestamp a, timestamp b) {
  if (!is_set(a)) return b;
  return is_set(b) ? std::min(a, b) : a;
}

/// As another tenant hears of a change of an account: without the address, of which it knows only what the
/// customer wrote in an order.
told told_to(tenant_id tenant, told what) {
  auto payload = boost::json::parse(what.payload);
  payload.as_object()["email"] = nullptr;
  what.payload = boost::json::serialize(payload);
  what.tenant = tenant;
  return what;
}

template <class T>
void sort_out(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
}

} // namespace

told told_of(const outbox_item& item) {
  told t{.id = item.row.id,
         .tenant = item.tenant,
         .organizer = item.organizer,
         .topic = item.row.topic,
         .payload = item.row.payload,
         .holders = {},
         .concerns_all = item.row.topic == topic::event_cancelled,
         .created_at = item.row.created_at,
         .expires_at = never};
  boost::json::monotonic_resource memory; // of all parts, freed at once
  boost::system::error_code error;
  const auto parsed = boost::json::parse(item.row.payload, error, &memory);
  const auto* payload = error ? nullptr : parsed.if_object();
  if (payload == nullptr) return t;
  for (const auto* name : {"customer_id", "entry_id"})
    if (const auto holder = id_in(*payload, name); !holder.is_nil()) t.holders.push_back(holder);
  // The notice expires with the customer's turn.
  if (t.topic == topic::turn_granted)
    t.expires_at = first_of(time_in(*payload, "claim_by"), time_in(*payload, "session_expires_at"));
  if (t.topic == topic::quota_invitation) t.expires_at = time_in(*payload, "valid_until");
  return t;
}

consumer_handle::behavior_type fan_out(consumer_handle::stateful_pointer<fan_out_state> self,
                                       const fan_out_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

consumer_handle::behavior_type fan_out_state::behavior() {
  return {[this](const consume_outbox& x) { on_batch(x); }};
}

template <class Reply, class Message, class Then, class Failed>
void fan_out_state::ask(Message message, Then then, Failed failed) {
  self_->request(services_->ledgers.reader(1), fan_out_timeout, std::move(message))
    .then([then, failed](const Reply& reply) { reply.no ? failed() : then(reply); },
          [failed](const caf::error&) { failed(); });
}

bool fan_out_state::goes(const told& what, medium m) const {
  return !services_->routing_of || services_->routing_of(what.tenant)->goes(what.topic, m);
}

std::vector<delivery_row> fan_out_state::deliveries_to(const told& what,
                                                       const notice_audience& audience) const {
  const auto devices = what.concerns_all || !goes(what, medium::push) ? std::span<const device_row>{}
                                                                      : std::span{audience.devices};
  const auto endpoints =
    goes(what, medium::webhook) ? std::span{audience.endpoints} : std::span<const webhook_endpoint_row>{};
  return deliveries_of(what, devices, endpoints);
}

// -- a batch

/// A slow ledger can make the dispatcher repeat a batch before the answer: a batch in flight is not started
/// again.
void fan_out_state::on_batch(const consume_outbox& x) {
  if (std::exchange(is_busy_, true)) return;
  auto w = std::make_shared<batch_work>();
  w->asker = caf::actor_cast<dispatcher_handle>(self_->current_sender());
  audience_filter wanted;
  for (const auto& item : *x.items) {
    auto t = told_of(item);
    if (has_crowd(t)) {
      if (is_broadcast_told(item, std::move(t))) w->done->push_back(item.key);
      continue;
    }
    wanted.holders.insert(wanted.holders.end(), t.holders.begin(), t.holders.end());
    wanted.tenants.push_back(t.tenant);
    if (t.topic == topic::user_updated)
      wanted.customers.insert(wanted.customers.end(), t.holders.begin(), t.holders.end());
    w->items.push_back(item);
    w->what.push_back(std::move(t));
  }
  if (w->items.empty()) return finish(w, true);
  sort_out(wanted.holders);
  sort_out(wanted.tenants);
  sort_out(wanted.customers);
  ask<audience_found>(
    find_audience{std::move(wanted)},
    [this, w](const audience_found& found) { on_audience(w, *found.content); },
    [this, w] { finish(w, false); });
}

void fan_out_state::on_audience(const batch& w, const notice_audience& audience) {
  std::vector<delivery_row> rows;
  const auto add = [&](const told& t) {
    std::ranges::move(deliveries_to(t, audience), std::back_inserter(rows));
  };
  for (const auto& t : w->what) {
    add(t);
    if (t.topic != topic::user_updated) continue;
    for (const auto& k : audience.known)
      if (k.tenant != t.tenant && std::ranges::find(t.holders, k.customer) != t.holders.end())
        add(told_to(k.tenant, t));
  }
  store(std::move(rows), [this, w](bool is_stored) { finish(w, is_stored); });
}

void fan_out_state::finish(const batch& w, bool is_done) {
  is_busy_ = false;
  for (const auto& item : w->items) {
    if (!is_done && !planted(bug::recipients_forgotten)) break;
    if (services_->log) services_->log(item);
    w->done->push_back(item.key);
  }
  self_->send(w->asker, outbox_consumed{w->done, {}});
}

void fan_out_state::store(std::vector<delivery_row> rows, continuation then) {
  if (services_->counts != nullptr) services_->counts->stored.add(rows.size());
  std::ranges::reverse(rows);
  store_some(std::make_shared<std::vector<delivery_row>>(std::move(rows)), std::move(then));
}

void fan_out_state::store_some(const std::shared_ptr<std::vector<delivery_row>>& rows, continuation then) {
  if (rows->empty()) return then(true);
  auto some = std::make_shared<std::vector<delivery_row>>();
  for (; !rows->empty() && some->size() < deliveries_per_transaction; rows->pop_back())
    some->push_back(std::move(rows->back()));
  ask<ack_reply>(
    store_deliveries{std::move(some)}, [this, rows, then](const ack_reply&) { store_some(rows, then); },
    [then] { then(false); });
}

// -- broadcast

bool fan_out_state::is_broadcast_told(const outbox_item& item, told what) {
  const bool is_known = broadcast_ && broadcast_->item.row.id == item.row.id;
  if (is_known && broadcast_->is_told) return true;
  if (broadcast_ && broadcast_->is_under_way) return false;
  if (!is_known)
    broadcast_ = std::make_shared<broadcast_work>(broadcast_work{.item = item, .what = std::move(what)});
  broadcast_->is_under_way = true;
  go_on(broadcast_);
  return false;
}

void fan_out_state::go_on(const broadcast& c) {
  if (c->is_begun) return tell_page(c);
  const auto pause = [c] { c->is_under_way = false; };
  ask<audience_found>(
    find_audience{{.tenants = {c->what.tenant}}},
    [this, c, pause](const audience_found& found) {
      store(deliveries_to(c->what, *found.content), [this, c, pause](bool is_stored) {
        c->is_begun = is_stored;
        is_stored ? tell_page(c) : pause();
      });
    },
    pause);
}

/// Reads and stores one page of devices.
void fan_out_state::tell_page(const broadcast& c) {
  ask<devices_reply>(
    find_crowd{{c->item.key.aggregate, c->after, broadcast_page, c->what.created_at}},
    [this, c](const devices_reply& found) { on_page(c, *found.devices); }, [c] { c->is_under_way = false; });
}

void fan_out_state::on_page(const broadcast& c, const std::vector<device_row>& devices) {
  const bool is_last = devices.size() < broadcast_page;
  auto after = devices.empty() ? c->after : devices.back().token;
  store(deliveries_of(c->what, devices, {}), [this, c, is_last, after = std::move(after)](bool is_stored) {
    if (is_stored) c->after = after;
    if (is_stored && !is_last) return tell_page(c);
    c->is_under_way = false;
    c->is_told = is_stored;
    if (is_stored && services_->log) services_->log(c->item);
  });
}

} // namespace fq
