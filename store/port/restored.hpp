// SPDX-License-Identifier: Apache-2.0
// Losses that a person accepts: those that a node noticed, and those of a restored backup, which no process
// can notice.
#pragma once
#include "domain/base/environment.hpp"
#include "store/port/ledger.hpp"

#include <functional>
#include <string>

namespace fq {

/// More epochs and decisions than an aggregate gets after a backup.
inline constexpr std::uint64_t restored_gap = 1'000'000'000;

/// The audit row of an accepted loss. `detail`: JSON.
audit_row accepted_row(const lost_aggregate& lost, std::string detail, environment& env, timestamp now);

/// After the restore of a backup: accepts, as if restored_gap decisions were lost, the loss of every event
/// and queue whose public log is not marked yet. `only`: of this one; nil: of all. Calls `accepted` for each.
/// Returns the number of public logs, marked before or now. Throws ledger_unavailable if a node
/// runs: run it again then, because events may be marked already.
std::size_t accept_restored(ledger& store, environment& env, const event_id& only,
                            const std::function<void(const lost_aggregate&)>& accepted);

} // namespace fq
