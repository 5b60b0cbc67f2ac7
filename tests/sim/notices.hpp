// SPDX-License-Identifier: Apache-2.0
// The devices and endpoints of the simulated sale, which lose notices and answers, and the check of I16: the
// real fan-out and couriers deliver each committed domain event to each of them at least once, unchanged.
#pragma once
#include "tests/sim/world.hpp"

#include "outbound/channel.hpp"

#include <caf/event_based_actor.hpp>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fq::sim {

class notice_watch {
public:
  explicit notice_watch(world& w) : world_(w) {}
  /// Registers devices of some fans, and endpoints.
  void create_targets();
  void applied(const batch& b);
  void attempt(const notice& what, const delivery_target& to, std::function<void(delivery_answer)> done);
  void answer(std::uint64_t attempt);
  /// For the end of the quiet phase.
  void check_end() const;

private:
  struct committed {
    outbox_row row;
    milliseconds at; ///< steady time
    std::vector<uuid> targets; ///< that must receive it
  };
  using key = std::pair<uuid, uuid>; ///< target and notice
  struct tally {
    int tries = 0, received = 0;
  };
  [[nodiscard]] std::string wrong_with(const uuid& target, const committed& c) const;

  world& world_;
  std::map<uuid, customer_id> devices_;
  std::map<uuid, std::string> endpoints_; ///< the one topic that it wants; empty: all
  std::map<uuid, committed> notices_;
  std::map<key, tally> tallies_;
  std::map<std::uint64_t, std::pair<std::function<void(delivery_answer)>, delivery_answer>> open_;
  std::uint64_t attempts_ = 0;
};

/// A channel of one process to the targets.
class sim_channel final : public channel_port {
public:
  explicit sim_channel(world& w) : world_(w) {}
  void deliver(const notice& what, const delivery_target& to,
               std::function<void(delivery_answer)> done) override {
    world_.notices->attempt(what, to, std::move(done));
  }

private:
  world& world_;
};

/// Sends the targets' answers after a delay.
caf::behavior sim_targets(caf::event_based_actor* self, world* w);

} // namespace fq::sim
