// SPDX-License-Identifier: Apache-2.0
// Stored statistics and reports: what the routes ask the actors, and the form of their answers.
#define CAF_SUITE routes_reports
#include "caf/test/unit_test.hpp"

#include "domain/sale/limits.hpp"
#include "net/http/json_text.hpp"
#include "tests/net/api/world.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace reports_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

namespace json = boost::json;

constexpr timestamp noon = from_unix_ms(1'799'928'000'000);
constexpr milliseconds minute{60'000};

json::object json_of(const response& answer) { return json::parse(answer.body).as_object(); }

/// A sale that began at noon and sold out within three minutes.
struct sold_out : world {
  sold_out() {
    auto& stats = told->stats.stats;
    stats.server_time = noon + 10 * minute;
    stats.joined_total = 40;
    stats.admitted_total = 8;
    stats.total = stats.sold = 4;
    stats.revenue = 59'600;
    auto& event = told->event.event;
    event.event.id = event_id;
    event.event.name = "Night of the long queue";
    event.event.currency = "EUR";
    event.event.status = event_status::ended;
    event.event.queue_opens_at = event.event.sale_start = noon;
    event.event.sale_end = noon + 9 * minute;
    event.ticket_types = {{0, claim_id, "=Standing", 14'900, 4, 0, 4}};
    auto& got = told->statistics;
    got.rows = {{noon + minute, 30, 32, 2, 35, 4, 35, 4, 2, 0, 2, 0},
                {noon + 3 * minute, 0, 30, 0, 5, 4, 40, 8, 0, 4, 0, 59'600}};
    got.figures.types = {{0, 5, 1, 59'600}};
    got.figures.purchases = 5;
    got.figures.buyers = got.figures.places = 4;
    got.figures.refunds = 1;
    got.figures.refunded = 14'900;
    got.figures.waiting_peak = 32;
    got.figures.waiting_peak_at = noon + minute;
    got.figures.sold_out_at = noon + 3 * minute;
    audit_row row;
    row.at = noon + 2 * minute;
    row.actor = "organizer:x";
    row.action = "event.pause";
    row.reason = "doors";
    told->audit.rows = {row};
    told->audit.more = true;
  }
  response read(std::string_view what) { return send(method::get, event_path(what), "", as_organizer()); }
};

} // namespace

CAF_TEST(statistics are of the last day in steps of a minute unless asked otherwise) {
  sold_out w;
  const auto answer = json_of(w.read("/statistics"));
  const auto& asked = w.told->asked_statistics;
  CAF_CHECK(asked.aggregate == first_event_aggregate && !asked.with_figures);
  CAF_CHECK(asked.step == minute && asked.to == noon + 10 * minute + milliseconds{1});
  CAF_CHECK(asked.from == noon + 10 * minute - 24 * 60 * minute);
  CAF_CHECK_EQUAL(answer.at("step_seconds").as_int64(), 60);
  CAF_CHECK(answer.at("next_from").is_null());
  const auto& points = answer.at("points").as_array();
  CAF_REQUIRE_EQUAL(points.size(), 2u);
  CAF_CHECK_EQUAL(json::serialize(points[0]),
                  R"({"at":"2027-01-14T12:01:00.000Z","waiting":30,"waiting_peak":32,"admitted":2,)"
                  R"("arrivals":35,"admissions":4,"held":2,"sold":0,"available":2,"revenue":0})");
}

CAF_TEST(statistics of a long time say where they go on) {
  sold_out w;
  const auto answer =
    json_of(w.read("/statistics?from=2027-01-01T00%3A00%3A00Z&to=2027-01-31T00:00:00Z&step=60"));
  const auto end = from_unix_ms(1'798'761'600'000) + minute * statistics_points_max;
  CAF_CHECK(w.told->asked_statistics.from == from_unix_ms(1'798'761'600'000));
  CAF_CHECK(w.told->asked_statistics.to == end);
  CAF_CHECK_EQUAL(answer.at("next_from").as_string(), rfc3339(end));
  CAF_CHECK_EQUAL(answer.at("to").as_string(), rfc3339(end));
}

CAF_TEST(wrong times and steps are refused before anybody is asked) {
  sold_out w;
  for (const auto* query : {"from=x", "to=2027-01-01", "from=%ff", "step=0", "step=61", "step=-60",
                            "step=", "step=60x", "step=99999999999999999999",
                            "from=2027-01-02T00:00:00Z&to=2027-01-02T00:00:00Z", "from=0001-01-01T00:00:00Z"})
    CAF_CHECK_EQUAL(shown(w.read("/statistics?" + std::string{query})), "400 invalid_parameter");
  CAF_CHECK_EQUAL(shown(w.read("/statistics?limit=1")), "400 unknown_parameter");
  CAF_CHECK_EQUAL(shown(w.read("/report?from=x")), "400 unknown_parameter");
  CAF_CHECK_EQUAL(w.told->questions, 0);
}

CAF_TEST(statistics of another organizer are not found and not read) {
  sold_out w;
  w.told->stats.no = reason::not_found;
  for (const auto* what : {"/statistics", "/report", "/report.csv", "/report.pdf"})
    CAF_CHECK_EQUAL(shown(w.read(what)), "404 not_found");
  CAF_CHECK(w.told->asked_statistics.step == milliseconds{0});
}

CAF_TEST(statistics of a queue have no stock and no money) {
  sold_out w;
  const auto path = "/queues/" + to_string(w.event_id) + "/statistics";
  const auto answer = json_of(w.send(method::get, path, "", w.as_operator()));
  CAF_CHECK_EQUAL(answer.at("queue_id").as_string(), to_string(w.event_id));
  const auto& point = answer.at("points").as_array()[0].as_object();
  CAF_CHECK_EQUAL(point.at("active").as_int64(), 2);
  CAF_CHECK(!point.contains("sold") && !point.contains("revenue"));
}

CAF_TEST(a report has totals types interventions and a timeline) {
  sold_out w;
  const auto report = json_of(w.read("/report"));
  CAF_CHECK(w.told->asked_statistics.with_figures);
  CAF_CHECK(w.told->asked_statistics.from == noon);
  CAF_CHECK(w.told->asked_audit.target == w.event_id);
  CAF_CHECK_EQUAL(w.told->asked_audit.limit, reported_interventions_max);
  CAF_CHECK_EQUAL(report.at("conversion_percent").as_int64(), 50);
  CAF_CHECK_EQUAL(report.at("minutes_to_sold_out").as_int64(), 3);
  CAF_CHECK_EQUAL(report.at("refunded_tickets").as_int64(), 1);
  CAF_CHECK_EQUAL(report.at("waiting_peak_at").as_string(), "2027-01-14T12:01:00.000Z");
  const auto& type = report.at("ticket_types").as_array()[0].as_object();
  CAF_CHECK_EQUAL(type.at("sold").as_int64(), 4);
  CAF_CHECK_EQUAL(type.at("revenue").as_int64(), 59'600);
  const auto& deeds = report.at("interventions").as_object();
  CAF_CHECK_EQUAL(json::serialize(deeds.at("counts")), R"({"event.pause":1})");
  CAF_CHECK(deeds.at("has_more").as_bool());
  CAF_CHECK_EQUAL(report.at("timeline").as_array().size(), 2u);
}

CAF_TEST(a report as a spreadsheet has no formula) {
  sold_out w;
  const auto file = w.read("/report.csv");
  CAF_CHECK(file.content_type.starts_with("text/csv"));
  CAF_CHECK_EQUAL(field_of(file, "Content-Disposition"),
                  "attachment; filename=\"report-" + to_string(w.event_id) + ".csv\"");
  const auto has = [&](std::string_view part) { return file.body.find(part) != std::string::npos; };
  CAF_CHECK(file.body.starts_with("\xef\xbb\xbf\"section\",\"item\",\"measure\",\"value\"\r\n"));
  CAF_CHECK(has("\"sale\",\"\",\"revenue\",\"596.00\""));
  CAF_CHECK(has("\"ticket_type\",\"'=Standing\",\"sold\",\"4\""));
  CAF_CHECK(has("\"intervention\",\"event.pause\",\"count\",\"1\""));
  CAF_CHECK(has("\"timeline\",\"2027-01-14T12:03:00.000Z\",\"sold\",\"4\""));
}

CAF_TEST(a manager has a limit of reports and statistics) {
  sold_out w;
  for (std::uint32_t n = 0; n < reports_per_manager; ++n)
    CAF_CHECK_EQUAL(w.read(n % 2 == 0 ? "/statistics" : "/report.csv").status, 200u);
  const auto before = w.told->questions;
  for (const auto* what : {"/statistics", "/report", "/report.csv", "/report.pdf"})
    CAF_CHECK_EQUAL(w.read(what).status, 429u);
  CAF_CHECK_EQUAL(w.told->questions, before);
}

CAF_TEST(a report is printed) {
  sold_out w;
  const auto file = w.read("/report.pdf");
  CAF_CHECK_EQUAL(file.status, 200u);
  CAF_CHECK_EQUAL(file.content_type, "application/pdf");
  CAF_CHECK(file.body.starts_with("%PDF-"));
  CAF_CHECK_EQUAL(field_of(file, "Content-Disposition"),
                  "attachment; filename=\"report-" + to_string(w.event_id) + ".pdf\"");
}

CAF_TEST(the audit log is exported) {
  world s;
  audit_row row;
  row.id = s.claim_id;
  row.actor = "organizer:x";
  row.action = "event.pause";
  row.target = s.event_id;
  row.reason = "=1+1";
  row.detail = R"({"a":"b"})";
  row.at = from_unix_ms(1'800'000'000'000);
  s.told->audit.rows = {row};
  const auto file = s.send(method::get, "/audit.csv?target=" + to_string(s.event_id), "", s.as_organizer());
  CAF_CHECK_EQUAL(file.status, 200u);
  CAF_CHECK(s.told->asked_audit.target == s.event_id);
  CAF_CHECK(file.body.find(R"("2027-01-15T08:00:00.000Z","organizer:x","event.pause",)")
            != std::string::npos);
  CAF_CHECK(file.body.find(R"("'=1+1","{""a"":""b""}")") != std::string::npos);
  CAF_CHECK_EQUAL(shown(s.send(method::get, "/audit.csv?target=x", "", s.as_organizer())),
                  "400 invalid_parameter");
}

} // namespace reports_test
