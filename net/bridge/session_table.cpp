// SPDX-License-Identifier: Apache-2.0
#include "net/bridge/session_table.hpp"

#include "net/bridge/limits.hpp"

#include <algorithm>

namespace fq::net {

bool session_table::knows(aggregate_id aggregate, milliseconds now) {
  notice_pause(now);
  const auto found = rooms_.find(number_of(aggregate));
  if (found == rooms_.end() || !found->second.is_known) return false;
  auto& r = found->second;
  if (r.lease.has_passed(now)) return false;
  r.used = ctx_.now;
  return true;
}

bool session_table::is_remote(aggregate_id aggregate) const {
  const auto found = rooms_.find(number_of(aggregate));
  return found != rooms_.end() && found->second.is_remote;
}

session_record* session_table::find(const entry_id& ticket, milliseconds now) {
  const auto at = rooms_.find(number_of(owner_of(ticket)));
  if (at == rooms_.end()) return nullptr;
  auto& r = at->second;
  const auto found = r.sessions.find(ticket);
  if (found == r.sessions.end()) return nullptr;
  const auto owner_now = r.is_paused ? r.clock : r.clock + (now - r.clock_at);
  found->second.ends = now + (found->second.expires_at - owner_now);
  return found->second.ends <= now ? nullptr : &found->second;
}

awaitable<caf::error> session_table::learn(aggregate_id aggregate) {
  auto reached = co_await ask_event(ctx_, aggregate, find_line{}); // the bridge now knows the owner
  if (reached.error) co_return reached.error;
  if (stopped_) co_return make_error(errc::unavailable);
  const auto steady = ctx_.environment.steady_now();
  notice_pause(steady);
  auto& r = rooms_[number_of(aggregate)];
  r.used = ctx_.now;
  const bool has_passed = r.lease.has_passed(steady);
  if (r.is_known && !has_passed) co_return caf::error{};
  if (!r.is_asked || has_passed) {
    r.is_asked = ask(aggregate);
    if (!r.is_asked) co_return make_error(errc::unavailable);
  }
  const bool arrived = co_await arrival{*this, aggregate};
  co_return arrived ? caf::error{} : make_error(errc::unavailable);
}

bool session_table::ask(aggregate_id aggregate) {
  return ctx_.bridge && ctx_.bridge->watch_sessions_of(aggregate, true, ctx_.environment.steady_now());
}

void session_table::arrival::await_suspend(std::coroutine_handle<> handle) {
  mine_.handle = handle;
  mine_.give_up = table_.ctx_.now + arrival_timeout;
  table_.rooms_[number_of(aggregate_)].waiting.push_back(&mine_);
  is_listed_ = true;
}

session_table::arrival::~arrival() {
  if (!is_listed_) return;
  if (const auto r = table_.rooms_.find(number_of(aggregate_)); r != table_.rooms_.end())
    r->second.waiting.remove(&mine_);
}

void session_table::wake(room& r, bool arrived) {
  while (!r.waiting.empty()) {
    auto* first = r.waiting.front();
    r.waiting.pop_front();
    first->arrived = arrived;
    first->handle.resume();
  }
}

void session_table::on_sessions_changed(const sessions_changed& push) {
  const auto aggregate = owner_of(push.event);
  if (push.is_lost) {
    if (ctx_.bridge) ctx_.bridge->watch_sessions_of(aggregate, false); // the next request subscribes again
    return forget(aggregate);
  }
  const auto steady = ctx_.environment.steady_now();
  notice_pause(steady);
  const auto found = rooms_.find(number_of(aggregate));
  if (found == rooms_.end() || !found->second.is_asked || (!push.is_all && !found->second.is_known))
    return; // push of an ended subscription
  auto& r = found->second;
  if (!push.is_all && r.is_remote && r.lease.has_passed(steady))
    return; // another node may have owned it meanwhile
  r.is_remote = push.trusted_for.count() > 0;
  const auto since = push.is_all ? push.asked_at : steady;
  const bool is_late = r.is_remote && since + push.trusted_for <= steady; // the network is slow
  if (is_late || since < awake_since_) {
    r.is_asked = ask(aggregate);
    return;
  }
  if (push.is_all) r.sessions.clear();
  r.clock = push.now;
  r.clock_at = steady;
  r.is_paused = push.is_paused;
  for (const auto& s : push.begun)
    r.sessions[s.ticket] = {push.event, push.tenant, s.admission_no, s.subject_name, s.expires_at};
  for (const auto& ticket : push.ended) r.sessions.erase(ticket);
  if (r.is_remote)
    r.lease = lease_of_copy{std::make_shared<const lease_horizon>(since + push.trusted_for)};
  else if (push.is_all)
    r.lease = push.lease;
  if (!push.is_all) return;
  r.is_known = true;
  r.used = ctx_.now;
  wake(r, true);
}

void session_table::on_owner_gone(aggregate_id aggregate) { forget(aggregate); }

void session_table::forget(aggregate_id aggregate) {
  const auto found = rooms_.find(number_of(aggregate));
  if (found == rooms_.end()) return;
  auto r = std::move(found->second);
  rooms_.erase(found);
  wake(r, false);
}

void session_table::note_elsewhere(aggregate_id aggregate) {
  elsewhere_[number_of(aggregate)] = ctx_.now + elsewhere_for;
}

bool session_table::is_elsewhere(aggregate_id aggregate) const {
  const auto found = elsewhere_.find(number_of(aggregate));
  return found != elsewhere_.end() && ctx_.now < found->second;
}

/// Pushes may wait to be read since this thread stood still.
void session_table::notice_pause(milliseconds now) {
  if (now <= swept_at_ + still_max) return;
  swept_at_ = awake_since_ = now;
  for (auto& [number, r] : rooms_) {
    r.is_known = false;
    r.is_asked = !r.waiting.empty() && ask(aggregate_id{number});
  }
}

void session_table::sweep(milliseconds now) {
  notice_pause(now);
  swept_at_ = now;
  while (auto* late = take_late(now)) late->handle.resume();
  if (++ticks_ % sweep_ticks != 0) return;
  std::erase_if(elsewhere_, [&](const auto& item) { return item.second <= now; });
  std::erase_if(rooms_, [&](auto& item) {
    auto& r = item.second;
    const bool unused = r.waiting.empty() && now - r.used > unused_max;
    if (unused && ctx_.bridge) ctx_.bridge->watch_sessions_of(aggregate_id{item.first}, false);
    return unused;
  });
}

/// Removes one waiter past its timeout. Searches from the start each time, because a resumed waiter may
/// change the table.
session_table::waiter* session_table::take_late(milliseconds now) {
  for (auto& [number, r] : rooms_) {
    if (r.waiting.empty() || r.waiting.front()->give_up > now) continue;
    auto* late = r.waiting.front();
    r.waiting.pop_front();
    r.is_asked = r.is_known; // lets the next request subscribe again
    return late;
  }
  return nullptr;
}

void session_table::stop() {
  stopped_ = true;
  auto rooms = std::move(rooms_);
  rooms_.clear();
  for (auto& [number, r] : rooms) wake(r, false);
}

} // namespace fq::net
