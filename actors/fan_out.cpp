// SPDX-License-Identifier: Apache-2.0
#include "actors/fan_out.hpp"

#include "domain/outbox.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
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

template <class T>
void sort_out(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
}

} // namespace

told told_of(const outbox_item& item) {
  told t{.id = item.row.id, .tenant = item.tenant, .organizer = item.organizer, .topic = item.row.topic, .payload = item.row.payload, .holders = {},
         .concerns_all = item.row.topic == topic::event_cancelled, .created_at = item.row.created_at, .expires_at = never};
  boost::system::error_code error;
  const auto parsed = boost::json::parse(item.row.payload, error);
  const auto* payload = error ? nullptr : parsed.if_object();
  if (payload == nullptr) return t;
  for (const auto* name : {"customer_id", "entry_id"})
    if (const auto holder = id_in(*payload, name); !holder.is_nil()) t.holders.push_back(holder);
  if (t.topic == topic::turn_granted) t.expires_at = time_in(*payload, "session_expires_at"); // too late, it is no turn any more
  if (t.topic == topic::quota_invitation) t.expires_at = time_in(*payload, "valid_until");
  return t;
}

consumer_handle::behavior_type fan_out(consumer_handle::stateful_pointer<fan_out_state> self, const fan_out_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

consumer_handle::behavior_type fan_out_state::behavior() {
  return {[this](const consume_outbox& x) { on_batch(x); }};
}

/// An answer that does not come, or says no, ends the batch undone: it comes again.
template <class Reply, class Message>
void fan_out_state::ask(const work& w, Message message, void (fan_out_state::*then)(const work&, const Reply&)) {
  self_->request(services_->ledgers.reader(1), fan_out_timeout, std::move(message))
    .then([this, w, then](const Reply& reply) { reply.no ? finish(w, false) : (this->*then)(w, reply); }, [this, w](const caf::error&) { finish(w, false); });
}

void fan_out_state::on_batch(const consume_outbox& x) {
  auto w = std::make_shared<batch_work>();
  w->asker = caf::actor_cast<dispatcher_handle>(self_->current_sender());
  w->items = x.items;
  find_audience wanted;
  for (const auto& item : *x.items) {
    w->what.push_back(told_of(item));
    const auto& t = w->what.back();
    wanted.holders.insert(wanted.holders.end(), t.holders.begin(), t.holders.end());
    wanted.tenants.push_back(t.tenant);
  }
  sort_out(wanted.holders);
  sort_out(wanted.tenants);
  ask(w, std::move(wanted), &fan_out_state::on_audience);
}

void fan_out_state::on_audience(const work& w, const audience_found& found) {
  const auto& audience = *found.content;
  w->endpoints = audience.endpoints;
  std::vector<delivery_row> rows;
  for (const auto& t : w->what) {
    const auto devices = t.concerns_all || !goes(t, medium::push) ? std::span<const device_row>{} : std::span{audience.devices};
    const auto endpoints = goes(t, medium::webhook) ? std::span<const webhook_endpoint_row>{w->endpoints} : std::span<const webhook_endpoint_row>{};
    std::ranges::move(deliveries_of(t, devices, endpoints), std::back_inserter(rows));
  }
  store(w, std::move(rows));
}

void fan_out_state::store(const work& w, std::vector<delivery_row> rows) {
  if (services_->counts != nullptr) services_->counts->stored.add(rows.size());
  w->rows = std::move(rows);
  std::ranges::reverse(w->rows);
  store_some(w);
}

void fan_out_state::store_some(const work& w) {
  if (w->rows.empty()) return tell_crowds(w);
  auto some = std::make_shared<std::vector<delivery_row>>();
  for (; !w->rows.empty() && some->size() < deliveries_per_transaction; w->rows.pop_back()) some->push_back(std::move(w->rows.back()));
  ask(w, store_deliveries{std::move(some)}, &fan_out_state::on_stored);
}

bool fan_out_state::goes(const told& what, medium m) const { return !services_->routing_of || services_->routing_of(what.tenant)->goes(what.topic, m); }

/// What concerns everybody at an event is told a page of devices at a time.
void fan_out_state::tell_crowds(const work& w) {
  const auto is_crowd = [this](const told& t) { return t.concerns_all && goes(t, medium::push); };
  while (w->next_crowd < w->what.size() && !is_crowd(w->what[w->next_crowd])) ++w->next_crowd;
  if (w->next_crowd == w->what.size()) return finish(w, true);
  const crowd_filter filter{(*w->items)[w->next_crowd].key.aggregate, w->after, crowd_page};
  ask(w, find_crowd{filter}, &fan_out_state::on_crowd);
}

void fan_out_state::on_crowd(const work& w, const devices_reply& found) {
  const auto& devices = *found.devices;
  const auto& t = w->what[w->next_crowd];
  w->after = devices.empty() ? std::string{} : devices.back().token;
  if (devices.size() < crowd_page) {
    ++w->next_crowd;
    w->after = {};
  }
  store(w, deliveries_of(t, devices, {}));
}

void fan_out_state::finish(const work& w, bool is_done) {
  auto keys = std::make_shared<std::vector<outbox_key>>();
  if (is_done)
    for (const auto& item : *w->items) {
      if (services_->log) services_->log(item);
      keys->push_back(item.key);
    }
  self_->send(w->asker, outbox_consumed{std::move(keys)});
}

} // namespace fq
