// SPDX-License-Identifier: Apache-2.0
#include "actors/outbox/courier.hpp"

#include "actors/base/idle_poll.hpp"
#include "actors/outbox/dispatcher.hpp"
#include "domain/base/planted.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace fq {
namespace {

constexpr std::size_t half_of(std::size_t all) { return std::max<std::size_t>(1, all / 2); }

} // namespace

courier_handle::behavior_type courier(courier_handle::stateful_pointer<courier_state> self,
                                      const courier_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

void courier_state::init(pointer self, const courier_services& services) {
  self_ = self;
  services_ = &services;
  pace_ = token_bucket{services.per_second, services.env->steady_now()};
  self_->send(self_, timer_fired{timer_kind::flush, 0});
  self_->send(self_, timer_fired{timer_kind::sweep, 0});
}

courier_handle::behavior_type courier_state::behavior() {
  return {
    [this](const delivery_answered& x) { on_answer(x); },
    [this](const timer_fired& t) { on_timer(t); },
  };
}

/// Two timers: `sweep` claims due deliveries, `flush` starts waiting deliveries and stores results.
void courier_state::on_timer(const timer_fired& t) {
  if (t.kind == timer_kind::sweep) {
    poll_after(self_, courier_poll, t);
    return take();
  }
  poll_after(self_, held() > 0 ? courier_busy_poll : courier_poll, t);
  start_waiting();
  settle();
}

/// Max deliveries held: at most as many as can start within a quarter of the visibility timeout.
std::size_t courier_state::held_max() const {
  const auto all = services_->max_in_flight * 8;
  if (services_->per_second <= 0) return all;
  const auto in_time =
    services_->per_second * static_cast<double>(services_->visibility_timeout.count()) / 4'000.0;
  return std::min(all, std::max<std::size_t>(1, static_cast<std::size_t>(in_time)));
}

std::size_t courier_state::waiting_on_probation() const {
  return static_cast<std::size_t>(
    std::ranges::count_if(waiting_, [this](const taken& t) { return is_on_probation(t.what.row.target); }));
}

/// Deliveries that wait for targets on probation, one per target, have their own limit of the same size: they
/// do not use the room of the others.
std::size_t courier_state::room() const {
  const auto rest = held() - waiting_on_probation();
  return rest >= held_max() ? 0 : held_max() - rest;
}

/// Max deliveries per request. Small where shares apply: the next request excludes tenants and targets that
/// have used their share.
std::size_t courier_state::take_limit() const {
  auto all = room();
  if (services_->has_tenant_shares) all = std::min(all, services_->max_in_flight);
  return services_->per_target > 0 ? std::min(all, 2 * services_->per_target) : all;
}

void courier_state::take() {
  const bool may = !services_->may_take || services_->may_take();
  const auto now = services_->env->steady_now();
  if (is_taking_ || !may || now < down_until_ || room() == 0) return;
  is_taking_ = true;
  const auto until = now + services_->visibility_timeout;
  due_filter filter{services_->way,
                    static_cast<std::uint32_t>(std::min(take_limit(), deliveries_per_transaction)),
                    services_->visibility_timeout, busy_tenants()};
  if (services_->per_target > 0) {
    filter.per_target = static_cast<std::uint32_t>(services_->per_target);
    filter.per_other = waiting_on_probation() < held_max() ? 1 : 0;
    filter.busy = busy_targets();
    for (const auto& [target, m] : health_)
      if (m.last_succeeded) filter.trusted.push_back(target);
  }
  take_deliveries wish{std::move(filter)};
  self_->request(services_->ledgers.reader(1), courier_timeout, std::move(wish))
    .then([this, until](const deliveries_taken& x) { on_taken(x, until); },
          [this](const caf::error&) { is_taking_ = false; });
}

void courier_state::on_taken(const deliveries_taken& x, milliseconds until) {
  is_taking_ = false;
  if (x.no || x.due->empty()) return;
  for (const auto& d : *x.due) waiting_.push_back({d, until, {}});
  start_waiting();
  take(); // more may be due
}

std::size_t courier_state::in_flight_to(const uuid& target) const {
  const auto first = in_flight_.lower_bound({target, uuid{}});
  return static_cast<std::size_t>(std::distance(first, in_flight_.upper_bound({target, uuid{~0ull, ~0ull}})));
}

courier_state::by_tenant courier_state::held_by_tenant() const {
  by_tenant held;
  for (const auto& [k, t] : in_flight_) ++held[t.what.row.tenant];
  for (const auto& t : waiting_) ++held[t.what.row.tenant];
  return held;
}

std::vector<tenant_id> courier_state::busy_tenants() const {
  if (!services_->has_tenant_shares) return {};
  const auto held = held_by_tenant();
  const auto share = share_of_tenant(held_max(), held.size());
  std::vector<tenant_id> busy;
  for (const auto& [tenant, count] : held)
    if (count >= share && busy.size() < busy_tenants_max) busy.push_back(tenant);
  return busy;
}

std::vector<uuid> courier_state::busy_targets() {
  const auto now = services_->env->steady_now();
  std::erase_if(health_, [now](const auto& t) {
    return std::max(t.second.retry_after, t.second.answered_at) + health_memory <= now;
  });
  std::map<uuid, std::size_t> held;
  for (const auto& [k, t] : in_flight_) ++held[k.first];
  for (const auto& t : waiting_) ++held[t.what.row.target];
  std::vector<uuid> busy;
  for (const auto& [target, m] : health_)
    if (m.retry_after > now) busy.push_back(target);
  for (const auto& [target, count] : held)
    if (count >= share_of(target)) busy.push_back(target);
  return busy;
}

/// Backs off from a target after a failure. Its waiting deliveries are dropped here; the ledger returns them
/// after the pause, which is at least the target's Retry-After.
void courier_state::back_off(const uuid& target, milliseconds asked) {
  if (services_->per_target == 0) return;
  std::erase_if(waiting_, [&](const taken& t) { return t.what.row.target == target; });
  auto& m = health_[target];
  const auto now = services_->env->steady_now();
  m.last_succeeded = false;
  m.answered_at = now;
  if (m.retry_after <= now) ++m.consecutive_failures; // parallel failures count as one
  m.retry_after =
    std::max(m.retry_after, now + std::clamp(asked, pause_after(m.consecutive_failures), target_pause_max));
}

/// Keeps the pause that an earlier answer set.
void courier_state::note_answer(const uuid& target) {
  auto& m = health_[target];
  m.last_succeeded = true;
  m.consecutive_failures = 0;
  m.answered_at = services_->env->steady_now();
}

bool courier_state::failed_recently(const uuid& target) const {
  const auto found = health_.find(target);
  return found != health_.end() && found->second.consecutive_failures > 0
         && services_->env->steady_now() < found->second.answered_at + recent_failure;
}

bool courier_state::is_on_probation(const uuid& target) const {
  if (services_->per_target == 0) return false;
  const auto found = health_.find(target);
  return found == health_.end() || !found->second.last_succeeded;
}

void courier_state::start_waiting() {
  const auto now = services_->env->steady_now();
  const auto share = services_->has_tenant_shares
                       ? share_of_tenant(services_->max_in_flight, held_by_tenant().size())
                       : services_->max_in_flight;
  by_tenant under_way;
  by_tenant on_probation;
  std::size_t all_on_probation = 0;
  for (const auto& [k, t] : in_flight_) {
    ++under_way[t.what.row.tenant];
    if (!is_on_probation(k.first)) continue;
    ++on_probation[t.what.row.tenant];
    ++all_on_probation;
  }
  std::deque<taken> later; // target or tenant is at its limit
  while (!waiting_.empty() && in_flight_.size() < services_->max_in_flight && now >= down_until_) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    const auto tenant = next.what.row.tenant;
    const auto& target = next.what.row.target;
    // Too late to start: the ledger returns it after the visibility timeout.
    if (now + services_->visibility_timeout / 2 >= next.until) continue;
    const bool is_unproven = is_on_probation(target);
    const bool is_target_full = services_->per_target > 0 && in_flight_to(target) >= share_of(target);
    const bool is_probation_full =
      is_unproven
      && (all_on_probation >= half_of(services_->max_in_flight) || on_probation[tenant] >= half_of(share));
    if (is_target_full || is_probation_full || under_way[tenant] >= share) {
      later.push_back(std::move(next));
      continue;
    }
    if (pace_.take(1, now) == 0) {
      later.push_back(std::move(next));
      break;
    }
    const auto before = in_flight_.size();
    begin(std::move(next));
    const auto begun = in_flight_.size() - before;
    under_way[tenant] += begun;
    if (!is_unproven) continue;
    on_probation[tenant] += begun;
    all_on_probation += begun;
  }
  waiting_.insert(waiting_.begin(), std::make_move_iterator(later.begin()),
                  std::make_move_iterator(later.end()));
}

