// SPDX-License-Identifier: Apache-2.0
// Gateway webhooks that arrive by the bus: verified like those by HTTP, sent to the payment's owner,
// acknowledged after its commit. Detached in production because the inbox blocks.
#pragma once
#include "actors/base/bus_counts.hpp"
#include "actors/outbox/limits.hpp"
#include "actors/protocol/region_messages.hpp"
#include "domain/base/environment.hpp"
#include "domain/base/retry.hpp"
#include "outbound/gateway.hpp"
#include "outbound/nats_inbox.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <string>

namespace fq {

struct bus_inbox_services {
  environment* env = nullptr;
  inbox_port* port = nullptr; ///< not shared: a port belongs to one thread
  const gateway_port* gateway = nullptr; ///< verifies the webhooks
  region_handle region;
  /// False: nodes of another kind serve. Null: always true. Called on the actor's thread.
  std::function<bool()> may_take = nullptr;
  /// Receives failures of the inbox and rejected messages; may be null.
  std::function<void(const std::string&)> warn;
  bus_inbox_counts* counts = nullptr; ///< may be null
  retry_policy pauses{/// Before a message is redelivered, and while the bus is unavailable.
                      0, milliseconds{1'000}, milliseconds{60'000}};
  milliseconds patience{500}; ///< of one poll; blocks the actor
};

using bus_inbox_handle = caf::typed_actor<caf::reacts_to<timer_fired>>; ///< INTERNAL: the next poll

class bus_inbox_state {
public:
  static inline const char* name = "bus inbox";
  using pointer = bus_inbox_handle::stateful_pointer<bus_inbox_state>;

  void init(pointer self, const bus_inbox_services& services);
  bus_inbox_handle::behavior_type behavior();

private:
  void look();
  void look_after(milliseconds pause);
  void on_message(const inbox_message& m);
  void settle(const inbox_message& m, inbox_verdict verdict);
  void count(inbox_verdict verdict);
  void finish_one();
  void warn(const std::string& what) const;

  pointer self_ = nullptr;
  const bus_inbox_services* services_ = nullptr;
  std::size_t under_way_ = 0;
  std::uint32_t failures_ = 0; ///< consecutive failures
};

bus_inbox_handle::behavior_type bus_inbox(bus_inbox_handle::stateful_pointer<bus_inbox_state> self,
                                          const bus_inbox_services* services);

} // namespace fq
