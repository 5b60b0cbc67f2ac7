// SPDX-License-Identifier: Apache-2.0
#define CAF_SUITE domain_statistics
#include "domain/sale/limits.hpp"
#include "domain/sale/report.hpp"
#include "domain/sale/statistics.hpp"

#include "caf/test/unit_test.hpp"

namespace statistics_test {

using namespace fq;

namespace {

constexpr milliseconds minute{60'000};
constexpr timestamp noon = from_unix_ms(1'795'262'400'000);
static_assert(unix_ms(noon) % minute.count() == 0);

event_stats stats_at(timestamp at) {
  event_stats s;
  s.server_time = at;
  s.total = s.available = 10;
  return s;
}

/// A book of an event that nothing has happened to.
statistics_book fresh_book() {
  statistics_book book(minute);
  book.start(std::nullopt, stats_at(noon));
  return book;
}

audit_row deed(std::string action) {
  audit_row row;
  row.action = std::move(action);
  return row;
}

} // namespace

CAF_TEST(an event that does not change writes no row) {
  auto book = fresh_book();
  CAF_CHECK(!book.has_news(stats_at(noon + 5 * minute)));
  CAF_CHECK(!book.take(stats_at(noon + 5 * minute)));
}

CAF_TEST(a row has the state and what happened since the row before) {
  auto book = fresh_book();
  auto s = stats_at(noon + minute + milliseconds{7});
  s.waiting = 3;
  s.joined_total = 5;
  s.admitted_total = 2;
  s.admitted = 1;
  s.held = 2;
  s.sold = 1;
  s.available = 7;
  s.revenue = 900;
  book.see_waiting(4);
  const auto first = book.take(s);
  CAF_REQUIRE(first.has_value());
  CAF_CHECK(*first == (statistics_row{noon + minute, 3, 4, 1, 5, 2, 5, 2, 2, 1, 7, 900}));
  s.server_time = noon + minute * 3;
  s.joined_total = 9;
  s.admitted_total = 6;
  s.waiting = 1;
  const auto second = book.take(s);
  CAF_REQUIRE(second.has_value());
  CAF_CHECK_EQUAL(second->arrivals, 4u);
  CAF_CHECK_EQUAL(second->admissions, 4u);
  CAF_CHECK_EQUAL(second->waiting_peak, 3u); // as many waited when the minute began
  CAF_CHECK_EQUAL(second->arrivals_total, first->arrivals + second->arrivals);
}

CAF_TEST(a minute gets one row) {
  auto book = fresh_book();
  auto s = stats_at(noon + minute);
  s.joined_total = 1;
  CAF_CHECK(book.take(s).has_value());
  s.joined_total = 2;
  s.server_time += milliseconds{59'999};
  CAF_CHECK(book.has_news(s));
  CAF_CHECK(!book.take(s));
  CAF_CHECK(book.next(s.server_time) == noon + 2 * minute);
  s.server_time += milliseconds{1};
  CAF_CHECK_EQUAL(book.take(s).value().arrivals, 1u);
}

CAF_TEST(a successor goes on after the last row) {
  auto book = fresh_book();
  auto s = stats_at(noon + minute);
  s.joined_total = 5;
  const auto last = book.take(s);
  s.joined_total = 8; // its owner ended before it wrote these
  s.server_time += milliseconds{20'000};
  statistics_book next(minute);
  next.start(last, s);
  CAF_CHECK(next.has_news(s));
  CAF_CHECK(!next.take(s));
  s.server_time = noon + 2 * minute;
  CAF_CHECK_EQUAL(next.take(s).value().arrivals, 3u);
  statistics_book again(minute);
  again.start(last, stats_at(noon));
  auto same = stats_at(noon + 9 * minute);
  same.joined_total = 5;
  CAF_CHECK(!again.has_news(same));
}

CAF_TEST(an answer takes the shortest step that has all) {
  CAF_CHECK(window_of(noon, noon + 24 * 60 * minute, {}).step == minute);
  CAF_CHECK(window_of(noon, noon + 26 * 60 * minute, {}).step == 5 * minute);
  CAF_CHECK(window_of(noon, noon + 3000 * 24 * 60 * minute, {}).step == 24 * 60 * minute);
}

CAF_TEST(an answer is bounded and begins with a whole step) {
  const auto hour = 60 * minute;
  const auto window = window_of(noon + 17 * minute, noon + 5 * hour, hour);
  CAF_CHECK(window.from <= noon + 17 * minute && unix_ms(window.from) % hour.count() == 0);
  CAF_CHECK(window.to == noon + 5 * hour);
  const auto many = window_of(noon, noon + 100 * 24 * hour, minute);
  CAF_CHECK(many.to == noon + minute * statistics_points_max);
  const auto next = window_of(many.to, noon + 100 * 24 * hour, minute);
  CAF_CHECK(next.from == many.to); // without a gap
  const auto days = window_of(noon, noon + 100 * 24 * hour, 24 * hour);
  CAF_CHECK(days.to - days.from == statistics_span_max);
  for (const auto step : statistics_steps) {
    CAF_CHECK(is_statistics_step(step));
    CAF_CHECK(statistics_span_max % step == milliseconds{0});
  }
  CAF_CHECK(!is_statistics_step(2 * minute));
}

// -- the report

CAF_TEST(a report sums up a sale) {
  report_sources s;
  auto& event = s.event.event;
  event.name = "Night";
  event.currency = "NGN";
  event.sale_start = noon;
  s.event.ticket_types = {{0, {}, "Standing", 500, 8}, {1, {}, "Seat", 900, 2}};
  s.stats = stats_at(noon + 90 * minute);
  s.stats.joined_total = 30;
  s.stats.admitted_total = 8;
  s.stats.total = 10;
  s.stats.sold = 9;
  s.stats.revenue = 5'000;
  s.figures.types = {{0, 8, 1, 3'500}};
  s.figures.purchases = 6;
  s.figures.buyers = 5;
  s.figures.places = 5;
  s.figures.refunds = 1;
  s.figures.refunded = 500;
  s.figures.sold_out_at = noon + 2 * minute + milliseconds{1};
  s.interventions = {deed("event.pause"), deed("event.resume"), deed("event.pause")};
  const auto r = report_of(s);
  CAF_CHECK_EQUAL(r.conversion_percent, 63); // 5 of 8, half-up
  CAF_CHECK_EQUAL(r.minutes_to_sold_out, 3);
  CAF_CHECK_EQUAL(r.refunded_tickets, 1);
  CAF_REQUIRE_EQUAL(r.types.size(), 2u);
  CAF_CHECK(r.types[0] == (type_report{{}, "Standing", 500, 8, 7, 1, 3'500}));
  CAF_CHECK(r.types[1] == (type_report{{}, "Seat", 900, 2, 0, 0, 0})); // nothing bought
  CAF_CHECK(
    (r.intervention_counts == std::vector<intervention_count>{{"event.pause", 2}, {"event.resume", 1}}));
}

CAF_TEST(a report of a sale that did not begin divides by nothing) {
  report_sources s;
  s.event.event.sale_start = noon;
  s.stats = stats_at(noon);
  const auto r = report_of(s);
  CAF_CHECK_EQUAL(r.conversion_percent, -1);
  CAF_CHECK_EQUAL(r.minutes_to_sold_out, -1);
  s.figures.sold_out_at = noon;
  CAF_CHECK_EQUAL(report_of(s).minutes_to_sold_out, 1); // within the first minute
}

} // namespace statistics_test
