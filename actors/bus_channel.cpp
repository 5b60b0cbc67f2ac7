// SPDX-License-Identifier: Apache-2.0
#include "actors/bus_channel.hpp"

#include "actors/ask_owner.hpp"
#include "domain/outbox.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace fq {
namespace {

constexpr milliseconds bury_timeout{5'000};

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

/// Accounts and catalog keep no dead letters: what is given up of theirs is only told to the log.
bool has_dead_letters(aggregate_id aggregate) { return number_of(aggregate) >= number_of(first_event_aggregate); }

} // namespace

consumer_handle::behavior_type bus_channel(consumer_handle::stateful_pointer<bus_channel_state> self, const bus_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

consumer_handle::behavior_type bus_channel_state::behavior() {
  return {[this](const consume_outbox& x) { on_batch(x); }};
}

void bus_channel_state::on_batch(const consume_outbox& x) {
  auto t = std::make_shared<turn>();
  t->asker = caf::actor_cast<dispatcher_handle>(self_->current_sender());
  const auto end = services_->env->steady_now() + services_->turn;
  for (const auto& item : *x.items) {
    const auto now = services_->env->steady_now();
    if (now >= end || now < away_until_) break; // the rest comes again
    if (!t->held_up.contains(item.key.aggregate)) deliver(t, item);
  }
  t->read = true;
  finish(t);
}

void bus_channel_state::deliver(const turn_ptr& t, const outbox_item& item) {
  if (item.row.topic == topic::mail_send) { // addresses and names: they go to the mailer and nowhere else
    t->done->push_back(item.key);
    return;
  }
  const auto answer = publish(item);
  count(answer.result);
  switch (answer.result) {
    case bus_result::accepted:
      failures_ = 0;
      note(item, bus_outcome::published);
      t->done->push_back(item.key);
      return;
    case bus_result::rejected: return bury(t, item, answer.why);
    case bus_result::unavailable:
      note(item, bus_outcome::publish_failed, answer.why);
      t->held_up.insert(item.key.aggregate);
      away_until_ = services_->env->steady_now() + retry_delay(services_->pauses, ++failures_, services_->env->random_u64());
      return;
  }
}

bus_answer bus_channel_state::publish(const outbox_item& item) {
  try {
    return services_->port->publish(message_of(item));
  } catch (const std::exception& e) { // no memory, say: this actor must not end by it
    return {bus_result::unavailable, e.what()};
  }
}

/// A dead letter of its event; only then the row is done, and the next of the event may go.
void bus_channel_state::bury(const turn_ptr& t, const outbox_item& item, const std::string& why) {
  note(item, bus_outcome::given_up, why);
  if (!has_dead_letters(item.key.aggregate)) {
    t->done->push_back(item.key);
    return;
  }
  ++t->in_the_air;
  t->held_up.insert(item.key.aggregate);
  const auto landed = [this, t, key = item.key](bool is_stored) {
    if (is_stored) t->done->push_back(key);
    --t->in_the_air;
    finish(t);
  };
  ask_owner(self_, services_->region, item.key.aggregate, report_undelivered{item.row, "bus: " + why}, bury_timeout,
            [landed](const ack_reply& reply) { landed(!reply.no); }, [landed](const caf::error&) { landed(false); });
}

void bus_channel_state::finish(const turn_ptr& t) {
  if (!t->read || t->in_the_air > 0 || !t->asker) return;
  self_->send(std::exchange(t->asker, nullptr), outbox_consumed{t->done});
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
