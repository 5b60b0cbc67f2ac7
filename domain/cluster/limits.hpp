// SPDX-License-Identifier: Apache-2.0
// The limits of domain/cluster, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstdint>

namespace fq {

// -- placement
/// Nodes within this many aggregates of the least loaded node count as equally loaded, because heartbeats are
/// slightly old.
inline constexpr std::uint32_t load_tolerance = 8;
/// Time after which a node in a minority partition takes an unowned aggregate anyway: the other nodes may be
/// gone.
inline constexpr milliseconds isolation_patience{60'000};
/// Checks for which a claim waits until a claim of a higher rank is withdrawn. A claim that stays belongs to
/// a node that serves.
inline constexpr int claim_patience = 5;
/// Time around its opening in which an event does not move.
inline constexpr milliseconds opening_quiet{10 * 60 * 1000};

// -- heartbeats
/// Tenths of a heartbeat interval between two readings that count: a reading may come slightly early.
inline constexpr int reading_tenths = 9;
/// Readings without a new heartbeat after which a node is silent.
inline constexpr std::uint32_t silent_readings = 3;
/// Readings after which a silent node is forgotten.
inline constexpr std::uint32_t watched_readings_max = 30;

} // namespace fq
