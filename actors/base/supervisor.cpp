// SPDX-License-Identifier: Apache-2.0
#include "actors/base/supervisor.hpp"

#include "actors/base/errors.hpp"
#include "actors/base/limits.hpp"
#include "domain/base/environment.hpp"

#include <algorithm>
#include <utility>

namespace fq {

supervisor_handle::behavior_type supervisor(supervisor_handle::stateful_pointer<supervisor_state> self,
                                            environment* env, owner_factory factory, restart_budget budget) {
  self->state.init(self, *env, std::move(factory), budget);
  return self->state.behavior();
}

void supervisor_state::init(pointer self, environment& env, owner_factory factory, restart_budget budget) {
  self_ = self;
  env_ = &env;
  factory_ = std::move(factory);
  budget_ = budget;
  self->set_down_handler([this](const caf::down_msg& down) { on_down(down); });
  self->set_exit_handler([this](caf::exit_msg& exit) { stop(std::move(exit.reason)); });
  start_owner();
}

supervisor_state::~supervisor_state() {
  for (auto& p : waiting_) p.deliver(make_error(errc::unavailable));
}

supervisor_handle::behavior_type supervisor_state::behavior() {
  return {
    [this](const resolve_event&) { return on_resolve(); },
    [this](const owner_ready&) { on_ready(); },
    [this](const owner_absent&) { stop(make_error(errc::absent)); },
    [this](const owner_denied& x) { stop(make_not_owner(x.owner)); },
    [this](const owner_lost&) { stop(make_error(errc::ledger_lost)); },
    [this](const owner_idle&) { on_idle(); },
    [this](const owner_moved&) { has_moved_ = true; },
    [this](const timer_fired& t) { on_timer(t); },
  };
}

void supervisor_state::start_owner() {
  ready_ = false;
  owner_ = factory_(self_, supervisor_handle{self_});
}

void supervisor_state::on_ready() {
  // Ignores late messages of a previous owner.
  if (caf::actor_cast<caf::strong_actor_ptr>(owner_) != self_->current_sender()) return;
  ready_ = true;
  failures_in_a_row_ = 0;
  auto waiting = std::move(waiting_);
  waiting_.clear();
  for (auto& p : waiting) p.deliver(owner_);
}

/// The owner returns late requests, and the next resolve starts another one.
void supervisor_state::on_idle() {
  if (caf::actor_cast<caf::strong_actor_ptr>(owner_) != self_->current_sender()) return;
  ready_ = false;
  end_idle_owner();
  idle_owner_ = std::exchange(owner_, nullptr);
  self_->delayed_send(self_, moved_linger, timer_fired{timer_kind::idle, ++idles_});
}

void supervisor_state::end_idle_owner() {
  if (!idle_owner_) return;
  self_->demonitor(idle_owner_.address());
  self_->send_exit(idle_owner_, caf::exit_reason::user_shutdown);
  idle_owner_ = nullptr;
}

void supervisor_state::on_timer(const timer_fired& t) {
  if (t.kind != timer_kind::idle) {
    if (!owner_) start_owner();
  } else if (idle_owner_ && t.generation == idles_) {
    owner_ ? end_idle_owner() : stop(caf::exit_reason::user_shutdown);
  }
}

caf::result<event_handle> supervisor_state::on_resolve() {
  if (ready_) return owner_;
  if (!owner_ && idle_owner_) start_owner();
  if (waiting_.size() >= supervisor_waiting_max) return make_error(errc::unavailable);
  auto p = self_->make_response_promise<event_handle>();
  waiting_.push_back(p);
  return p;
}

void supervisor_state::on_down(const caf::down_msg& down) {
  if (!owner_ || down.source != owner_.address()) return;
  end_idle_owner(); // the next one starts after the pause, not at a request
  owner_ = nullptr;
  ready_ = false;
  if (has_moved_) return stop(caf::exit_reason::user_shutdown);
  const auto now = env_->steady_now();
  restarts_.push_back(now);
  while (restarts_.front() + budget_.window < now) restarts_.pop_front();
  if (restarts_.size() > budget_.restarts) return stop(make_error(errc::unavailable));
  const auto delay =
    std::min(budget_.backoff_max, budget_.backoff_min * (1 << std::min(failures_in_a_row_++, 10u)));
  self_->delayed_send(self_, delay, timer_fired{timer_kind::restart, 0});
}

void supervisor_state::stop(caf::error why) {
  end_idle_owner();
  if (owner_) {
    self_->demonitor(owner_.address());
    self_->send_exit(owner_, caf::exit_reason::user_shutdown);
  }
  const bool told = is(why, errc::absent) || is(why, errc::not_owner) || is(why, errc::ledger_lost);
  for (auto& p : waiting_) p.deliver(told ? why : make_error(errc::unavailable));
  waiting_.clear();
  self_->quit(std::move(why));
}

} // namespace fq
