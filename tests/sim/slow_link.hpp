// SPDX-License-Identifier: Apache-2.0
// A slow path to the ledger worker and back. Acts in enqueue() without a behavior. Keeps the order of each
// direction.
#pragma once
#include "tests/sim/world.hpp"

#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>

#include <map>

namespace fq::sim {

class slow_link final : public caf::monitorable_actor {
public:
  /// `both_ways`: answers return through a second link.
  slow_link(caf::actor_config& config, caf::strong_actor_ptr target, world* w,
            caf::detail::test_actor_clock* clock, bool both_ways) :
      caf::monitorable_actor(config),
      target_(std::move(target)),
      world_(w),
      clock_(clock),
      both_ways_(both_ways) {}

  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) override {
    if (both_ways_ && element->sender) element->sender = way_back(element->sender);
    const auto most = world_->chaos ? world_->options.faults.store_delay : milliseconds{0};
    const auto at = std::max(last_, clock_->now() + between(world_->rng, milliseconds{0}, most));
    last_ = at;
    if (at <= clock_->now()) {
      target_->enqueue(std::move(element), nullptr);
      return;
    }
    clock_->schedule_message(at, target_, std::move(element));
  }

private:
  caf::strong_actor_ptr way_back(const caf::strong_actor_ptr& sender) {
    auto& link = ways_back_[sender->id()];
    if (!link) {
      caf::actor_config config{home_system().dummy_execution_unit()};
      link = caf::make_actor<slow_link, caf::strong_actor_ptr>(home_system().next_actor_id(),
                                                               home_system().node(), &home_system(), config,
                                                               sender, world_, clock_, false);
    }
    return link;
  }

  caf::strong_actor_ptr target_;
  world* world_;
  caf::detail::test_actor_clock* clock_;
  bool both_ways_;
  caf::actor_clock::time_point last_{};
  std::map<caf::actor_id, caf::strong_actor_ptr> ways_back_;
};

} // namespace fq::sim
