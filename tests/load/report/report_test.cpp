// SPDX-License-Identifier: Apache-2.0
// The reports and the exit codes.
#define CAF_SUITE load.report
#include "caf/test/unit_test.hpp"

#include "load/report/report.hpp"
#include "load/wire/wire.hpp"

#include <boost/json/value.hpp>

using namespace fq::load;

namespace {

crowd_result small_result() {
  crowd_result result;
  result.reached = true;
  result.elapsed_s = 2;
  result.history.terms.name = "A <b>sale</b>";
  result.history.terms.batch_size = 1;
  result.history.terms.types = {{{9, 1}, "Standard", 5, 3, 3}};
  fan_history fan;
  fan.end = outcome::sold_out;
  fan.joined_us = 1000;
  fan.places = {{900, 1000, place_kind::waiting, {1, 1}, 1, 4, 0},
                {1900, 2000, place_kind::waiting, {1, 1}, 1, 2, 0}};
  result.history.fans = {fan};
  result.steps.of(step::join).add(900, 1000);
  return result;
}

} // namespace

CAF_TEST(exit codes) {
  auto result = small_result();
  auto judged = judge(result.history);
  CAF_CHECK_EQUAL(exit_code_of(result, judged), 0);
  result.timed_out = true;
  CAF_CHECK_EQUAL(exit_code_of(result, judged), 3);
  judged.checks[2].result = verdict::broken;
  CAF_CHECK_EQUAL(exit_code_of(result, judged), 1);
  result.reached = false;
  CAF_CHECK_EQUAL(exit_code_of(result, judged), 2);
}

CAF_TEST(the json can be read back and names every check) {
  const auto result = small_result();
  const auto judged = judge(result.history);
  const auto read = parse_object(json_of({}, result, judged));
  CAF_REQUIRE(read.is_object());
  CAF_CHECK_EQUAL(read.at("checks").as_array().size(), judged.checks.size());
  CAF_CHECK_EQUAL(read.at("steps").as_array().size(), step_count);
  CAF_CHECK_EQUAL(read.at("outcomes").at("sold_out").as_int64(), 1);
  CAF_CHECK_EQUAL(read.at("exit_code").as_int64(), 0);
}

CAF_TEST(the page is self-contained and escapes what the server said) {
  const auto result = small_result();
  const auto page = html_of({}, result, judge(result.history));
  CAF_CHECK(page.find("<svg") != std::string::npos);
  CAF_CHECK(page.find("A &lt;b&gt;sale") != std::string::npos);
  CAF_CHECK(page.find("A <b>sale") == std::string::npos);
  CAF_CHECK(page.find("src=") == std::string::npos);
  CAF_CHECK(page.find("http://") == std::string::npos);
  CAF_CHECK(page.find("nan") == std::string::npos);
}

CAF_TEST(a page of nothing is still a page) {
  crowd_result empty;
  empty.reached = true;
  CAF_CHECK(html_of({}, empty, judge(empty.history)).find("</html>") != std::string::npos);
}

CAF_TEST(a benchmark with refusals fails) {
  join_bench_result result;
  CAF_CHECK_EQUAL(exit_code_of(result), 2);
  result.reached = true;
  CAF_CHECK_EQUAL(exit_code_of(result), 0);
  result.others[401] = 2;
  CAF_CHECK_EQUAL(exit_code_of(result), 1);
  CAF_CHECK(table_of({}, result).find("401") != std::string::npos);
  CAF_CHECK(parse_object(json_of({}, result)).is_object());
}

CAF_TEST(the progress line is one line) {
  const auto line = progress_line({1.5, 10, 10, 9, 5, 4, 3, 2});
  CAF_CHECK(line.find("joined 9/10") != std::string::npos);
  CAF_CHECK(line.find('\n') == std::string::npos);
}
