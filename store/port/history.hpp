// SPDX-License-Identifier: Apache-2.0
// What every engine agrees on: how a step of a life cycle is told in history, what is counted beside the
// rows, the bounds of what is loaded, and the limits that all engines enforce. Called by the engines; knows
// rows and states, no storage.
#pragma once
#include "store/port/ledger.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fq {

/// What a history row is about. The numbers are stored: never renumber, only append.
enum class history_kind : std::uint8_t { event, entry, claim, payment, refund, order };

/// "event", "entry", "claim", "payment", "refund" or "order".
std::string name_of(history_kind kind);

/// The state's text as history tells it; `status` is the number of an enumerator of the kind's status type.
std::string state_name(history_kind kind, std::uint8_t status);

/// A waiting entry with nothing else to tell: what the join path writes.
bool is_plain_join(const entry_row& r);

/// By how much `b` moves the number of entries that wait or shop. Exact, because a move names the status it
/// starts from and is refused if that is not the stored one.
std::int64_t live_entries_gained(const batch& b);

/// What the row among the aggregates says it is: 2 an event, 3 a standalone queue.
constexpr std::int64_t aggregate_kind_of(event_kind kind) { return kind == event_kind::sale ? 2 : 3; }

/// Newest rows an acquire returns at most, of each kind. 24 h of keys at a sustained 2 a second; older ones
/// are still in the ledger until `prune`, and a receipt that is not loaded is still refused by its
/// uniqueness.
inline constexpr std::size_t loaded_idempotency_max = 200'000;
inline constexpr std::size_t loaded_receipts_max = 200'000;

/// Units of one ticket type at most: far above any sale, far below what could overflow a sum.
inline constexpr std::int64_t ticket_total_max = 1'000'000'000'000;

} // namespace fq
