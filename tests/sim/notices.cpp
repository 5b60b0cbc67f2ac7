// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/notices.hpp"

#include "tests/sim/fan.hpp"

#include "domain/delivery/outbox.hpp"

#include <caf/send.hpp>

namespace fq::sim {
namespace {

/// A target loses so many attempts at most: the pauses before further ones are longer than the quiet phase.
constexpr int lossy_tries = 2;
/// Maximum delay of a due delivery without faults: a hidden one comes back, then it is sent.
constexpr milliseconds delivered_within{8'000};

} // namespace

void notice_watch::create_targets() {
  const auto t = world_.env->wall_now();
  for (std::uint32_t i = 0; i < world_.options.fans; i += 2) {
    device_row d;
    d.id = world_.env->make_id(t, accounts_aggregate);
    d.holder = customer_of(i);
    d.way = channel::fcm;
    d.token = "token " + std::to_string(i);
    d.registered_at = t;
    world_.store->register_device(d);
    devices_.emplace(d.id, d.holder);
  }
  for (const std::string topic : {"", "order.completed"}) {
    webhook_endpoint_row e;
    e.id = world_.env->make_id(t, accounts_aggregate);
    e.url = "https://hooks.example/" + topic;
    e.topics = topic;
    e.created_at = e.updated_at = t;
    world_.store->store_endpoint(e);
    endpoints_.emplace(e.id, topic);
  }
}

void notice_watch::applied(const batch& b) {
  if (b.aggregate != world_.aggregate) return;
  for (const auto& c : b.content) {
    const auto* appended = std::get_if<outbox_appended>(&c);
    if (appended == nullptr || (appended->row.lanes & bit_of(lane::notices)) == 0) continue;
    const auto& row = appended->row;
    committed told{row, world_.env->steady_now(), {}};
    for (const auto& [id, topic] : endpoints_)
      if (topic.empty() ? row.topic != topic::user_updated : row.topic == topic) told.targets.push_back(id);
    if (row.topic == topic::turn_granted)
      for (const auto& [id, holder] : devices_)
        if (row.payload.find(to_string(holder)) != std::string::npos) told.targets.push_back(id);
    notices_.emplace(row.id, std::move(told));
  }
}

void notice_watch::attempt(const notice& what, const delivery_target& to,
                           std::function<void(delivery_answer)> done) {
  const auto known = notices_.find(what.id);
  if (known == notices_.end() || known->second.row.payload != what.payload
      || known->second.row.topic != what.topic)
    world_.check->fail("I16", "a target was told what is not committed: " + what.topic);
  auto& n = tallies_[{to.id, what.id}];
  auto& rng = world_.rng;
  const bool is_lossy = world_.chaos && ++n.tries <= lossy_tries && chance(rng, 400);
  if (!is_lossy || chance(rng, 500)) ++n.received;
  if (n.received > 1) world_.check->reached(rare::notice_received_again);
  delivery_answer told{delivery_outcome::delivered, 200};
  if (is_lossy) {
    told = {.outcome = delivery_outcome::again, .status = 503, .reason = "UNAVAILABLE"};
    world_.check->reached(rare::notice_lost);
  }
  open_.emplace(++attempts_, std::pair{std::move(done), std::move(told)});
  const auto delay = between(rng, milliseconds{1}, milliseconds{world_.chaos ? 1'500 : 50});
  caf::delayed_anon_send(world_.targets, delay, attempts_);
}

void notice_watch::answer(std::uint64_t attempt) {
  const auto done = open_.extract(attempt);
  if (done) done.mapped().first(std::move(done.mapped().second));
}

std::string notice_watch::wrong_with(const uuid& target, const committed& c) const {
  const auto n = tallies_.find({target, c.row.id});
  const bool is_received = n != tallies_.end() && n->second.received > 0;
  if (is_received || world_.env->steady_now() < c.at + delivered_within) return {};
  for (const auto& row : world_.store->list_deliveries({.target = target, .limit = 100'000})) {
    if (row.notice != c.row.id) continue;
    const auto now = world_.env->wall_now();
    switch (row.state) {
      case delivery_state::pending:
        return row.due_at + delivered_within < now ? c.row.topic + " waits for its target" : std::string{};
      case delivery_state::expired:
        return is_set(row.expires_at) && row.expires_at <= now ? std::string{}
                                                               : c.row.topic + " expired before its time";
      case delivery_state::delivered: return c.row.topic + " counts as delivered, and its target has nothing";
      case delivery_state::failed:
      case delivery_state::dropped: return c.row.topic + " was given up";
    }
  }
  return c.row.topic + " has no delivery to one of its targets";
}

void notice_watch::check_end() const {
  for (const auto& [id, c] : notices_)
    for (const auto& target : c.targets)
      if (auto wrong = wrong_with(target, c); !wrong.empty())
        return world_.check->fail("I16", std::move(wrong));
}

caf::behavior sim_targets(caf::event_based_actor* self, world* w) {
  self->set_default_handler(caf::drop);
  return {[w](std::uint64_t attempt) { w->notices->answer(attempt); }};
}

} // namespace fq::sim
