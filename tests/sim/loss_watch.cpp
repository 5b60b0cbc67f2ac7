// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/loss_watch.hpp"

#include <algorithm>

namespace fq::sim {
namespace {
/// Heartbeats, and their slack, after which all nodes must know what one saw.
constexpr int gossip_beats = 4;
} // namespace

void loss_watch::went_back() {
  const auto* head = world_.store->head(world_.aggregate);
  const ledger_mark stored{head->epoch, head->applied_seq};
  stored_ = stored;
  is_forgotten_ = std::ranges::none_of(seen_, [&](const sight& s) { return stored.is_behind(s.mark); });
  world_.check->lose_track();
  if (!is_forgotten_) world_.check->reached(rare::commits_lost);
}

void loss_watch::was_told() {
  if (!has_lost()) return world_.check->fail("I7", "the sale is stopped, but the ledger lost nothing");
  if (world_.chaos && !is_told_) world_.check->reached(rare::loss_noticed);
  is_told_ = true;
}

void loss_watch::ended() {
  if (!has_lost() || is_told_) return;
  const auto& m = world_.options.mesh;
  const auto all_know = world_.env->steady_now() - m.beat_interval * gossip_beats - m.link_delay * 2;
  const bool others_know = m.on && std::ranges::any_of(seen_, [&](const sight& s) {
                             return s.at <= all_know && stored_->is_behind(s.mark);
                           });
  if (!others_know) is_forgotten_ = true;
  if (others_know) world_.check->reached(rare::loss_known_to_others);
}

void loss_watch::applied() const {
  if (!is_forgotten_) world_.check->fail(lost_invariant, "a batch was committed above lost commits");
}

void loss_watch::check_end(bool is_served) const {
  if (is_told_ && is_served) world_.check->fail(lost_invariant, "a sale is served that lost commits");
}

} // namespace fq::sim
