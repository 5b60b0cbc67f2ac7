// SPDX-License-Identifier: Apache-2.0
#include "actors/region.hpp"

#include <vector>

namespace fq {
namespace {
constexpr milliseconds wake_retry{500};
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
  self->send(services.ledger, find_aggregates_to_wake{});
}

region_handle::behavior_type region_state::behavior() {
  return {
    [this](const resolve_event& x) { return on_resolve(x); },
    [this](const aggregates_to_wake& x) { on_wake(x); },
    [this](const timer_fired&) { self_->send(services_->ledger, find_aggregates_to_wake{}); },
  };
}

void region_state::on_wake(const aggregates_to_wake& found) {
  if (found.unavailable) return self_->delayed_send(self_, wake_retry, timer_fired{timer_kind::retry_load, 0});
  for (const auto aggregate : found.aggregates) start(aggregate);
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
  if (number_of(x.aggregate) < number_of(first_event_aggregate)) return make_error(errc::absent);
  if (const auto cooling = cooling_.find(x.aggregate); cooling != cooling_.end()) {
    if (services_->env->steady_now() < cooling->second) return make_error(errc::unavailable);
    cooling_.erase(cooling);
  }
  if (owners_.size() >= owners_max && !find(x.aggregate)) return make_error(errc::unavailable);
  return self_->delegate(start(x.aggregate), x);
}

void region_state::on_down(const caf::down_msg& down) {
  const auto i = by_address_.find(down.source);
  if (i == by_address_.end()) return;
  if (is(down.reason, errc::unavailable)) cooling_[i->second] = services_->env->steady_now() + cool_down;
  // Deadlines go on although nobody asks: after a failure, look again for what must run.
  const bool ended_well = is(down.reason, errc::absent) || down.reason == caf::exit_reason::user_shutdown;
  if (!ended_well)
    self_->delayed_send(self_, is(down.reason, errc::unavailable) ? cool_down : wake_retry, timer_fired{timer_kind::retry_load, 0});
  owners_.erase(i->second);
  by_address_.erase(i);
}

} // namespace fq
