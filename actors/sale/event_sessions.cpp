// SPDX-License-Identifier: Apache-2.0
#include "actors/sale/event_sessions.hpp"

#include "actors/sale/event_mirror.hpp"
#include "domain/base/planted.hpp"

#include <algorithm>
#include <utility>

namespace fq {

event_sessions::~event_sessions() {
  if (planted(bug::lost_sessions_kept)) return;
  auto lost = news();
  lost.is_lost = true;
  for (const auto& w : watchers_) send_(w.table, lost);
}

void event_sessions::watch(caf::strong_actor_ptr table, bool is_remote, milliseconds asked_at) {
  const auto known = std::ranges::find(watchers_, table, &watcher::table);
  if (known == watchers_.end()) watchers_.push_back({table, false, is_remote});
  journal_->at_boundary([this, table = std::move(table), asked_at]() -> std::function<void()> {
    const auto mine = std::ranges::find(watchers_, table, &watcher::table);
    if (mine == watchers_.end()) return [] {};
    mine->begun = true;
    auto all = news();
    all.is_all = true;
    all.asked_at = asked_at;
    sale_->queue().each_session(
      [&](const queue_line::entry& e) { all.begun.push_back(state_of(session_of(e.row()))); });
    return [this, table, all = std::move(all)] { send(table, all); };
  });
}

bool event_sessions::pulse() {
  if (std::ranges::none_of(watchers_, &watcher::is_remote)) return false;
  for (auto& w : watchers_)
    if (w.begun && w.is_remote) send(w, news());
  return true;
}

void event_sessions::send(const caf::strong_actor_ptr& table, sessions_changed news) {
  if (const auto to = std::ranges::find(watchers_, table, &watcher::table); to != watchers_.end())
    send(*to, std::move(news));
}

void event_sessions::clock_changed() {
  for (auto& w : watchers_)
    if (w.begun) send(w, news());
}

void event_sessions::send(watcher& to, sessions_changed news) {
  news.now = clock_->now(); // a push may have waited for its commit
  news.is_paused = clock_->is_paused();
  if (!to.is_remote) return send_(to.table, std::move(news));
  const auto changes = news.begun.size() + news.ended.size();
  if (to.window.is_closed()) { // the remote table's content expires after `session_trust`
    if (changes > 0 || news.is_all) to.window.miss();
    return;
  }
  const auto left = lease_ ? lease_->left(steady_()) : session_trust;
  news.lease = {}; // not visible on another node: send the remaining time instead
  news.trusted_for = std::min(session_trust, left);
  if (left <= milliseconds{0}) news.is_lost = true;
  send_(to.table, std::move(news));
  if (const auto number = to.window.pushed(1 + changes)) mark_(to.table, {*number, push_kind::sessions});
}

void event_sessions::read(const caf::strong_actor_ptr& table, std::uint64_t mark) {
  const auto w = std::ranges::find(watchers_, table, &watcher::table);
  if (w == watchers_.end() || !w->window.read(mark)) return;
  auto lost = news();
  lost.is_lost = true;
  send(*w, std::move(lost));
}

void event_sessions::unwatch(const caf::strong_actor_ptr& table) {
  std::erase_if(watchers_, [&](const watcher& w) { return w.table == table; });
}

void event_sessions::begun(const batch& b) {
  if (std::ranges::none_of(watchers_, &watcher::begun)) return;
  const auto delta = mirror_of(b.content);
  if (delta.sessions.empty() && delta.ended.empty()) return;
  auto changed = news();
  for (const auto& s : delta.sessions) changed.begun.push_back(state_of(s));
  if (!planted(bug::session_end_not_told))
    for (const auto& s : delta.ended) changed.ended.push_back(state_of(s).ticket);
  for (const auto& w : watchers_)
    if (w.begun) journal_->hold(b.to_seq, [this, table = w.table, changed] { send(table, changed); });
}

sessions_changed event_sessions::news() const {
  sessions_changed x;
  x.event = sale_->event().id;
  x.tenant = sale_->event().tenant;
  x.kind = sale_->event().kind;
  x.lease = lease_of_copy{lease_};
  x.now = clock_->now();
  x.is_paused = clock_->is_paused();
  return x;
}

session_state event_sessions::state_of(const mirrored_session& s) const {
  return {make_entry_id(s.joined_at, sale_->event().aggregate, s.number), s.admission_no, s.subject_name,
          s.expires_at};
}

} // namespace fq