void courier_state::begin(taken t) {
  auto& d = t.what;
  t.began = services_->env->wall_now();
  if (has_expired(d.row, t.began)) {
    // It may have had few attempts because its target was in back-off, so the recent failures count as well.
    if (d.endpoint && d.row.attempts > 0 && failed_recently(d.row.target))
      disable(*d.endpoint, "failing", d.row.created_at);
    return end(d.row, delivery_state::expired, "too_late");
  }
  const bool has_device = d.device && !is_set(d.device->gone_at),
             has_endpoint = d.endpoint && d.endpoint->is_enabled;
  if (!has_device && !has_endpoint)
    return end(d.row, delivery_state::dropped, d.endpoint ? "endpoint_off" : "target_gone");
  if (services_->port == nullptr) {
    // Another node may have the channel: the ledger returns it after the visibility timeout.
    if (t.began < d.row.created_at + roll_out_max) return;
    return end(d.row, delivery_state::dropped, "channel_off");
  }
  notice what{d.row.notice, d.row.topic, d.row.payload, d.row.tenant, d.row.created_at, d.row.expires_at};
  delivery_target to{.id = d.row.target, .address = has_device ? d.device->token : d.endpoint->url};
  if (has_device) {
    to.is_sandbox = d.device->is_sandbox;
    to.language = d.device->language;
  }
  if (has_endpoint && services_->secrets) to.secrets = services_->secrets(*d.endpoint, t.began);
  const key k{d.row.target, d.row.notice};
  in_flight_.insert_or_assign(k, std::move(t));
  services_->port->deliver(what, to, [k, me = caf::actor_cast<caf::actor>(self_)](delivery_answer answer) {
    caf::anon_send(me, delivery_answered{k.first, k.second, std::move(answer)});
  });
}

