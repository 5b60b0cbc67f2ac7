// SPDX-License-Identifier: Apache-2.0
// Limits and times of the Postgres engine.
#pragma once
#include "domain/base/time.hpp"
#include "store/port/limits.hpp"

namespace fq::postgres_limits {

/// Pauses between connection attempts: the longest one bounds the delay after an outage.
inline constexpr milliseconds first_pause{100}, longest_pause{1'000};
/// Retries of a transaction after a deadlock; then the transaction is split.
inline constexpr int collisions_max = 3;
/// Limits after a first lock timeout, so that the search for the batch that waits is quick and bounded.
inline constexpr milliseconds short_wait{50};
inline constexpr int waits_max = 20;
/// Extra time, beyond the server's own limit, that a client waits for the answer.
inline constexpr milliseconds grace{2'000};
/// Another node may be migrating a large ledger.
inline constexpr milliseconds migration_time{10 * 60 * 1000};
/// Lock timeout of a migration, because its waiting lock request blocks later requests; then it begins again.
/// A transaction of a running node is far shorter.
inline constexpr milliseconds migration_patience{2'000};
inline constexpr int migration_attempts = 30;
/// Lock timeout of a dry run, because its waiting lock request blocks later requests.
inline constexpr milliseconds rehearsal_patience{2'000};
/// Far beyond any counter value: a clamped move is refused like the original, and no sum of moves overflows.
inline constexpr std::int64_t counter_move_max = 4 * ticket_total_max;

} // namespace fq::postgres_limits
