// SPDX-License-Identifier: Apache-2.0
// Rules that all engines share: the texts in history rows, and counters beside the rows. Called by the
// engines.
#pragma once
#include "store/port/ledger.hpp"
#include "store/port/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fq {

/// Subject of a history row. Stored as a number: never renumber, only append.
enum class history_kind : std::uint8_t { event, entry, claim, payment, refund, order, event_ticket };

/// "event", "entry", "claim", "payment", "refund", "order" or "event ticket".
std::string name_of(history_kind kind);

/// The text of a state in history rows; `status` is the number of an enumerator of the kind's status type.
std::string state_name(history_kind kind, std::uint8_t status);

/// Whether the entry is waiting and was never admitted or ended: the normal join.
bool is_plain_join(const entry_row& r);

/// Change of the number of waiting, AWAY and admitted entries by `b`. Exact, because a move with another
/// stored status is refused.
std::int64_t live_entries_gained(const batch& b);

/// What `b` adds to the totals of its line: sums, and the greatest numbers (0 for none).
line_totals totals_gained(const batch& b);
/// Adds them.
void add(line_totals& to, const line_totals& gained);

/// Value of the aggregate row's kind column: 2 for an event, 3 for a standalone queue.
constexpr std::int64_t aggregate_kind_of(event_kind kind) { return kind == event_kind::sale ? 2 : 3; }

} // namespace fq
