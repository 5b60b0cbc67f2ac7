// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/loss_watch.hpp"

#include <algorithm>

namespace fq::sim {
namespace {
/// Heartbeats, and their slack, after which all nodes must know what one saw.
constexpr int gossip_beats = 4;
} // namespace

milliseconds loss_watch::until_all_know() const {
  const auto& m = world_.options.mesh;
  return m.on ? m.beat_interval * gossip_beats + m.link_delay * 2 : milliseconds{0};
}

void loss_watch::went_back() {
  const auto* head = world_.store->head(world_.aggregate);
  const ledger_mark stored{head->epoch, head->applied_seq};
  stored_ = stored;
  back_at_ = world_.env->steady_now();
  is_forgotten_ = std::ranges::none_of(seen_, [&](const sight& s) { return is_lost(s); });
  world_.check->lose_track();
  if (!is_forgotten_) world_.check->reached(rare::commits_lost);
}

void loss_watch::noticed() {
  if (!has_lost()) return world_.check->fail("I7", "the sale is stopped, but the ledger lost nothing");
  if (world_.chaos && !is_noticed_) world_.check->reached(rare::loss_noticed);
  is_noticed_ = true;
}

void loss_watch::ended() {
  if (!has_lost() || is_noticed_) return;
  const auto all_know = world_.env->steady_now() - until_all_know();
  const bool others_know = world_.options.mesh.on && std::ranges::any_of(seen_, [&](const sight& s) {
                             return s.at <= all_know && is_lost(s);
                           });
  if (!others_know) is_forgotten_ = true;
  if (others_know) world_.check->reached(rare::loss_known_to_others);
}

void loss_watch::applied() {
  continues_ = true;
  if (!is_forgotten_ && world_.env->steady_now() >= back_at_ + until_all_know())
    world_.check->fail(lost_invariant, "a batch was committed above lost commits");
}

void loss_watch::check_end(bool is_served) const {
  if (continues_ && !is_noticed_ && !is_forgotten_)
    world_.check->fail(lost_invariant, "the sale continued above lost commits, and no process noticed");
  if (is_noticed_ && is_served) world_.check->fail(lost_invariant, "a sale is served that lost commits");
}

} // namespace fq::sim
