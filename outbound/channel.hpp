// SPDX-License-Identifier: Apache-2.0
// The port of every way out for notices: one domain event to one target (a device, a webhook endpoint). Which
// events go to whom, when a try is repeated and when it is given up is decided elsewhere
// (domain/delivery/delivery); a port makes one try and says what came of it.
#pragma once
#include "domain/delivery/delivery.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fq {

/// What is told: the same in every try and to every target.
struct notice {
  uuid id; ///< of the domain event; whoever gets it twice knows it by this
  std::string topic; ///< domain/delivery/outbox: "queue.turn_granted"
  std::string payload; ///< a JSON object, see docs/events.md
  tenant_id tenant = default_tenant;
  timestamp created_at;
  timestamp expires_at = never; ///< worth nothing afterwards
};

/// To whom.
struct delivery_target {
  uuid id; ///< of the device or endpoint
  std::string address; ///< a device's token, or a url. Secret: in no log and no answer
  std::vector<std::string> secrets{}; ///< webhooks: that sign now, newest first; two while one is replaced
  bool is_sandbox = false; ///< APNs: a token of the development environment
};

struct delivery_answer {
  delivery_outcome outcome = delivery_outcome::again;
  int status = 0; ///< HTTP; 0: there was no answer
  std::string reason{}; ///< one word for people and logs: the service's own code ("Unregistered",
                        ///< "QUOTA_EXCEEDED") or ours ("timeout", "ssrf_blocked")
  std::optional<milliseconds> retry_after{}; ///< not before; asked for by the other side
  std::optional<timestamp>
    gone_since{}; ///< of `gone`: a target registered after this is another one; nothing given: it is gone
  bool is_channel_down = false; ///< of `again`: no other target would be reached now either
  bool is_our_fault = false; ///< our settings or our program: a person is to be told
};

/// What a try may take with all its steps. Whoever makes tries holds what is told for 60 s and begins them in
/// the first half of it (actors/outbox/courier): one that lasted longer than the rest could be taken and sent
/// twice.
constexpr milliseconds delivery_time_max{25'000};

class channel_port {
public:
  virtual ~channel_port() = default;
  /// Starts a try. `done` is called exactly once, on any thread, possibly before this returns, in bounded
  /// time (delivery_time_max). From one thread only.
  virtual void deliver(const notice& what, const delivery_target& to,
                       std::function<void(delivery_answer)> done) = 0;
};

} // namespace fq
