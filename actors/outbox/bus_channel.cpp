// SPDX-License-Identifier: Apache-2.0
#include "actors/outbox/bus_channel.hpp"

#include "domain/delivery/outbox.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace fq {
namespace {

bus_message message_of(const outbox_item& item) {
  bus_message m;
  m.what.id = item.row.id;
  m.what.topic = item.row.topic;
  m.what.payload = item.row.payload;
  m.what.tenant = item.tenant;
  m.what.created_at = item.row.created_at;
  m.aggregate = item.key.aggregate;
  m.seq = item.key.seq;
  m.ordinal = item.key.ordinal;
  return m;
}

/// Accounts and catalog have no dead letters: their rejected rows are only logged.
bool has_dead_letters(aggregate_id aggregate) {
  return number_of(aggregate) >= number_of(first_event_aggregate);
}

} // namespace

consumer_handle::behavior_type bus_channel(consumer_handle::stateful_pointer<bus_channel_state> self,
                                           const bus_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

consumer_handle::behavior_type bus_channel_state::behavior() {
  return {[this](const consume_outbox& x) { on_batch(x); }};
}

void bus_channel_state::on_batch(const consume_outbox& x) {
  const auto turn = std::make_shared<outbox_turn>(self_, services_->region);
  const auto end = services_->env->steady_now() + services_->turn;
  for (const auto& item : *x.items) {
    const auto now = services_->env->steady_now();
    if (now >= end || now < away_until_) break; // the remaining rows are sent again
    if (turn->may_go(item)) deliver(*turn, item);
  }
  turn->end();
}

void bus_channel_state::deliver(outbox_turn& turn, const outbox_item& item) {
  // Mail contains addresses and names: it must not leave by the bus.
  if (item.row.topic == topic::mail_send) return turn.done(item);
  const auto answer = publish(item);
  count(answer.result);
  switch (answer.result) {
    case bus_result::accepted:
      failures_ = 0;
      note(item, bus_outcome::published);
      return turn.done(item);
    case bus_result::rejected:
      note(item, bus_outcome::given_up, answer.why);
      return has_dead_letters(item.key.aggregate) ? turn.make_dead_letter(item, "bus: " + answer.why)
                                                  : turn.done(item);
    case bus_result::unavailable:
      note(item, bus_outcome::publish_failed, answer.why);
      away_until_ = services_->env->steady_now()
                    + retry_delay(services_->pauses, ++failures_, services_->env->random_u64());
      return turn.hold_up(item);
  }
}

bus_answer bus_channel_state::publish(const outbox_item& item) {
  try {
    return services_->port->publish(message_of(item));
  } catch (const std::exception& e) { // e.g. out of memory: the actor must survive it
    return {bus_result::unavailable, e.what()};
  }
}

void bus_channel_state::count(bus_result result) {
  if (services_->counts == nullptr) return;
  switch (result) {
    case bus_result::accepted: return services_->counts->published.add();
    case bus_result::rejected: return services_->counts->given_up.add();
    case bus_result::unavailable: return services_->counts->failed.add();
  }
}

void bus_channel_state::note(const outbox_item& item, bus_outcome outcome, const std::string& why) const {
  if (services_->note) services_->note(item, outcome, why);
}

} // namespace fq
