// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/origin.hpp"

#include "net/bridge/limits.hpp"

namespace fq::sim {

using net::arrival_timeout;
using net::still_max;

origin::origin(caf::actor_config& config, world* w, std::string node, environment* env, region_handle region,
               session_reader_handle reader) :
    caf::event_based_actor(config),
    world_(w),
    node_(std::move(node)),
    env_(env),
    region_(std::move(region)),
    reader_(std::move(reader)) {}

caf::behavior origin::make_behavior() {
  set_default_handler(caf::drop);
  set_down_handler([this](const caf::down_msg& down) {
    if (owner_ && down.source == owner_.address()) forget();
  });
  delayed_send(this, between(world_->rng, milliseconds{1}, milliseconds{500}),
               timer_fired{timer_kind::sweep, 0});
  looked_at_ = env_->steady_now();
  return {[this](const timer_fired&) {
            notice_pause();
            looked_at_ = env_->steady_now();
            delayed_send(this, between(world_->rng, milliseconds{50}, milliseconds{600}),
                         timer_fired{timer_kind::sweep, 0});
            if (const auto* session = world_->access->some_session()) ask_about(*session);
          },
          [this](const sessions_changed& push) { on_sessions_changed(push); },
          [this](const push_mark& mark) {
            if (owner_) send(owner_, push_read{mark.number, mark.kind});
          },
          [this](const owner_left&) {
            if (!owner_ || current_sender() != caf::actor_cast<caf::strong_actor_ptr>(owner_)) return;
            returned_by_ = owner_.address();
            forget();
          }};
}

/// Some questions go to the cache although the table knows: another io thread may know nothing.
void origin::ask_about(const entry_id& session) {
  const bool reads = reader_ && chance(world_->rng, knows() ? 400 : 800);
  if (reads) return ask_reader(session);
  if (knows()) return answer_from_table(session);
  if (!owner_) return find_owner();
  if (env_->steady_now() - asked_at_ > arrival_timeout || is_known_) watch(owner_); // a lease has passed
}

void origin::ask_reader(const entry_id& session) {
  request(reader_, seconds{10}, find_session{session})
    .then(
      [this, session](const session_found& found) {
        const auto verdict = found.verdict_at(env_->steady_now());
        if (verdict == session_verdict::over) {
          world_->check->reached(rare::access_refused_by_cache);
          world_->access->refused(node_, session, true);
        } else if (verdict == session_verdict::in_force) {
          world_->check->reached(rare::access_granted_by_cache);
          world_->access->granted(node_, session, found.expires_at);
        }
      },
      [](const caf::error&) {});
}

// -- the table --------------------------------------------------------------------------------------------

void origin::notice_pause() {
  const auto steady = env_->steady_now();
  if (steady <= looked_at_ + still_max) return;
  looked_at_ = awake_since_ = steady;
  is_known_ = false;
}

bool origin::knows() const { return is_known_ && !lease_.has_passed(env_->steady_now()); }

void origin::answer_from_table(const entry_id& session) {
  if (is_remote_) world_->check->reached(rare::access_at_other_node);
  const auto found = sessions_.find(session);
  const auto owner_now = is_paused_ ? clock_ : clock_ + (env_->steady_now() - clock_at_);
  found == sessions_.end() || found->second <= owner_now
    ? world_->access->refused(node_, session, false)
    : world_->access->granted(node_, session, found->second);
}

void origin::find_owner() {
  if (std::exchange(asks_region_, true)) return;
  request(region_, world_->options.patience, resolve_event{world_->aggregate, false, returned_by_})
    .then(
      [this](const event_handle& owner) {
        asks_region_ = false;
        returned_by_ = nullptr;
        if (owner) watch(owner);
      },
      [this](const caf::error&) {
        asks_region_ = false;
        returned_by_ = nullptr;
      });
}

void origin::watch(const event_handle& owner) {
  asked_at_ = env_->steady_now();
  if (owner_ != owner) {
    owner_ = owner;
    monitor(owner);
    send(owner, owner_kept{});
  }
  send(owner, watch_sessions{true, asked_at_});
}

void origin::on_sessions_changed(const sessions_changed& push) {
  notice_pause();
  if (push.is_lost) {
    if (owner_) send(owner_, watch_sessions{false});
    return forget();
  }
  if (!owner_ || (!push.is_all && !is_known_)) return; // of an ended subscription
  const auto steady = env_->steady_now();
  if (!push.is_all && is_remote_ && lease_.has_passed(steady)) return; // another node may own it
  is_remote_ = push.trusted_for.count() > 0;
  const auto since = push.is_all ? push.asked_at : steady;
  const bool is_late = is_remote_ && since + push.trusted_for <= steady;
  if (is_late || since < awake_since_) return watch(owner_);
  if (push.is_all) sessions_.clear();
  clock_ = push.now;
  clock_at_ = steady;
  is_paused_ = push.is_paused;
  for (const auto& s : push.begun) sessions_[s.ticket] = s.expires_at;
  for (const auto& ticket : push.ended) sessions_.erase(ticket);
  if (is_remote_)
    lease_ = lease_of_copy{std::make_shared<const lease_horizon>(since + push.trusted_for)};
  else if (push.is_all)
    lease_ = push.lease;
  is_known_ = is_known_ || push.is_all;
}

void origin::forget() {
  owner_ = nullptr;
  is_known_ = false;
  lease_ = {};
  sessions_.clear();
}

} // namespace fq::sim
