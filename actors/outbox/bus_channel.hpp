// SPDX-License-Identifier: Apache-2.0
// What becomes of domain events on the bus. A consumer of the dispatcher, detached in production because the
// port blocks. A row is done when the bus has acknowledged it; while the bus is away rows stay in the outbox;
// what it will never take becomes a dead letter of its event. Per aggregate the bus has them in order: behind
// the first that is not done nothing of the same aggregate goes.
#pragma once
#include "actors/base/bus_counts.hpp"
#include "actors/outbox/outbox_turn.hpp"
#include "domain/base/environment.hpp"
#include "domain/base/retry.hpp"
#include "outbound/event_bus.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <memory>
#include <string>

namespace fq {

/// What there is to say of a row. The second seed's audit: PUBLISHED and PUBLISH_FAILED.
enum class bus_outcome : std::uint8_t {
  published,
  publish_failed, ///< it stays in the outbox, and is tried again
  given_up, ///< it will never be taken: left to a person
};

struct bus_services {
  environment* env = nullptr;
  bus_port* port = nullptr; ///< its own: ports belong to one thread
  region_handle region;
  /// Of each try, from the actor's thread; `why` is empty if it was published. May be null. Nothing of the
  /// payload belongs into a log.
  std::function<void(const outbox_item&, bus_outcome, const std::string& why)> note;
  bus_counts* counts = nullptr; ///< null: nobody asks
  retry_policy pauses{0, milliseconds{1'000},
                      milliseconds{30'000}}; ///< while the bus is away; their number is not limited
  milliseconds turn{10'000}; ///< for one batch; what is left comes again. Well below outbox_answer_timeout
};

class bus_channel_state {
public:
  static inline const char* name = "bus channel";
  using pointer = consumer_handle::stateful_pointer<bus_channel_state>;

  void init(pointer self, const bus_services& services) {
    self_ = self;
    services_ = &services;
  }
  consumer_handle::behavior_type behavior();

private:
  void on_batch(const consume_outbox& x);
  void deliver(outbox_turn& turn, const outbox_item& item);
  bus_answer publish(const outbox_item& item);
  void count(bus_result result);
  void note(const outbox_item& item, bus_outcome outcome, const std::string& why = {}) const;

  pointer self_ = nullptr;
  const bus_services* services_ = nullptr;
  std::uint32_t failures_ = 0; ///< in a row
  milliseconds away_until_{0}; ///< steady time: the bus is not tried before
};

consumer_handle::behavior_type bus_channel(consumer_handle::stateful_pointer<bus_channel_state> self,
                                           const bus_services* services);

} // namespace fq
