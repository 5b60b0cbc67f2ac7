// SPDX-License-Identifier: Apache-2.0
// The join benchmark against the fake server: each customer joins once, also with lost answers.
#define CAF_SUITE load.join_bench
#include "caf/test/unit_test.hpp"

#include "load/fans/join_bench.hpp"
#include "load/report/report.hpp"
#include "tests/load/fans/fake_server.hpp"

using namespace fq::load;
using fq::load::test::fake_options;
using fq::load::test::fake_server;

namespace {

join_bench_result run_against(const fake_options& how, bool with_keys) {
  fake_server server(how);
  load_options options;
  options.url = server.url();
  options.event = fake_server::event_id();
  options.fans = 200;
  options.connections = 8;
  options.timeout_s = 20;
  options.with_keys = with_keys;
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < options.fans; ++i) tokens.push_back("bench-" + std::to_string(i));
  return run_join_bench(options, tokens, {});
}

} // namespace

CAF_TEST(every customer joins once) {
  const auto result = run_against({}, false);
  CAF_CHECK_EQUAL(result.joined, 200u);
  CAF_CHECK_EQUAL(result.duplicate_numbers, 0u);
  CAF_CHECK_EQUAL(exit_code_of(result), 0);
  CAF_CHECK(result.joins_per_s > 0);
  CAF_CHECK(result.latency.max_ms >= result.latency.p50_ms);
}

CAF_TEST(dropped and refused joins are made again) {
  fake_options how;
  how.drop_every = 13;
  how.busy_every = 17;
  const auto result = run_against(how, true);
  CAF_CHECK_EQUAL(result.joined, 200u);
  CAF_CHECK_EQUAL(result.duplicate_numbers, 0u);
  CAF_CHECK(result.retries > 0);
}
