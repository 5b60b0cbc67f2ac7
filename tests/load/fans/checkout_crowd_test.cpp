// SPDX-License-Identifier: Apache-2.0
// Complete runs of checkout fans against the fake server. A correct sale passes, also with lost answers and
// an outage, and each misbehaviour is found.
#define CAF_SUITE load.checkout_crowd
#include "caf/test/unit_test.hpp"

#include "load/checks/checker.hpp"
#include "load/fans/crowd.hpp"
#include "load/report/report.hpp"
#include "load/wire/wire.hpp"
#include "tests/load/fans/fake_server.hpp"

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace fq::load;
using fq::load::test::fake_options;
using fq::load::test::fake_server;
using fq::load::test::shop_fault;

namespace {

struct finished {
  crowd_result result;
  judgement judged;
  int exit_code = 0;
  std::string json;
};

struct fixture {
  std::filesystem::path token_file =
    std::filesystem::temp_directory_path() / ("fq-load-organizer-" + std::to_string(::getpid()));

  fixture() { std::ofstream(token_file) << "organizer.token\n"; }
  ~fixture() { std::filesystem::remove(token_file); }

  [[nodiscard]] load_options options_for(const fake_server& server) const {
    load_options options;
    options.url = server.url();
    options.event = fake_server::event_id();
    options.fans = 80;
    options.arrival_s = 0.2;
    options.abandon_percent = 15;
    options.decline_percent = 15;
    options.timeout_s = 20;
    options.think_ms = 5;
    options.watch_interval_ms = 150;
    options.seed = 7;
    options.buy_by = buying_way::checkout;
    options.promo_codes = {"HALF"};
    options.organizer_token_file = token_file.string();
    options.books_s = 30;
    return options;
  }

  static finished run(const load_options& options) {
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < options.fans; ++i) tokens.push_back("customer-" + std::to_string(i));
    crowd fans(options, std::move(tokens));
    finished out;
    out.result = fans.run({});
    out.judged = judge(out.result.history);
    out.exit_code = exit_code_of(out.result, out.judged);
    out.json = json_of(options, out.result, out.judged);
    if (out.exit_code != 0) CAF_MESSAGE(table_of(options, out.result, out.judged));
    return out;
  }

  [[nodiscard]] finished run_with(shop_fault fault) const {
    fake_options how;
    how.shop.is_used = true;
    how.shop.fault = fault;
    // These faults show in some of the bought orders only.
    if (fault == shop_fault::forgets || fault == shop_fault::takes_back || fault == shop_fault::overuses_code)
      how.shop.stock = 30;
    if (fault == shop_fault::overuses_code) how.shop.promo_uses = 1;
    fake_server server(how);
    auto options = options_for(server);
    // Of a few who decline, all may come after the stock is gone.
    if (fault == shop_fault::gives_away) options.decline_percent = 60;
    return run(options);
  }
};

