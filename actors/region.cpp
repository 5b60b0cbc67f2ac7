// SPDX-License-Identifier: Apache-2.0
#include "actors/region.hpp"

#include "domain/planted.hpp"

#include <caf/sec.hpp>

#include <utility>
#include <vector>

namespace fq {
namespace {
constexpr milliseconds wake_retry{500};
/// A supervisor answers as soon as its owner serves or is given up: longer than any load and than any client waits.
constexpr milliseconds resolve_timeout{60'000};
} // namespace

region_handle::behavior_type region(region_handle::stateful_pointer<region_state> self, const owner_services* services,
                                    restart_budget budget) {
  self->state.init(self, *services, budget);
  return self->state.behavior();
}

void region_state::init(pointer self, const owner_services& services, restart_budget budget) {
  self_ = self;
  services_ = &services;
  budget_ = budget;
  self->set_down_handler([this](const caf::down_msg& down) { on_down(down); });
  self->set_exit_handler([this](caf::exit_msg& exit) {
    for (const auto& [aggregate, owner] : owners_) self_->send_exit(owner, caf::exit_reason::user_shutdown);
    self_->quit(std::move(exit.reason));
  });
  look_around();
}

/// What must run and runs nowhere is ours: at start, and when another node has died.
void region_state::look_around() { self_->send(services_->ledgers.reader(), find_aggregates_to_wake{}); }

region_handle::behavior_type region_state::behavior() {
  return {
    [this](const resolve_event& x) { return on_resolve(x); },
    [this](const aggregates_to_wake& x) { on_wake(x); },
    [this](const timer_fired& t) {
      if (t.kind == timer_kind::sweep) sweep_is_due_ = false;
      look_around();
    },
    [this](const list_owned&) { return owned(); },
  };
}

void region_state::on_wake(const aggregates_to_wake& found) {
  if (found.unavailable) return self_->delayed_send(self_, wake_retry, timer_fired{timer_kind::retry_load, 0});
  for (const auto aggregate : found.aggregates) start(aggregate);
  if (services_->takeover_interval.count() > 0 && !planted(bug::takeover_forgotten) && !std::exchange(sweep_is_due_, true))
    self_->delayed_send(self_, services_->takeover_interval, timer_fired{timer_kind::sweep, 0});
}

owned_aggregates region_state::owned() const {
  owned_aggregates all;
  for (const auto& [aggregate, owner] : owners_) all.aggregates.push_back(aggregate);
  return all;
}

supervisor_handle region_state::find(aggregate_id aggregate) const {
  const auto i = owners_.find(aggregate);
  return i == owners_.end() ? supervisor_handle{} : i->second;
}

supervisor_handle region_state::start(aggregate_id aggregate) {
  if (auto known = find(aggregate)) return known;
  auto make_owner = [aggregate, services = services_](supervisor_handle::pointer parent, supervisor_handle stable) {
    return parent->spawn<caf::monitored>(event_actor, aggregate, services, std::move(stable));
  };
  auto owner = self_->spawn<caf::monitored>(supervisor, services_->env, owner_factory{make_owner}, budget_);
  owners_.emplace(aggregate, owner);
  by_address_.emplace(owner.address(), aggregate);
  return owner;
}

caf::result<event_handle> region_state::on_resolve(const resolve_event& x) {
  auto p = self_->make_response_promise<event_handle>();
  answer(x, p);
  return p;
}

void region_state::answer(const resolve_event& x, promise p) {
  const auto refuse = [&p](errc why) { p.deliver(make_error(why)); };
  if (number_of(x.aggregate) < number_of(first_event_aggregate)) return refuse(errc::absent);
  if (const auto cooling = cooling_.find(x.aggregate); cooling != cooling_.end()) {
    if (services_->env->steady_now() < cooling->second.until) return refuse(cooling->second.why);
    cooling_.erase(cooling);
  }
  if (owners_.size() >= owners_max && !find(x.aggregate)) return refuse(errc::unavailable);
  auto owner = start(x.aggregate);
  self_->request(owner, resolve_timeout, x)
    .then([p](event_handle& found) mutable { p.deliver(std::move(found)); },
          [this, x, owner, p](caf::error& why) mutable {
            if (why == caf::sec::request_receiver_down) return on_supervisor_gone(x, owner, std::move(p));
            p.deliver(why == caf::sec::request_timeout ? make_error(errc::unavailable) : std::move(why));
          });
}

/// It stopped while the question was on its way: the question is asked again as soon as its end is known.
void region_state::on_supervisor_gone(const resolve_event& x, const supervisor_handle& gone, promise p) {
  if (find(x.aggregate) == gone) return stopping_[x.aggregate].push_back(std::move(p));
  answer(x, std::move(p));
}

void region_state::on_down(const caf::down_msg& down) {
  const auto i = by_address_.find(down.source);
  if (i == by_address_.end()) return;
  const auto steady = services_->env->steady_now();
  if (is(down.reason, errc::unavailable)) cooling_[i->second] = {steady + cool_down, errc::unavailable};
  if (is(down.reason, errc::not_owner)) cooling_[i->second] = {steady + elsewhere_for, errc::not_owner};
  // Deadlines go on although nobody asks: after a failure, look again for what must run.
  const bool ended_well = is(down.reason, errc::absent) || is(down.reason, errc::not_owner) || down.reason == caf::exit_reason::user_shutdown;
  if (!ended_well)
    self_->delayed_send(self_, is(down.reason, errc::unavailable) ? cool_down : wake_retry, timer_fired{timer_kind::retry_load, 0});
  const auto aggregate = i->second;
  owners_.erase(aggregate);
  by_address_.erase(i);
  if (auto asked = stopping_.extract(aggregate))
    for (auto& p : asked.mapped()) answer(resolve_event{aggregate}, std::move(p));
}

} // namespace fq
