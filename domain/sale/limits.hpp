// SPDX-License-Identifier: Apache-2.0
// The limits of domain/sale, each with its reason.
#pragma once
#include "domain/base/time.hpp"

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
};
/// Max units of a ticket type, as its setting `total`.
inline constexpr std::int64_t seated_units_max = 10'000'000;
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

} // namespace fq
