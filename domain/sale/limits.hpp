// SPDX-License-Identifier: Apache-2.0
// The limits of domain/sale, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace fq {

// -- audit
/// Max lines of a report.
inline constexpr std::size_t contradictions_max = 20;

// -- idempotency
/// Retention time of an answer.
inline constexpr milliseconds idempotency_life{24 * 60 * 60 * 1000};
/// Max answers per aggregate; beyond it the oldest is dropped, and a retry then meets the ordinary rules.
inline constexpr std::size_t idempotency_rows_max = 200'000;

// -- sale
/// The limits of an event at which a client gets another answer (I14). A simulation draws small ones.
struct sale_bounds {
  /// Sessions that one `revoke` with scope all ends, to bound the commit. A caller that gets this count calls
  /// again.
  std::size_t revocations = 20'000;
  std::size_t priorities = 50'000; ///< customers with a priority class
  std::size_t invitations = 50'000; ///< customers with an invitation
  std::size_t access_codes = 8; ///< that an entry may give
  /// Rows of one kind that one run moves: commits and pushes stay small. The next run follows at once.
  std::size_t rows_per_run = 500;
  std::size_t refunds_per_run = 100; ///< each is a gateway call; at most rows_per_run
  std::size_t checkin_lists = 50; ///< including removed ones
  std::size_t checkin_devices = 1'000; ///< including revoked ones
  std::size_t scans = 1'000'000; ///< in memory, about 200 bytes each
  /// A tenth of `scans`, so that one stolen phone cannot use them up; ten days with 10,000 each.
  std::size_t scans_of_device = 100'000;
  /// Ten days with 15 entries and 15 exits each; so that a broken scanner does not fill `scans` with one
  /// ticket.
  std::size_t scans_of_ticket = 300;
  std::size_t conflict_scans = 5'000; ///< of a page of conflicts and one more: 2 MB
  /// Beyond it a refused scan is answered but not recorded, so that no broken scanner uses up `scans`.
  std::size_t refused_scans = 200'000;
};
/// Max units of a ticket type, as its setting `total`.
inline constexpr std::int64_t seated_units_max = 10'000'000;
/// An offer of a ticket ends after it.
inline constexpr milliseconds transfer_life{7 * 24 * 60 * 60 * 1000ll};
/// Offers of one ticket that were not accepted, in the history that an organizer reads: the newest.
inline constexpr std::size_t refused_offers_shown_max = 10;
/// Max age of the time that a scanner gives: the longest that a gate is offline. An older time becomes this.
inline constexpr milliseconds scan_age_max{7 * 24 * 60 * 60 * 1000ll};
/// Max orders that a gate's search for a name or a part of an id looks at, the newest: milliseconds.
inline constexpr std::size_t gate_search_max = 50'000;
/// Characters of a part of an id that a gate searches for: fewer are in nearly every id.
inline constexpr std::size_t gate_id_min = 4;
/// Min time between two mails to a customer about an invitation to the same event.
inline constexpr milliseconds invitation_mail_pause{24 * 60 * 60 * 1000};
/// Max automatic refunds that wait for the gateway's first answer. A refund that is already being retried
/// does not count, because a gateway may be unavailable for days.
inline constexpr std::size_t refunds_under_way_max = 200;
/// Max failed attempts about which the gateway is asked again per lapsed_pause.
inline constexpr std::size_t lapsed_per_run = 20;
/// See lapsed_per_run.
inline constexpr milliseconds lapsed_pause{1'000};
/// Time after its due time in which such a question is repeated until it is answered.
inline constexpr milliseconds lapsed_memory{24 * 60 * 60 * 1000};

// -- sale_line
/// Max entries per run that become AWAY, come back, or expire.
inline constexpr std::size_t absences_per_run = 500;

/// Max ended entries that a standalone queue forgets per run: a few milliseconds.
inline constexpr std::size_t forgotten_per_run = 10'000;
/// Between two runs for ended entries alone: one forgets all that ended within a second.
inline constexpr milliseconds forgetting_pause{1'000};
/// The lowest number in memory is written when it has risen by this: a load reads at most so many rows in
/// vain, and the write costs nothing.
inline constexpr std::uint64_t first_kept_step = 4'096;

// -- sale_orders
/// Max orders per run that change because of time.
inline constexpr std::size_t orders_per_run = 500;

// -- sale_refunds
/// Max open dead letters of an event about payments whose rows are lost. Beyond it the gateway must report
/// again.
inline constexpr std::size_t unknown_payments_max = 10'000;
/// Max pause between two questions about a refund that is pending at the gateway.
inline constexpr milliseconds pending_refund_pause_max{6 * 60 * 60 * 1000};

// -- sale_views
/// Window of the admission rate for the ETA.
inline constexpr milliseconds eta_span{60'000};
/// Bounds of the poll interval: short near the front, longer with the expected wait.
inline constexpr double poll_min_ms = 500;
/// See poll_min_ms.
inline constexpr double poll_max_ms = 15'000;

/// Of a lobby: of the last seconds before the opening, and of the draw.
inline constexpr double lobby_poll_min_ms = 2'000;

// -- statistics
/// At most one row of statistics per event in it.
inline constexpr milliseconds statistics_step{60'000};
/// Distances of the points of an answer: a minute to a day.
inline constexpr std::array statistics_steps{milliseconds{60'000},     milliseconds{300'000},
                                             milliseconds{900'000},    milliseconds{3'600'000},
                                             milliseconds{21'600'000}, milliseconds{86'400'000}};
/// Points of an answer: 25 hours of minutes, more than a chart has pixels.
inline constexpr std::int64_t statistics_points_max = 1'500;
/// Of the rows of one answer, at most one a minute: a reader of the ledger is busy for some 100 ms.
inline constexpr milliseconds statistics_span_max{62ll * 24 * 60 * 60 * 1000};
/// Interventions that a report lists, newest first.
inline constexpr std::uint32_t reported_interventions_max = 200;

} // namespace fq
