// SPDX-License-Identifier: Apache-2.0
// The port of a notice channel: makes one attempt to deliver one notice to one target (a device or a webhook
// endpoint) and returns its outcome. domain/delivery/delivery decides routing, retries and giving up.
#pragma once
#include "domain/delivery/delivery.hpp"
#include "outbound/limits.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fq {

/// The content of a delivery: the same in every attempt and for every target.
struct notice {
  uuid id; ///< of the domain event; receivers detect repeats by it
  std::string topic; ///< see domain/delivery/outbox; for example "queue.turn_granted"
  std::string payload; ///< a JSON object, see docs/events.md
  tenant_id tenant = default_tenant;
  timestamp created_at;
  timestamp expires_at = never; ///< not delivered after this time
};

/// The receiver of a delivery.
struct delivery_target {
  uuid id; ///< of the device or endpoint
  std::string address; ///< device token or URL; secret: never logged or returned
  /// webhooks: the signing secrets in use, newest first; two during a rotation
  std::vector<std::string> secrets{};
  bool is_sandbox = false; ///< APNs: a token of the development environment
  fq::language language = fq::language::en; ///< of a push
};

struct delivery_answer {
  delivery_outcome outcome = delivery_outcome::again;
  int status = 0; ///< HTTP status; 0: no answer
  std::string reason{}; ///< one word for people and logs: the service's error code ("Unregistered",
                        ///< "QUOTA_EXCEEDED") or one of FairQueue's ("timeout", "ssrf_blocked")
  std::optional<milliseconds> retry_after{}; ///< from the answer: no retry before
  std::optional<timestamp> gone_since{}; ///< for `gone`: a target registered after this time stays valid;
                                         ///< absent: the target is gone in any case
  bool is_channel_down = false; ///< for `again`: deliveries to all other targets would fail now too
  bool is_our_fault = false; ///< wrong settings or a bug: an operator must act
};

class channel_port {
public:
  virtual ~channel_port() = default;
  /// Starts an attempt. Calls `done` exactly once within delivery_time_max, on any thread, possibly before
  /// this returns. Call it from one thread only.
  virtual void deliver(const notice& what, const delivery_target& to,
                       std::function<void(delivery_answer)> done) = 0;
};

} // namespace fq
