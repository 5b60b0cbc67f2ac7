// SPDX-License-Identifier: Apache-2.0
// Complete runs against the fake server: a correct sale passes, and each misbehaviour of the server is found
// from the fans' sightings.
#define CAF_SUITE load.crowd
#include "caf/test/unit_test.hpp"

#include "load/checks/checker.hpp"
#include "load/fans/crowd.hpp"
#include "load/report/report.hpp"
#include "tests/load/fans/fake_server.hpp"

using namespace fq::load;
using fq::load::test::fake_options;
using fq::load::test::fake_server;

namespace {

load_options options_for(const fake_server& server) {
  load_options options;
  options.url = server.url();
  options.event = fake_server::event_id();
  options.fans = 80;
  options.arrival_s = 0.2;
  options.no_show_percent = 10;
  options.abandon_percent = 5;
  options.decline_percent = 5;
  options.timeout_s = 20;
  options.think_ms = 5;
  options.watch_interval_ms = 150;
  options.seed = 7;
  return options;
}

std::vector<std::string> some_tokens(std::size_t count) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back("customer-" + std::to_string(i));
  return tokens;
}

struct finished {
  crowd_result result;
  judgement judged;
  int exit_code = 0;
};

finished run(const load_options& options) {
  crowd fans(options, some_tokens(options.fans));
  finished out;
  out.result = fans.run({});
  out.judged = judge(out.result.history);
  out.exit_code = exit_code_of(out.result, out.judged);
  if (out.exit_code != 0) CAF_MESSAGE(table_of(options, out.result, out.judged));
  return out;
}

finished run_against(const fake_options& how) {
  fake_server server(how);
  return run(options_for(server));
}

} // namespace

CAF_TEST(a good sale sells its stock and passes every check) {
  const auto done = run_against({});
  CAF_CHECK_EQUAL(done.exit_code, 0);
  CAF_CHECK_EQUAL(done.judged.sold_units, 20);
  CAF_CHECK_EQUAL(done.judged.payments_value, 20 * 500);
  CAF_CHECK(done.result.history.sold_out_seen);
  CAF_CHECK(done.result.complaints.empty());
  CAF_CHECK(done.result.steps.of(step::ws_connect).count() > 0);
  CAF_CHECK(done.judged.of(check_id::sold_equals_stock).result == verdict::held);
}

CAF_TEST(a shared pool of connections gives the same sale) {
  fake_server server({});
  auto options = options_for(server);
  options.connections = 4;
  CAF_CHECK_EQUAL(run(options).exit_code, 0);
}

CAF_TEST(lost answers and refusals are retried with the same key and judged correctly) {
  fake_options how;
  how.drop_every = 7;
  how.busy_every = 11;
  const auto done = run_against(how);
  CAF_CHECK_EQUAL(done.exit_code, 0);
  CAF_CHECK_EQUAL(done.judged.sold_units, 20);
  CAF_CHECK(done.result.replayed > 0);
  CAF_CHECK(done.result.steps.of(step::join).retries() > 0);
}

CAF_TEST(a server away for a while is waited for) {
  fake_options how;
  how.outage_after_ms = 150;
  how.outage_ms = 900;
  const auto done = run_against(how);
  CAF_CHECK_EQUAL(done.exit_code, 0);
  CAF_CHECK_EQUAL(done.judged.sold_units, 20);
}

CAF_TEST(lost answers and refusals and an outage together leave nothing to add_violation) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    fake_options how;
    how.drop_every = 5;
    how.busy_every = 9;
    how.outage_after_ms = 200;
    how.outage_ms = 500;
    how.stock = 60;
    fake_server server(how);
    auto options = options_for(server);
    options.fans = 200;
    options.seed = seed;
    CAF_MESSAGE("seed " << seed);
    const auto done = run(options);
    CAF_CHECK_EQUAL(done.exit_code, 0);
    CAF_CHECK_EQUAL(done.judged.sold_units, 60);
  }
}

CAF_TEST(fewer fans than tickets all buy and nothing is expected to sell out) {
  fake_server server({});
  auto options = options_for(server);
  options.fans = 10;
  options.no_show_percent = options.abandon_percent = options.decline_percent = 0;
  const auto done = run(options);
  CAF_CHECK_EQUAL(done.exit_code, 0);
  CAF_CHECK_EQUAL(done.judged.sold_units, 10);
  CAF_CHECK(done.judged.of(check_id::sold_equals_stock).result == verdict::not_judged);
}

CAF_TEST(an overtaking batch is seen) {
  fake_options how;
  how.overtake = true;
  const auto done = run_against(how);
  CAF_CHECK_EQUAL(done.exit_code, 1);
  CAF_CHECK(done.judged.of(check_id::overtakes).violations > 0);
}

CAF_TEST(a batch larger than configured is seen) {
  fake_options how;
  how.big_batch = true;
  how.stock = 40;
  const auto done = run_against(how);
  CAF_CHECK_EQUAL(done.exit_code, 1);
  CAF_CHECK(done.judged.of(check_id::batch_too_large).violations > 0);
}

CAF_TEST(one ticket too many is seen) {
  fake_options how;
  how.oversell = true;
  fake_server server(how);
  auto options = options_for(server);
  options.no_show_percent = options.abandon_percent = options.decline_percent = 0;
  const auto done = run(options);
  CAF_CHECK_EQUAL(done.exit_code, 1);
  CAF_CHECK(done.judged.of(check_id::oversold).violations > 0);
}

CAF_TEST(a payment of another amount is seen) {
  fake_options how;
  how.wrong_amount = true;
  const auto done = run_against(how);
  CAF_CHECK_EQUAL(done.exit_code, 1);
  CAF_CHECK(done.judged.of(check_id::amount_mismatch).violations > 0);
}

CAF_TEST(a forgotten place is seen) {
  fake_options how;
  how.forget_place = true;
  const auto done = run_against(how);
  CAF_CHECK_EQUAL(done.exit_code, 1);
  CAF_CHECK(done.judged.of(check_id::lost_places).violations > 0);
}

CAF_TEST(money kept without a ticket is seen) {
  fake_options how;
  how.keep_money = true;
  const auto done = run_against(how);
  CAF_CHECK_EQUAL(done.exit_code, 1);
  CAF_CHECK(done.judged.of(check_id::paid_without_ticket).violations > 0);
}

CAF_TEST(a sale that never moves ends by the timeout with exit code 3) {
  fake_options how;
  how.never_admit = true;
  fake_server server(how);
  auto options = options_for(server);
  options.timeout_s = 1.5;
  const auto done = run(options);
  CAF_CHECK_EQUAL(done.exit_code, 3);
  CAF_CHECK(done.result.elapsed_s < 15); // the options have 20 s
}

CAF_TEST(a server that is not there is exit code 2) {
  load_options options;
  options.url = "http://127.0.0.1:9";
  options.event = fake_server::event_id();
  options.fans = 1;
  options.reach_s = 0.5;
  crowd fans(options, some_tokens(1));
  const auto result = fans.run({});
  CAF_CHECK(!result.reached);
  CAF_CHECK_EQUAL(exit_code_of(result, judge(result.history)), 2);
}