fake_options good_shop() {
  fake_options how;
  how.shop.is_used = true;
  return how;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(checkout_tests, fixture)

CAF_TEST(a good shop sells its stock and every check of orders is judged) {
  fake_server server(good_shop());
  const auto options = options_for(server);
  const auto done = run(options);
  CAF_CHECK_EQUAL(done.exit_code, 0);
  CAF_CHECK_EQUAL(done.judged.sold_units, 36);
  CAF_CHECK(done.judged.orders.gateway_paid > 0);
  CAF_CHECK_EQUAL(done.judged.orders.gateway_paid,
                  done.judged.orders.bought_value + done.judged.orders.refunds);
  for (const auto id :
       {check_id::lost_orders, check_id::order_reverted, check_id::order_amounts, check_id::orders_confirmed,
        check_id::order_stock, check_id::promo_uses, check_id::order_money})
    CAF_CHECK(done.judged.of(id).result == verdict::held);
  for (const auto which : {step::checkout, step::order_page, step::order_success})
    CAF_CHECK(done.result.steps.of(which).count() > 0);
}

// About half of the fans that leave without paying cancel an order that is still open. A dozen fans may
// cancel none; thirty fans with enough time cancel some, also on a busy machine.
CAF_TEST(orders given up are seen as cancelled and judged) {
  auto how = good_shop();
  how.shop.order_ms = 800;
  fake_server server(how);
  auto options = options_for(server);
  options.fans = 50;
  options.abandon_percent = 60;
  options.decline_percent = 0;
  const auto done = run(options);
  CAF_CHECK_EQUAL(done.exit_code, 0);
  CAF_CHECK(done.judged.orders.by_status[static_cast<std::size_t>(order_status::cancelled)] > 0);
  for (const auto id :
       {check_id::lost_orders, check_id::order_reverted, check_id::orders_confirmed, check_id::order_stock})
    CAF_CHECK(done.judged.of(id).result == verdict::held);
}

CAF_TEST(the reports tell of checkouts) {
  fake_server server(good_shop());
  const auto options = options_for(server);
  const auto done = run(options);
  const auto json = parse_object(done.json);
  CAF_REQUIRE(json.is_object());
  CAF_CHECK(json.at("checkouts").at("processing").as_int64() > 0);
  CAF_CHECK_EQUAL(json.at("orders").at("gateway_paid").as_int64(), done.judged.orders.gateway_paid);
  const auto table = table_of(options, done.result, done.judged);
  CAF_CHECK(table.find("\ncheckouts  ") != std::string::npos);
  CAF_CHECK(table.find("order_success") != std::string::npos);
  CAF_CHECK(html_of(options, done.result, done.judged).find("Checkouts by answer") != std::string::npos);
}

CAF_TEST(lost answers and refusals and an outage leave nothing to add_violation) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    auto how = good_shop();
    how.drop_every = 7;
    how.busy_every = 11;
    how.outage_after_ms = 150;
    how.outage_ms = 500;
    fake_server server(how);
    auto options = options_for(server);
    options.seed = seed;
    const auto done = run(options);
    CAF_MESSAGE("seed " << seed);
    CAF_CHECK_EQUAL(done.exit_code, 0);
    CAF_CHECK_EQUAL(done.judged.sold_units, 36);
    CAF_CHECK(done.result.replayed > 0);
  }
}

CAF_TEST(without an organizer the fans still judge what they saw) {
  fake_server server(good_shop());
  auto options = options_for(server);
  options.organizer_token_file = "/nonexistent";
  const auto done = run(options);
  CAF_CHECK_EQUAL(done.exit_code, 0);
  CAF_CHECK(done.judged.of(check_id::orders_confirmed).result == verdict::not_judged);
  CAF_CHECK(done.judged.of(check_id::order_money).result == verdict::held);
}

CAF_TEST(every misbehaviour of a shop is seen) {
  const std::vector<std::pair<shop_fault, check_id>> faults{
    {shop_fault::forgets, check_id::lost_orders},
    {shop_fault::takes_back, check_id::orders_confirmed},
    {shop_fault::miscounts, check_id::order_amounts},
    {shop_fault::other_price, check_id::order_amounts},
    {shop_fault::other_tickets, check_id::order_amounts},
    {shop_fault::keeps_money, check_id::order_money},
    {shop_fault::gives_away, check_id::order_money},
    {shop_fault::oversells, check_id::order_stock},
    {shop_fault::overuses_code, check_id::promo_uses},
    {shop_fault::forgets_a_use, check_id::promo_uses},
    {shop_fault::invents, check_id::orders_confirmed},
  };
  for (const auto& [fault, id] : faults) {
    CAF_MESSAGE("fault " << static_cast<int>(fault) << " breaks " << std::string(name_of(id)));
    const auto done = run_with(fault);
    CAF_CHECK_EQUAL(done.exit_code, 1);
    CAF_CHECK(done.judged.of(id).violations > 0);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
