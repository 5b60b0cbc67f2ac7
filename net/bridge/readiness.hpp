// SPDX-License-Identifier: Apache-2.0
// Whether this server accepts requests, and if not the reason. Used by /readyz, by `fairqueue_ready` and
// its alert, and by the service manager's status.
#pragma once
#include "net/bridge/context.hpp"

namespace fq::net {

/// The first reason that applies, or ready.
enum class readiness : std::uint8_t {
  ready,
  draining,
  superseded, ///< until the process ends
  loading,
  another_version_serves,
  ledger_unreachable
};

/// Any thread.
[[nodiscard]] inline readiness readiness_of(const server_state& s) {
  if (s.draining.load(std::memory_order_relaxed)) return readiness::draining;
  if (s.is_superseded != nullptr && s.is_superseded->load(std::memory_order_relaxed))
    return readiness::superseded;
  if (!s.ready.load(std::memory_order_relaxed)) return readiness::loading;
  if (s.links != nullptr && !s.links->serves.load(std::memory_order_relaxed))
    return readiness::another_version_serves;
  if (s.ledger_is_reachable != nullptr && !s.ledger_is_reachable->load(std::memory_order_relaxed))
    return readiness::ledger_unreachable;
  return readiness::ready;
}

/// Text for people, as in `systemctl status`.
[[nodiscard]] constexpr std::string_view text_of(readiness r) {
  switch (r) {
    case readiness::ready: return "serving";
    case readiness::draining: return "draining";
    case readiness::superseded: return "superseded: a later process has this node's name";
    case readiness::loading: return "loading";
    case readiness::another_version_serves: return "waiting: nodes of another version serve";
    case readiness::ledger_unreachable: return "waiting: the ledger is unreachable";
  }
  return {};
}

} // namespace fq::net
