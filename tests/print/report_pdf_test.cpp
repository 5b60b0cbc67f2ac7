// SPDX-License-Identifier: Apache-2.0
// Printed reports, read back by poppler's programs.
#define CAF_SUITE report_pdf
#include "caf/test/unit_test.hpp"

#include "print/limits.hpp"
#include "print/report_pdf.hpp"
#include "tests/print/read_pdf.hpp"

using namespace fq;
using namespace fq::print;
using namespace fq::test;

namespace {

report_document sample_report(int rows = 3, int points = 60) {
  report_document d;
  d.title = "Night of the long queue";
  d.subtitle = "Report of the sale";
  d.created_at = from_unix_ms(1'800'000'000'000);
  d.facts = {{"Tickets sold", "400 of 400"}, {"Sold out after", "12 min"}, {"Revenue", "59600.00 EUR"}};
  report_chart chart{"People", {}, {{"Waiting", {}}, {"Arrivals", {}}}, "12:00", "13:00", "highest: 60"};
  for (int i = 0; i < points; ++i) {
    chart.times.push_back(i);
    for (auto& line : chart.lines) line.values.push_back(i % 61);
  }
  d.charts = {chart};
  report_table table{"Ticket types", {"Type", "Sold", "Revenue"}, {}, "Without fees."};
  for (int i = 0; i < rows; ++i) table.rows.push_back({"Type " + std::to_string(i), "7", "1.00"});
  d.tables = {table};
  return d;
}

int pages_of(const read_pdf& pdf) {
  const auto info = pdf.by("pdfinfo");
  return std::stoi(info.substr(info.find("Pages:") + 6));
}

} // namespace

CAF_TEST(a report has its facts charts and tables and its fonts inside) {
  const auto bytes = report_pdf(sample_report());
  CAF_CHECK(bytes.size() < 150 * 1024);
  const read_pdf pdf{bytes};
  const auto text = pdf.text();
  for (const auto* part : {"Night of the long queue", "400 of 400", "Sold out after", "Waiting",
                           "highest: 60", "Ticket types", "Type 2", "Without fees."})
    CAF_CHECK(holds(text, part));
  CAF_CHECK(pdf.foreign_fonts().empty());
  CAF_CHECK_EQUAL(pages_of(pdf), 1);
  check_words_apart(bytes);
}

CAF_TEST(a long table goes on on the next page and ends) {
  const read_pdf long_one{report_pdf(sample_report(100))};
  CAF_CHECK(pages_of(long_one) > 1);
  CAF_CHECK(holds(long_one.text(), "Type 99"));
  const read_pdf endless{report_pdf(sample_report(5'000))};
  CAF_CHECK(pages_of(endless) < 10);
  CAF_CHECK(!holds(endless.text(), "Type " + std::to_string(table_rows_max)));
}

CAF_TEST(a report without numbers is printed) {
  CAF_CHECK(!report_pdf({}).empty());
  CAF_CHECK(holds(read_pdf{report_pdf(sample_report(0, 0))}.text(), "Ticket types"));
  CAF_CHECK(holds(read_pdf{report_pdf(sample_report(1, 1))}.text(), "Type 0")); // no line has one point
}

CAF_TEST(texts of strangers stay in their places) {
  auto d = sample_report();
  std::string longest;
  for (int i = 0; i < 400; ++i) longest += "Wide ";
  d.title = d.subtitle = longest;
  for (auto& fact : d.facts) fact.label = fact.value = longest;
  for (auto& row : d.tables.front().rows)
    for (auto& cell : row) cell = longest;
  d.charts.front().title = d.charts.front().begin = d.charts.front().end = longest;
  for (auto& line : d.charts.front().lines) line.name = longest;
  check_words_apart(report_pdf(d));
}
