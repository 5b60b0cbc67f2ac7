// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/watcher.hpp"

#include <algorithm>

namespace fq::sim {
namespace {

constexpr milliseconds reopen_after{500};
/// Maximum delay of a push without faults.
constexpr milliseconds push_delay{500};
/// Maximum time to renew a subscription: a region may wait 3 s for a lost node, then it is retried.
constexpr milliseconds renewed_within{5'000};

} // namespace

// -- committed states -------------------------------------------------------------------------------------

void place_history::applied(const batch& b) {
  if (b.aggregate != world_.aggregate) return;
  ++batches_;
  for (const auto& c : b.content) {
    const auto* joined = std::get_if<entry_joined>(&c);
    const auto* moved = std::get_if<entry_moved>(&c);
    if (joined == nullptr && moved == nullptr) continue;
    const auto& row = joined != nullptr ? joined->row : moved->row;
    auto& states = places_[row.number];
    if (!states.empty() && states.back().status == row.status) continue;
    states.push_back({row.status, batches_});
    changed_at_[row.number] = world_.env->steady_now();
  }
}

const std::vector<place_history::state>& place_history::of(queue_number n) const {
  static const std::vector<state> none;
  const auto known = places_.find(n);
  return known == places_.end() ? none : known->second;
}

// -- sockets ----------------------------------------------------------------------------------------------

void watcher::adopt(const entry_reply& told) {
  if (told.no || !is_live(told.entry.status) || sockets_.contains(told.entry.number)) return;
  const auto* row = world_.store->find_entry(world_.aggregate, told.entry.number);
  if (row == nullptr) return; // reported by the fan's own checks
  sockets_.emplace(told.entry.number, socket{row->subject, world_.env->steady_now(), {}});
  if (phase_ == phase::closed) return open();
  if (phase_ == phase::open) take_snapshot(told.entry.number);
}

// -- subscriptions ----------------------------------------------------------------------------------------

void watcher::on_owner_gone() {
  if (phase_ != phase::closed) lose();
}

void watcher::become(phase p) {
  if (phase_ == phase::open || phase_ == phase::closed) not_open_since_ = world_.env->steady_now();
  phase_ = p;
  since_ = world_.env->steady_now();
}

void watcher::lose() {
  ++generation_;
  become(phase::lost);
  was_lost_ = true;
  to_show_.clear();
  for (auto& [n, s] : sockets_) s.in_sync = false;
}

/// The last socket closes.
void watcher::close() {
  ++generation_;
  become(phase::closed);
  was_lost_ = false;
  asker_.tell({false});
}

void watcher::tick() {
  if (phase_ == phase::closed) return;
  if (sockets_.empty()) return close();
  if (phase_ == phase::lost && since_ + reopen_after <= world_.env->steady_now()) return open();
  if (phase_ != phase::open) return;
  take_snapshots();
}

void watcher::open() {
  become(phase::opening);
  asker_.ask_line({world_.event}, [this, generation = generation_](const caf::error& why, const line_reply&) {
    if (generation != generation_) return;
    why ? lose() : subscribe_there();
  });
}

/// Subscribes first and takes snapshots afterwards, so that no change between them is lost.
void watcher::subscribe_there() {
  if (!asker_.tell({true})) return lose();
  if (strikes(world_.rng, world_.options.mesh.subscribes_again)) asker_.tell({true});
  asker_.ask_line({world_.event},
                  [this, generation = generation_](const caf::error& why, const line_reply& told) {
                    if (generation != generation_) return;
                    why ? lose() : opened(told);
                  });
}

void watcher::opened(const line_reply& told) {
  become(phase::open);
  line_.begin(told.line.version);
  if (std::exchange(was_lost_, false)) world_.check->reached(rare::subscribed_again);
  to_show_.clear();
  for (const auto& [n, s] : sockets_) to_show_.push_back(n);
  take_snapshots();
}

// -- snapshots --------------------------------------------------------------------------------------------

void watcher::take_snapshots() {
  for (const auto n : std::exchange(to_show_, {})) take_snapshot(n);
}

void watcher::take_snapshot(queue_number n) {
  const auto known = sockets_.find(n);
  if (known == sockets_.end()) return;
  asker_.ask_entry({world_.event, known->second.customer},
                   [this, n, generation = generation_](const caf::error& why, const entry_reply& told) {
                     if (generation != generation_) return; // a new owner sends new snapshots
                     if (why) return to_show_.push_back(n);
                     show(n, told);
                   });
}

/// An acknowledged place was lost, or the customer has a newer one: this place is over.
void watcher::show(queue_number n, const entry_reply& told) {
  const auto known = sockets_.find(n);
  if (known == sockets_.end()) return;
  if (told.no) return world_.check->fail("I7", "a snapshot does not know place " + text(n));
  if (told.entry.number != n) {
    sockets_.erase(known);
    return;
  }
  auto& s = known->second;
  const auto& states = world_.places->of(n);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < states.size(); ++i)
    if (states[i].status == told.entry.status) shown.push_back(i);
  if (shown.empty())
    return world_.check->fail("I7", "a snapshot shows place " + text(n) + " in a state that is not durable");
  if (!s.heard.empty()) std::erase_if(shown, [&](std::size_t i) { return i < s.heard.front(); });
  if (shown.empty())
    return world_.check->fail("I17",
                              "a snapshot shows place " + text(n) + " as it was before what was pushed");
  s.heard = std::move(shown);
  s.in_sync = true;
  if (fq::is_in_line(told.entry.status)) {
    if (told.line_version != line_.version())
      return world_.check->fail("I9", "the pushes before a snapshot of place " + text(n) + " differ");
    s.spot = told.entry.spot;
    s.has_position = told.entry.position != 0; // none before a draw
    s.base = line_.base_of(s.spot, told.entry.position);
  }
  if (!is_live(told.entry.status)) sockets_.erase(known);
}

// -- pushes -----------------------------------------------------------------------------------------------

void watcher::on_entries_changed(const entries_changed& push) {
  auto news = line_copy::news::known;
  if (phase_ == phase::open) news = line_.advance(push.before, push.version);
  if (news == line_copy::news::next) {
    for (const auto& spot : push.overtaking) line_.arrived(spot);
    for (const auto& c : push.changes) line_.changed(c.spot, c.status);
  }
  for (const auto& c : push.changes)
    if (const auto known = sockets_.find(c.number); known != sockets_.end() && known->second.in_sync)
      hear(c.number, known->second, c.status);
  if (news == line_copy::news::missed) lose();
}

/// Each state follows the one before it. Of the states of one batch, some may be left out.
void watcher::hear(queue_number n, socket& s, entry_status status) {
  const auto& states = world_.places->of(n);
  std::vector<std::size_t> next;
  bool is_durable = false, is_later = false;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].status != status) continue;
    is_durable = true;
    is_later = is_later || i > s.heard.front();
    const auto follows = [&](std::size_t before) {
      return before < i && (before + 1 == i || states[before + 1].batch == states[i].batch);
    };
    if (std::ranges::any_of(s.heard, follows)) next.push_back(i);
  }
  if (next.empty())
    return world_.check->fail("I9", !is_durable
                                      ? "place " + text(n) + " was pushed in a state that is not durable"
                                    : is_later ? "a change of place " + text(n) + " was not pushed"
                                               : "a change of place " + text(n) + " was pushed twice");
  s.heard = std::move(next);
  if (!is_live(status)) sockets_.erase(n);
}

