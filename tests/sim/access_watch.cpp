// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/access_watch.hpp"

#include <algorithm>

namespace fq::sim {

void access_watch::applied(const batch& b) {
  if (b.aggregate != world_.aggregate) return;
  commits_.emplace_back(now(), b.at);
  for (const auto& c : b.content) {
    const auto* moved = std::get_if<entry_moved>(&c);
    if (moved == nullptr) continue;
    const auto& row = moved->row;
    const bool is_in_force = row.status == entry_status::admitted;
    const auto known = sessions_.find(row.number);
    if (known == sessions_.end() && !is_in_force) continue;
    sessions_[row.number].moments.push_back({now(), is_in_force, deadline_of(row)});
  }
}

void access_watch::issued(const entry_id& session) {
  if (std::ranges::find(issued_, session) == issued_.end()) issued_.push_back(session);
}

const entry_id* access_watch::some_session() {
  if (issued_.empty()) return nullptr;
  const auto latest = std::min<std::size_t>(issued_.size(), chance(world_.rng, 800) ? 6 : issued_.size());
  return &issued_[issued_.size() - 1 - world_.rng() % latest];
}

milliseconds access_watch::window_begin() const {
  return now() - access_stale_max - world_.drift_within(access_stale_max);
}

/// Whether `holds` was true of a committed state that was in force within the window.
template <class Holds>
bool access_watch::was(const session& s, Holds holds) const {
  for (auto i = s.moments.rbegin(); i != s.moments.rend(); ++i) {
    if (holds(*i)) return true;
    if (i->at <= window_begin()) return false; // this one was in force when the window began
  }
  return false;
}

/// The owner's time when the window began, at least; `never`: not known.
timestamp access_watch::time_at_begin() {
  while (commits_.size() > 1 && commits_[1].first <= window_begin()) commits_.pop_front();
  return commits_.front().first <= window_begin() ? commits_.front().second : never;
}

void access_watch::granted(const std::string& node, const entry_id& id, timestamp expires_at) {
  const auto n = queue_number_of(id);
  const auto known = sessions_.find(n);
  if (known == sessions_.end() || !was(known->second, [](const moment& m) { return m.is_in_force; }))
    return world_.check->fail("I15", node + " lets in a visitor whose session " + text(n) + " is over");
  if (const auto t = time_at_begin(); is_set(t) && expires_at <= t)
    return world_.check->fail("I15", node + " lets in a visitor after the end of session " + text(n));
  if (!known->second.moments.back().is_in_force) world_.check->reached(rare::access_was_stale);
}

/// A session ends once, so no age excuses this answer. A deadline passes before its end is committed.
void access_watch::refused(const std::string& node, const entry_id& id, bool knows_beginning) {
  const auto n = queue_number_of(id);
  const auto known = sessions_.find(n);
  if (known == sessions_.end()) return;
  const auto& s = known->second;
  const bool may_be_older = !knows_beginning && s.moments.front().at > window_begin();
  if (may_be_older || !s.moments.back().is_in_force) return;
  if (!was(s, [this](const moment& m) { return m.ends <= world_.check->right_time; }))
    world_.check->fail("I15", node + " refuses the visitor of session " + text(n) + ", which is in force");
}

} // namespace fq::sim
