// SPDX-License-Identifier: Apache-2.0
// Statistics of an event: the row of a minute, and sums over the rows of its sale.
#pragma once
#include "domain/model/event_rows.hpp"

#include <cstdint>
#include <vector>

namespace fq {

/// The state of an event at one moment, and what happened since the row before. The owner writes at most one
/// a minute, and none while nothing changes.
struct statistics_row {
  timestamp at; ///< the full minute in which it was written; unique per event
  std::uint64_t waiting = 0, waiting_peak = 0; ///< then; highest since the row before
  std::uint64_t admitted = 0; ///< active sessions
  std::uint64_t arrivals = 0, admissions = 0; ///< since the row before
  std::uint64_t arrivals_total = 0, admissions_total = 0; ///< since the event exists
  std::int64_t held = 0, sold = 0, available = 0; ///< units; queues: 0
  money revenue = 0; ///< confirmed minus refunded
  friend bool operator==(const statistics_row&, const statistics_row&) = default;
};
FQ_ROW(statistics_row, "statistics", aggregate, row_field("at", &row::at, key),
       row_field("waiting", &row::waiting, once), row_field("waiting_peak", &row::waiting_peak, once),
       row_field("admitted", &row::admitted, once), row_field("arrivals", &row::arrivals, once),
       row_field("admissions", &row::admissions, once),
       row_field("arrivals_total", &row::arrivals_total, once),
       row_field("admissions_total", &row::admissions_total, once), row_field("held", &row::held, once),
       row_field("sold", &row::sold, once), row_field("available", &row::available, once),
       row_field("revenue", &row::revenue, once))

/// Units of one ticket type that were ever bought.
struct type_figures {
  std::uint32_t ticket_type = 0; ///< ordinal
  std::int64_t bought = 0;
  std::int64_t refunded = 0; ///< of `bought`
  money revenue = 0; ///< of those that are not refunded, without fees
  friend bool operator==(const type_figures&, const type_figures&) = default;
};

/// Sums over all rows of an event, for its report.
struct sale_figures {
  std::vector<type_figures> types; ///< by ordinal; only types that were bought
  std::uint64_t purchases = 0; ///< claims that were ever confirmed
  std::uint64_t buyers = 0; ///< their customers
  std::uint64_t places = 0; ///< their places in line
  std::uint64_t refunds = 0, refunds_open = 0; ///< made; not made yet
  money refunded = 0; ///< of those made
  std::uint64_t waiting_peak = 0;
  timestamp waiting_peak_at; ///< the first row with it; never: no row
  timestamp sold_out_at; ///< the first row with nothing free or held; never: none
  friend bool operator==(const sale_figures&, const sale_figures&) = default;
};

} // namespace fq
