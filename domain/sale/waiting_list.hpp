// SPDX-License-Identifier: Apache-2.0
// The waiting list of a sale: from the moment that no unit is left to sell or held, the line waits for units
// that come back. Each goes to the first who may buy it, as always, with a longer window; no place has to be
// watched. Also what the odds of a place depend on.
#pragma once
#include "domain/sale/sale.hpp"

namespace fq {

/// Sold out, and whatever comes back goes to the line.
inline bool is_waiting_list(const event_row& event) { return is_set(event.waiting_list.began_at); }

/// The time without a poll or connection until AWAY; 0: presence is not watched.
[[nodiscard]] milliseconds presence_timeout_of(const event_row& event);
inline bool watches_presence(const event_row& event) { return presence_timeout_of(event).count() > 0; }

/// When the hours end in which the list offers nothing; `never`: it may offer now.
[[nodiscard]] timestamp quiet_until(const event_row& event, const sale_rules& rules, timestamp now);
/// The settings in force. On the list one person is offered each unit, and has time to read the mail about
/// it.
[[nodiscard]] queue_settings admission_of(const event_row& event, const sale_rules& rules, timestamp now);

[[nodiscard]] sale_evidence evidence_of(const sale& s, timestamp now);
/// Of an entry with a position that may buy public types only. Other entries have no odds.
[[nodiscard]] outlook outlook_of(const sale& s, const queue_line::entry& e, timestamp now);

} // namespace fq