void courier_state::on_answer(const delivery_answered& x) {
  const auto found = in_flight_.find({x.target, x.notice});
  if (found == in_flight_.end()) return;
  auto t = std::move(found->second);
  in_flight_.erase(found);
  auto& row = t.what.row;
  const auto now = services_->env->wall_now();
  row.status = x.answer.status;
  row.reason = x.answer.reason;
  const auto outcome = planted(bug::any_answer_delivers) ? delivery_outcome::delivered : x.answer.outcome;
  after_try(row, outcome, x.answer.retry_after, now, services_->env->random_u64());
  note(row, x.answer);
  apply_beyond_delivery(t, x.answer);
  unsettled_.push_back(std::move(row));
  start_waiting();
  if (in_flight_.empty()
      || unsettled_.size() >= std::min(services_->max_in_flight, deliveries_per_transaction))
    settle();
}

void courier_state::note(const delivery_row& row, const delivery_answer& answer) const {
  count(row);
  if (answer.is_our_fault) warn(std::string{to_string(services_->way)} + ": " + answer.reason);
}

/// Applies an answer beyond its delivery: pauses the channel if the service is unavailable, backs off from a
/// failing target, and disables an endpoint or device that is gone.
void courier_state::apply_beyond_delivery(const taken& t, const delivery_answer& answer) {
  if (answer.is_channel_down) {
    const auto pause =
      std::clamp(answer.retry_after.value_or(milliseconds{0}), channel_pause, channel_pause_max);
    down_until_ = std::max(down_until_, services_->env->steady_now() + pause);
    warn(std::string{to_string(services_->way)} + " is away: " + answer.reason);
  }
  const auto& row = t.what.row;
  if (t.what.endpoint) {
    if (row.state == delivery_state::dropped) return disable(*t.what.endpoint, "gone", t.began);
    const bool gave_up = row.state == delivery_state::failed && answer.outcome == delivery_outcome::again;
    if (gave_up) disable(*t.what.endpoint, "failing", row.created_at);
    if (row.state == delivery_state::delivered) note_answer(row.target);
    if (row.state == delivery_state::pending && is_about_target(row.status, answer.retry_after.has_value()))
      back_off(row.target, answer.retry_after.value_or(milliseconds{0}));
    return;
  }
  if (row.state != delivery_state::dropped) return;
  // A registration after `t.began` wins. If this message is lost, the next delivery to the device repeats it.
  self_
    ->request(services_->ledgers.reader(1), courier_timeout,
              end_device{row.target, answer.gone_since.value_or(t.began), answer.reason})
    .then([](const ack_reply&) {}, [](const caf::error&) {});
}

