// SPDX-License-Identifier: Apache-2.0
// Switches checkout from asynchronous to synchronous when domain/sale/checkout_watch triggers. Checks this
// process's metrics periodically; changes the installation's setting, audited under "system". Each node
// watches its own orders, and one trigger switches all nodes. Never switches back.
#pragma once
#include "actors/base/measures.hpp"
#include "actors/protocol/accounts_messages.hpp"
#include "actors/protocol/directory_messages.hpp"
#include "domain/base/environment.hpp"
#include "domain/sale/checkout_watch.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <optional>
#include <string>

namespace fq {

struct checkout_switch_services {
  environment* env = nullptr;
  measures* numbers = nullptr; ///< read for the check; counts switches
  std::string gateway; ///< its workers are watched: the default gateway of orders
  rollback_rules rules;
  milliseconds interval{5'000}; ///< between two checks
  accounts_handle accounts;
  directory_handle directory; ///< refreshed after a switch; may be null
  /// Called after a switch, on an actor's thread; may be null.
  std::function<void(const std::string& trigger)> note;
};

using checkout_switch_handle = caf::typed_actor<caf::reacts_to<timer_fired>>; ///< INTERNAL

class checkout_switch_state {
public:
  static inline const char* name = "checkout_switch";
  using pointer = checkout_switch_handle::stateful_pointer<checkout_switch_state>;

  void init(pointer self, const checkout_switch_services& services);
  checkout_switch_handle::behavior_type behavior();

private:
  void on_tick();
  [[nodiscard]] checkout_look look() const;
  void roll_back(rollback_trigger why);
  void rolled_back(rollback_trigger why, bool is_stored);

  pointer self_ = nullptr;
  const checkout_switch_services* services_ = nullptr;
  std::optional<checkout_watch> watch_;
  bool is_asking_ = false; ///< waiting for the accounts actor
};

checkout_switch_handle::behavior_type checkout_switch(
  checkout_switch_handle::stateful_pointer<checkout_switch_state> self,
  const checkout_switch_services* services);

} // namespace fq
