// SPDX-License-Identifier: Apache-2.0
// Limits and times that all engines share.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

/// Max rows of each kind that an acquire loads, newest first: 24 h of keys at 2 per second. Older rows stay
/// in the ledger until `prune`; its uniqueness constraint still refuses a repeated receipt that is not
/// loaded.
inline constexpr std::size_t loaded_idempotency_max = 200'000;
inline constexpr std::size_t loaded_receipts_max = 200'000;

/// Max units of one ticket type: far above any sale, far below integer overflow of a sum.
inline constexpr std::int64_t ticket_total_max = 1'000'000'000'000;

/// An aggregate's outbox rows belong to partition `number % outbox_partitions`; a dispatcher leases
/// partitions. The migrations contain this number.
inline constexpr std::uint32_t outbox_partitions = 16;

/// Tenants that one request for due deliveries may skip: as many parameters of a SQLite statement.
inline constexpr std::size_t busy_tenants_max = 16;

/// Logs of one key that a witness cosigns: more than an installation has events. The statements of the
/// engines contain this number.
inline constexpr std::size_t witnessed_logs_per_key_max = 10'000;

/// Finished tasks in the history of the installation. The statements of the engines contain this number.
inline constexpr std::size_t finished_tasks_max = 1'000;

/// A node without a heartbeat for this time is deleted.
inline constexpr milliseconds node_memory{24 * 60 * 60 * 1000};

/// disable_endpoint looks for deliveries since `since`. If that is more recent than this, it scans all
/// deliveries by end time, because those are fewer than one busy endpoint's deliveries of a month.
inline constexpr milliseconds a_moment{60'000};

/// Part of I15's 5 s: see `session_reader` for the sum.
inline constexpr milliseconds vouch_life{1'500};
/// A vouch that reaches the cache later than this has no effect, because the owner cannot withdraw it.
inline constexpr milliseconds vouch_delay_max{500};
/// How long a session that was read counts as known: its process may stand still with the answer (I15).
inline constexpr milliseconds found_session_life{500};

/// History rows that a pruning looks at for each deleted entry: an entry writes about three.
inline constexpr std::size_t history_rows_per_entry = 8;

/// Max events that find_events_to_settle gives, because each is loaded at once, and that it looks at: it
/// counts their event tickets, well within a second.
inline constexpr std::size_t events_settled_at_once = 4;
inline constexpr std::size_t events_looked_at = 20;

/// Pictures of a tenant, and of one of its organizers: a picture has at most 390 KB, so a tenant has at most
/// 390 MB. Statements contain these numbers.
inline constexpr std::size_t pictures_per_tenant_max = 1'000;
inline constexpr std::size_t pictures_per_organizer_max = 200; ///< see pictures_per_tenant_max
/// Pictures are looked at by the first two digits of their ids, 256 slices, so that a pruning is short.
inline constexpr seconds picture_slice_time{30};

/// Max elements per chunk of a mirror step: blocks the cache server for about 1 ms.
inline constexpr std::size_t mirror_chunk_max = 1'000;

} // namespace fq