void courier_state::disable(const webhook_endpoint_row& endpoint, const std::string& why, timestamp since) {
  self_->request(services_->ledgers.reader(1), courier_timeout, disable_endpoint{endpoint.id, why, since})
    .then(
      [this, endpoint, why](const count_reply& reply) {
        if (reply.no || reply.count == 0) return;
        if (services_->counts != nullptr) services_->counts->endpoints_disabled.add();
        if (services_->on_disabled) services_->on_disabled(endpoint, why);
      },
      // If this message is lost, the next failed delivery repeats it.
      [](const caf::error&) {});
}

void courier_state::end(delivery_row row, delivery_state state, const std::string& why) {
  row.state = state;
  row.reason = why;
  row.ended_at = services_->env->wall_now();
  count(row);
  unsettled_.push_back(std::move(row));
}

/// Stores results, one write at a time; a failed write is repeated with the results since then. If the
/// visibility timeout passes first, the delivery may be sent twice: the receiver recognises it by its id.
void courier_state::settle() {
  if (!settling_.empty() || unsettled_.empty()) return;
  const auto count = std::min(unsettled_.size(), deliveries_per_transaction);
  settling_.assign(std::make_move_iterator(unsettled_.begin()),
                   std::make_move_iterator(unsettled_.begin() + static_cast<std::ptrdiff_t>(count)));
  unsettled_.erase(unsettled_.begin(), unsettled_.begin() + static_cast<std::ptrdiff_t>(count));
  self_
    ->request(services_->ledgers.reader(1), courier_timeout,
              settle_deliveries{std::make_shared<const std::vector<delivery_row>>(settling_)})
    .then([this](const ack_reply& reply) { on_settled(!reply.no); },
          [this](const caf::error&) { on_settled(false); });
}

void courier_state::on_settled(bool is_done) {
  if (!is_done) std::ranges::move(settling_, std::back_inserter(unsettled_));
  settling_.clear();
  if (is_done && unsettled_.size() >= deliveries_per_transaction) settle();
  // With a tenant at its limit, claiming scans past its rows, possibly very many: then only the timer claims.
  if (is_done && busy_tenants().empty()) take();
}

void courier_state::count(const delivery_row& row) const {
  if (services_->counts == nullptr) return;
  auto& c = *services_->counts;
  switch (row.state) {
    case delivery_state::pending: return c.put_off[row.way].add();
    case delivery_state::delivered: return c.delivered[row.way].add();
    case delivery_state::expired: return c.expired[row.way].add();
    case delivery_state::failed: return c.failed[row.way].add();
    case delivery_state::dropped: return c.dropped[row.way].add();
  }
}

} // namespace fq
