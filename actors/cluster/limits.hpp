// SPDX-License-Identifier: Apache-2.0
// The limits of actors/cluster, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- cluster
/// For the region's answer; without one this heartbeat is skipped.
inline constexpr milliseconds owned_count_timeout{1'000};
/// Heartbeats for which a starting node waits for connections to all nodes.
inline constexpr std::uint32_t patience_beats = 10;
/// Heartbeat intervals without an answer after which the ledger counts as unavailable.
inline constexpr int ledger_patience_beats = 3;

/// Max news of committed aggregates in one message to another node; the rest waits for the next heartbeat.
inline constexpr std::size_t sights_per_beat_max = 10'000;
/// Tenths of a heartbeat interval. While another node is not connected, a node trusts a lease for so long
/// after it has looked at it, and after its last heartbeat that the ledger has. The other one ends the lease
/// later: after 27 tenths without a heartbeat (domain/cluster/heartbeats.hpp).
inline constexpr int trusted_apart_tenths = 25;
/// Tenths of a heartbeat interval. A node trusts its leases for so long after it began a heartbeat. So a
/// frozen process wakes up without trust.
inline constexpr int trusted_run_tenths = 35;
/// For the ledger to end a dead node's leases. The next heartbeat asks again.
inline constexpr milliseconds end_leases_timeout{3'000};

// -- region
/// Time for which an aggregate with a spent restart budget is refused.
inline constexpr milliseconds cool_down{10'000};
/// The same after the ledger lost commits of it; then the ledger is asked again.
inline constexpr milliseconds lost_cool_down{3'000};
/// Time for which another node's ownership is cached.
inline constexpr milliseconds owner_cache_life{1'000};
/// Max supervisors (I14); beyond it new aggregates are refused until others stop.
inline constexpr std::size_t owners_max = 100'000;
/// Retry of a scan that the ledger did not answer.
inline constexpr milliseconds wake_retry{500};
/// For a supervisor's answer: longer than any load and any client's timeout.
inline constexpr milliseconds resolve_timeout{60'000};
/// For another node's region. Below a client's timeout.
inline constexpr milliseconds forward_timeout{3'000};
/// Max nodes asked in sequence for one request: enough for two moves meanwhile.
inline constexpr int forward_hops_max = 3;
/// Pause before a resolve request starts again.
inline constexpr milliseconds resolve_retry_pause{50};
/// Deadline of a resolve request, longer than any client's timeout.
inline constexpr milliseconds resolve_life{3'000};
/// Max simultaneous moves: each event is unavailable for about one load.
inline constexpr std::size_t moves_in_flight_max = 8;
/// Pause between batches of rebalancing moves: by then the heartbeats include the previous batch.
inline constexpr milliseconds rebalancing_pause{2'500};
/// For an owner to commit its decisions and hand over.
inline constexpr milliseconds move_timeout{10'000};
/// The same on another node, which first resolves its owner and later the successor.
inline constexpr milliseconds forwarded_move_timeout = move_timeout + 2 * forward_timeout;
/// Pause before an owner that refused to move is asked again.
inline constexpr milliseconds move_pause{30'000};

} // namespace fq
