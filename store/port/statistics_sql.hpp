// SPDX-License-Identifier: Apache-2.0
// Statements about statistics that both SQL engines run, and the readers of their rows. `p(n)` is the text of
// parameter n, an integer.
#pragma once
#include "store/port/row_sql.hpp"

#include <string>

namespace fq {

/// list_statistics: 1 aggregate, 2 from, 3 to, 4 step.
template <class Parameter>
std::string statistics_sql(Parameter p) {
  return "SELECT " + column_names<statistics_row>("s.")
         + ", g.peak, g.arrivals, g.admissions FROM (SELECT max(at) AS last, max(waiting_peak) AS peak,"
           " CAST(sum(arrivals) AS bigint) AS arrivals, CAST(sum(admissions) AS bigint) AS admissions"
           " FROM statistics WHERE aggregate = "
         + p(1) + " AND at >= " + p(2) + " AND at < " + p(3) + " GROUP BY at / " + p(4)
         + ") AS g JOIN statistics AS s ON s.aggregate = " + p(1) + " AND s.at = g.last ORDER BY s.at";
}
inline constexpr auto statistics_of_step = [](const auto& r) {
  constexpr int sums = column_count<statistics_row>();
  auto row = read_row<statistics_row>(r);
  row.waiting_peak = r.template number<std::uint64_t>(sums);
  row.arrivals = r.template number<std::uint64_t>(sums + 1);
  row.admissions = r.template number<std::uint64_t>(sums + 2);
  return row;
};

/// The last row of an event: 1 aggregate.
template <class Parameter>
std::string last_statistics_sql(Parameter p) {
  return select_rows<statistics_row>() + "WHERE aggregate = " + p(1) + " ORDER BY at DESC LIMIT 1";
}

/// Types that were bought: 1 aggregate. Claims 2 are confirmed, 4 refunded.
template <class Parameter>
std::string type_figures_sql(Parameter p) {
  return "SELECT i.ticket_type, CAST(sum(i.quantity) AS bigint), CAST(sum(i.refunded) AS bigint),"
         " CAST(sum((i.quantity - i.refunded) * (i.unit_price - i.unit_discount + i.donation)) AS bigint)"
         " FROM claim AS c JOIN claim_item AS i ON i.aggregate = c.aggregate AND i.claim = c.id"
         " WHERE c.aggregate = "
         + p(1) + " AND c.status IN (2, 4) GROUP BY i.ticket_type ORDER BY i.ticket_type";
}
inline constexpr auto type_figures_of = [](const auto& r) {
  return type_figures{r.template number<std::uint32_t>(0), r.integer(1), r.integer(2), r.integer(3)};
};

/// The other sums, in one row: 1 aggregate. Refunds 0 are requested, 1 have succeeded.
template <class Parameter>
std::string figures_sql(Parameter p) {
  const auto of = " WHERE aggregate = " + p(1);
  return "SELECT purchases, buyers, places, made, open, refunded, coalesce(peak.waiting_peak, 0),"
         " coalesce(peak.at, 0), sold_out FROM"
         " (SELECT count(*) AS purchases, count(DISTINCT customer) AS buyers,"
         " count(DISTINCT queue_number) AS places FROM claim"
         + of
         + " AND status IN (2, 4)) AS bought CROSS JOIN"
           " (SELECT count(*) FILTER (WHERE status = 1) AS made, count(*) FILTER (WHERE status = 0) AS open,"
           " CAST(coalesce(sum(amount) FILTER (WHERE status = 1), 0) AS bigint) AS refunded FROM refund"
         + of + ") AS back CROSS JOIN (SELECT coalesce(min(at), 0) AS sold_out FROM statistics" + of
         + " AND available = 0 AND held = 0 AND sold > 0) AS gone LEFT JOIN"
           " (SELECT waiting_peak, at FROM statistics"
         + of + " ORDER BY waiting_peak DESC, at LIMIT 1) AS peak ON 1 = 1";
}
/// Without the types.
inline constexpr auto figures_of = [](const auto& r) {
  sale_figures f;
  f.purchases = r.template number<std::uint64_t>(0);
  f.buyers = r.template number<std::uint64_t>(1);
  f.places = r.template number<std::uint64_t>(2);
  f.refunds = r.template number<std::uint64_t>(3);
  f.refunds_open = r.template number<std::uint64_t>(4);
  f.refunded = r.integer(5);
  f.waiting_peak = r.template number<std::uint64_t>(6);
  f.waiting_peak_at = r.time(7);
  f.sold_out_at = r.time(8);
  return f;
};

} // namespace fq