bool watcher::is_in_line(queue_number n, const socket& s) const {
  return s.in_sync && !s.heard.empty() && fq::is_in_line(world_.places->of(n).at(s.heard.back()).status);
}

void watcher::check_positions(const std::string& node, const queue_line& owners) const {
  for (const auto& [n, s] : sockets_) {
    if (!is_in_line(n, s) || !s.has_position) continue;
    const auto* e = owners.find(n);
    const auto position = line_.position(s.spot, s.base);
    if (e == nullptr || !fq::is_in_line(e->status) || position != owners.position(*e))
      return world_.check->fail("I8", node + " computes position " + std::to_string(position.value_or(0))
                                        + " for place " + text(n));
    if (line_.is_away(s.spot) && e->status != entry_status::away)
      return world_.check->fail("I8", node + " shows place " + text(n) + " as AWAY, and its holder is back");
  }
}

void watcher::check_calm(const std::string& node, milliseconds calm_from) const {
  const auto now = world_.env->steady_now();
  if (sockets_.empty()) return;
  if (phase_ != phase::open) {
    if (now > std::max(not_open_since_, calm_from) + renewed_within)
      world_.check->fail("I13", "the sockets at " + node + " hear nothing");
    return;
  }
  const auto since = std::max(since_, calm_from);
  for (const auto& [n, s] : sockets_)
    if ((s.heard.empty() || s.heard.back() + 1 != world_.places->of(n).size())
        && now > std::max({since, s.opened_at, world_.places->changed_at(n)}) + push_delay)
      return world_.check->fail("I13", "the socket of place " + text(n) + " at " + node
                                         + " was not told what became of it");
}

} // namespace fq::sim
