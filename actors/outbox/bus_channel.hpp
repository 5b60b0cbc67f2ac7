// SPDX-License-Identifier: Apache-2.0
// Publishes domain events on the bus. A consumer of the dispatcher, detached in production because the port
// blocks. Per aggregate, rows are published in order: an unfinished row blocks the later rows of its
// aggregate.
// - accepted by the bus: the row is done
// - bus unavailable: the row stays in the outbox
// - rejected by the bus: the row becomes a dead letter of its event
#pragma once
#include "actors/base/bus_counts.hpp"
#include "actors/outbox/outbox_turn.hpp"
#include "actors/protocol/outbox_messages.hpp"
#include "actors/protocol/region_messages.hpp"
#include "domain/base/environment.hpp"
#include "domain/base/retry.hpp"
#include "outbound/event_bus.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <memory>
#include <string>

namespace fq {

/// Outcome of publishing a row. Audited as PUBLISHED and PUBLISH_FAILED.
enum class bus_outcome : std::uint8_t {
  published,
  publish_failed, ///< stays in the outbox and is retried
  given_up, ///< rejected; becomes a dead letter for a person
};

struct bus_services {
  environment* env = nullptr;
  bus_port* port = nullptr; ///< not shared: a port belongs to one thread
  region_handle region;
  /// Called per attempt, on the actor's thread; `why` is empty on success. May be null. Must not log the
  /// payload.
  std::function<void(const outbox_item&, bus_outcome, const std::string& why)> note;
  bus_counts* counts = nullptr; ///< may be null
  /// Back-off while the bus is unavailable; unlimited retries.
  retry_policy pauses{0, milliseconds{1'000}, milliseconds{30'000}};
  /// Time per batch; the remaining rows are sent again. Well below outbox_answer_timeout.
  milliseconds turn{10'000};
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
  std::uint32_t failures_ = 0; ///< consecutive failures
  milliseconds away_until_{0}; ///< steady time of the next attempt after a failure
};

consumer_handle::behavior_type bus_channel(consumer_handle::stateful_pointer<bus_channel_state> self,
                                           const bus_services* services);

} // namespace fq
