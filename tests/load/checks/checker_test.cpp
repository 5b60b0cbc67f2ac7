// SPDX-License-Identifier: Apache-2.0
// Every check with a planted violation, and with a similar valid or unprovable history that must pass.
#define CAF_SUITE load.checker
#include "caf/test/unit_test.hpp"

#include "load/base/chance.hpp"
#include "load/checks/checker.hpp"

#include <algorithm>

using namespace fq::load;

namespace {

constexpr std::int64_t price = 500;
const uuid standard{9, 1};

uuid entry_id(std::uint64_t n) { return {1, n}; }

place_sight place_at(run_time_us sent_us, place_kind kind, std::uint64_t number, std::uint32_t position,
                     std::uint64_t batch = 0) {
  return {sent_us, sent_us + 5, kind, entry_id(number), number, position, batch};
}

claim_sight claim_at(run_time_us sent_us, uuid id, claim_status status) {
  return {sent_us, sent_us, sent_us + 5, id, status, {{standard, 1, price}}, 0, price, "NGN"};
}

payment_sight payment_at(run_time_us sent_us, uuid id, uuid claim, payment_status status) {
  return {sent_us, sent_us + 5, id, claim, status, price, 0, "NGN"};
}

// A fan who joined at `n`, was admitted in `batch` at 1000 x batch, and bought at once.
fan_history buyer(std::uint64_t n, std::uint64_t batch) {
  const auto t = static_cast<run_time_us>(1000 * batch);
  fan_history fan;
  fan.end = outcome::bought;
  fan.joined_us = static_cast<run_time_us>(n);
  fan.places = {place_at(static_cast<run_time_us>(n), place_kind::waiting, n, static_cast<std::uint32_t>(n)),
                place_at(t, place_kind::admitted, n, 0, batch)};
  fan.claims = {claim_at(t + 10, {2, n}, claim_status::claimed),
                claim_at(t + 50, {2, n}, claim_status::confirmed)};
  fan.payments = {payment_at(t + 20, {3, n}, {2, n}, payment_status::pending),
                  payment_at(t + 40, {3, n}, {2, n}, payment_status::confirmed)};
  fan.gateway = {{t + 30, {3, n}, true}};
  return fan;
}

fan_history waiter(std::uint64_t n, run_time_us last_look_us) {
  fan_history fan;
  fan.end = outcome::sold_out;
  fan.joined_us = static_cast<run_time_us>(n);
  fan.places = {place_at(static_cast<run_time_us>(n), place_kind::waiting, n, static_cast<std::uint32_t>(n)),
                place_at(last_look_us, place_kind::waiting, n, 1)};
  return fan;
}

// Ten fans in batches of two buy ten tickets; five more wait until the end.
sale_history good_sale() {
  sale_history sale;
  sale.terms.currency = "NGN";
  sale.terms.policy = "batch";
  sale.terms.batch_size = 2;
  sale.terms.claims_per_customer = 1;
  sale.terms.types = {{standard, "Standard", price, 10, 10}};
  for (std::uint64_t n = 1; n <= 10; ++n) sale.fans.push_back(buyer(n, (n + 1) / 2));
  for (std::uint64_t n = 11; n <= 15; ++n) sale.fans.push_back(waiter(n, 9000));
  sale.sold_out_seen = true;
  sale.sold_out_at_us = 8000;
  return sale;
}

std::uint64_t count(const sale_history& sale, check_id id) { return judge(sale).of(id).violations; }

// Only this check breaks, with this number of violations.
void expect_only(const sale_history& sale, check_id id, std::uint64_t violations) {
  const auto judged = judge(sale);
  CAF_CHECK(judged.broken());
  for (const auto& check : judged.checks) {
    if (check.violations != (check.id == id ? violations : 0u)) CAF_MESSAGE(std::string(name_of(check.id)));
    CAF_CHECK_EQUAL(check.violations, check.id == id ? violations : 0u);
    CAF_CHECK_EQUAL(check.result == verdict::broken, check.id == id);
  }
}

void expect_clean(const sale_history& sale) {
  const auto judged = judge(sale);
  for (const auto& check : judged.checks)
    if (check.violations > 0) CAF_MESSAGE(std::string(name_of(check.id)));
  CAF_CHECK(!judged.broken());
}

} // namespace

CAF_TEST(a good sale holds) {
  const auto judged = judge(good_sale());
  expect_clean(good_sale());
  CAF_CHECK_EQUAL(judged.sold_units, 10);
  CAF_CHECK_EQUAL(judged.claims_value, 10 * price);
  CAF_CHECK_EQUAL(judged.payments_value, 10 * price);
  CAF_CHECK_EQUAL(judged.largest_batch, 2);
  CAF_CHECK_EQUAL(judged.undetermined, 0);
}

CAF_TEST(every check has a name and a place) {
  const auto judged = judge(good_sale());
  for (const auto& check : judged.checks) {
    CAF_CHECK(!name_of(check.id).empty() && name_of(check.id) != "?");
    CAF_CHECK(&judged.of(check.id) == &check);
  }
  CAF_CHECK(judged.of(check_id::illegal_history).id == check_id::illegal_history);
}

CAF_TEST(too few sold is seen) {
  auto sale = good_sale();
  sale.fans[9] = waiter(10, 9000);
  expect_only(sale, check_id::sold_equals_stock, 1);
}

CAF_TEST(too few sold is not judged when too few wanted one) {
  auto sale = good_sale();
  sale.fans.resize(8);
  sale.sold_out_seen = false;
  expect_clean(sale);
  CAF_CHECK(judge(sale).of(check_id::sold_equals_stock).result == verdict::not_judged);
}

CAF_TEST(an unknown outcome may be the missing ticket) {
  auto sale = good_sale();
  sale.fans[9].claims.clear();
  sale.fans[9].payments.clear();
  sale.fans[9].gateway.clear();
  sale.fans[9].unknown_claims = 1;
  sale.fans[9].end = outcome::timed_out;
  expect_clean(sale);
}

CAF_TEST(one ticket too many is oversold) {
  auto sale = good_sale();
  sale.fans[10] = buyer(11, 6);
  const auto judged = judge(sale);
  CAF_CHECK_EQUAL(judged.of(check_id::oversold).violations, 1u);
  CAF_CHECK_EQUAL(judged.of(check_id::sold_equals_stock).violations, 1u);
}

CAF_TEST(held and sold together are oversold) {
  auto sale = good_sale();
  // A claim provably live from 7005 to 7500, while ten tickets are sold.
  sale.fans[10].places.push_back(place_at(6000, place_kind::admitted, 11, 0, 6));
  sale.fans[10].claims = {claim_at(7000, {2, 11}, claim_status::claimed),
                          claim_at(7500, {2, 11}, claim_status::claimed),
                          claim_at(7900, {2, 11}, claim_status::released)};
  CAF_CHECK_EQUAL(count(sale, check_id::oversold), 1u);
}

CAF_TEST(a claim that may have ended before the next began is no oversell) {
  auto sale = good_sale();
  // Seen live once, at 4800: it may have been released before the tenth ticket was sold at 5010.
  sale.fans[10].places.push_back(place_at(4000, place_kind::admitted, 11, 0, 6));
  sale.fans[10].claims = {claim_at(4800, {2, 11}, claim_status::claimed)};
  CAF_CHECK_EQUAL(count(sale, check_id::oversold), 0u);
}

CAF_TEST(oversold is judged for each ticket type) {
  auto sale = good_sale();
  sale.terms.types = {{standard, "Standard", price, 9, 9}, {{9, 2}, "Other", price, 1, 1}};
  CAF_CHECK_EQUAL(count(sale, check_id::oversold), 1u);
  sale.fans[4].claims[0].items[0].ticket_type = {9, 2};
  sale.fans[4].claims[1].items[0].ticket_type = {9, 2};
  expect_clean(sale);
}

CAF_TEST(a later number in an earlier batch is an overtake) {
  auto sale = good_sale();
  std::swap(sale.fans[2].places[1].batch, sale.fans[4].places[1].batch); // numbers 3 and 5
  // 3 is now in batch 3 and 5 in batch 2. Of 3 and 4 (batch 2), both before 5, only 3 was overtaken.
  expect_only(sale, check_id::overtakes, 1);
}

CAF_TEST(a fan still waiting after a later number was admitted is overtaken) {
  auto sale = good_sale();
  sale.fans[12].places.push_back(place_at(8000, place_kind::admitted, 13, 0, 6)); // arrived 8005
  expect_only(sale, check_id::overtakes, 2); // 11 and 12 polled at 9000
}

CAF_TEST(a look sent before the later admission arrived proves nothing) {
  auto sale = good_sale();
  for (auto& fan : sale.fans)
    if (fan.end == outcome::sold_out)
      fan.places.back() = place_at(8001, place_kind::waiting, fan.places.back().number, 1);
  sale.fans[12].places.push_back(place_at(8000, place_kind::admitted, 13, 0, 6)); // arrived 8005
  expect_clean(sale);
}

CAF_TEST(who left or was away or expired was not overtaken) {
  auto sale = good_sale();
  sale.fans[12].places.push_back(place_at(8000, place_kind::admitted, 13, 0, 6));
  sale.fans[10].places = {place_at(11, place_kind::waiting, 11, 11), place_at(500, place_kind::left, 11, 0)};
  sale.fans[10].leave_requested = true;
  sale.fans[11].places.insert(sale.fans[11].places.begin() + 1, place_at(700, place_kind::away, 12, 5));
  expect_clean(sale);
  sale.fans[11].places = {place_at(12, place_kind::waiting, 12, 12), place_at(500, place_kind::over, 12, 0)};
  expect_clean(sale);
}

// A fan whose window passed while a node that was cut off from the owner still answered WAITING.
CAF_TEST(an admission that only the end names is compared by its batch) {
  auto sale = good_sale();
  sale.fans[12].places.push_back(place_at(8000, place_kind::admitted, 13, 0, 7)); // arrived 8005
  for (const std::size_t i : {10u, 11u})
    sale.fans[i].places = {place_at(1, place_kind::waiting, i + 1, 2),
                           place_at(8100, place_kind::waiting, i + 1, 1),
                           place_at(9000, place_kind::over, i + 1, 0, 6)};
  expect_clean(sale);
  sale.fans[11].places.back().batch = 8;
  expect_only(sale, check_id::overtakes, 1);
  sale.fans[11].places.back().batch = 0; // it ended without an admission
  expect_only(sale, check_id::overtakes, 1);
}

CAF_TEST(overtakes agree with a comparison of all pairs) {
  chance random(11);
  for (int round = 0; round < 200; ++round) {
    sale_history sale;
    sale.terms.types = {{standard, "Standard", price, 0, 0}};
    const auto fans = 2 + random.under(12);
    for (std::uint64_t n = 1; n <= fans; ++n) {
      fan_history fan;
      fan.places = {place_at(static_cast<run_time_us>(n), place_kind::waiting, n, 1)};
      const auto t = static_cast<run_time_us>(100 + random.under(100));
      if (random.under(3) > 0)
        fan.places.push_back(place_at(t, place_kind::admitted, n, 0, 1 + random.under(4)));
      else
        fan.places.push_back(place_at(t, place_kind::waiting, n, 1));
      sale.fans.push_back(fan);
    }
    std::uint64_t naive = 0;
    for (const auto& x : sale.fans) {
      const auto& px = x.places.back();
      naive += std::any_of(sale.fans.begin(), sale.fans.end(), [&px](const fan_history& y) {
        const auto& py = y.places.back();
        if (py.kind != place_kind::admitted || py.number <= px.number) return false;
        return px.kind == place_kind::admitted ? py.batch < px.batch : py.at_us < px.sent_us;
      });
    }
    CAF_CHECK_EQUAL(count(sale, check_id::overtakes), naive);
  }
}

CAF_TEST(a batch larger than configured is seen) {
  auto sale = good_sale();
  sale.fans[2].places[1].batch = 1; // number 3 joins numbers 1 and 2
  expect_only(sale, check_id::batch_too_large, 1);
}

CAF_TEST(without a batch queue there is no batch to judge) {
  auto sale = good_sale();
  sale.terms.batch_size = 0;
  CAF_CHECK(judge(sale).of(check_id::batch_too_large).result == verdict::not_judged);
}

CAF_TEST(a number given twice is seen) {
  auto sale = good_sale();
  for (auto& observation : sale.fans[13].places) observation.number = 15;
  expect_only(sale, check_id::duplicate_numbers, 1);
}

CAF_TEST(an entry shown to two fans is seen) {
  auto sale = good_sale();
  sale.fans[13].places = sale.fans[14].places;
  expect_only(sale, check_id::duplicate_numbers, 1);
}

CAF_TEST(an acknowledged place answered 404 is lost) {
  auto sale = good_sale();
  sale.fans[12].places.push_back({9500, 9505, place_kind::absent, {}, 0, 0, 0});
  expect_only(sale, check_id::lost_places, 1);
  sale.fans[12].leave_requested = true;
  expect_clean(sale);
}

CAF_TEST(a 404 before any acknowledgement or after the end is no loss) {
  auto sale = good_sale();
  sale.fans[12].places.insert(sale.fans[12].places.begin(), {5, 6, place_kind::absent, {}, 0, 0, 0});
  sale.fans[11].places.push_back(place_at(9500, place_kind::over, 12, 0));
  sale.fans[11].places.push_back({9600, 9605, place_kind::absent, {}, 0, 0, 0});
  expect_clean(sale);
}

CAF_TEST(a place with another number is lost) {
  auto sale = good_sale();
  sale.fans[12].places.back().number = 77;
  expect_only(sale, check_id::lost_places, 1);
}

CAF_TEST(a waiting place that became another entry is lost) {
  auto sale = good_sale();
  sale.fans[12].places.push_back(place_at(9500, place_kind::waiting, 40, 1));
  expect_only(sale, check_id::lost_places, 1);
}

CAF_TEST(joining again after the end is lawful) {
  auto sale = good_sale();
  sale.fans[12].places.push_back(place_at(9400, place_kind::over, 13, 0));
  sale.fans[12].places.push_back(place_at(9500, place_kind::waiting, 40, 30));
  expect_clean(sale);
}

CAF_TEST(a claim answered 404 is lost) {
  auto sale = good_sale();
  sale.fans[10].places.push_back(place_at(200, place_kind::admitted, 11, 0, 6));
  sale.fans[10].claims = {claim_at(300, {2, 11}, claim_status::claimed),
                          claim_at(400, {2, 11}, claim_status::absent)};
  CAF_CHECK_EQUAL(count(sale, check_id::lost_claims), 1u);
}

CAF_TEST(a growing position is seen) {
  auto sale = good_sale();
  sale.fans[12].places.insert(sale.fans[12].places.begin() + 1, place_at(500, place_kind::waiting, 13, 14));
  expect_only(sale, check_id::position_grew, 1);
}

CAF_TEST(two confirmed claims of one customer are seen) {
  auto sale = good_sale();
  // Fan 0 buys the ticket of fan 1 as well.
  auto& taker = sale.fans[0];
  const auto& other = sale.fans[1];
  taker.claims.insert(taker.claims.end(), other.claims.begin(), other.claims.end());
  taker.payments.insert(taker.payments.end(), other.payments.begin(), other.payments.end());
  sale.fans[1].claims.clear();
  sale.fans[1].payments.clear();
  sale.fans[1].gateway.clear();
  expect_only(sale, check_id::extra_claims, 1);
  sale.terms.claims_per_customer = 2;
  expect_clean(sale);
}

CAF_TEST(a second claim after the first was released is lawful) {
  auto sale = good_sale();
  auto& claims = sale.fans[9].claims;
  claims.insert(claims.begin(), {claim_at(5001, {2, 99}, claim_status::claimed),
                                 claim_at(5003, {2, 99}, claim_status::released)});
  expect_clean(sale);
}

CAF_TEST(a wrong amount or currency or price is seen) {
  auto sale = good_sale();
  sale.fans[3].payments[0].amount = price - 1;
  sale.fans[3].payments[1].amount = price - 1;
  CAF_CHECK_EQUAL(count(sale, check_id::amount_mismatch), 1u);
  CAF_CHECK_EQUAL(count(sale, check_id::money_balance), 1u);
  sale = good_sale();
  sale.fans[3].claims.back().fees = 1;
  expect_only(sale, check_id::amount_mismatch, 1);
  sale = good_sale();
  sale.fans[3].payments[1].currency = "USD";
  expect_only(sale, check_id::amount_mismatch, 1);
  sale = good_sale();
  sale.terms.types[0].price = price + 1;
  CAF_CHECK_EQUAL(count(sale, check_id::amount_mismatch), 10u);
  sale.terms_changed = true;
  CAF_CHECK_EQUAL(count(sale, check_id::amount_mismatch), 0u);
}

CAF_TEST(a ticket nobody paid for is seen) {
  auto sale = good_sale();
  sale.fans[5].payments.clear();
  sale.fans[5].gateway.clear();
  expect_only(sale, check_id::money_balance, 1);
}

CAF_TEST(a ticket paid twice is seen) {
  auto sale = good_sale();
  sale.fans[5].payments.push_back(payment_at(4000, {3, 99}, {2, 6}, payment_status::confirmed));
  expect_only(sale, check_id::money_balance, 1);
}

CAF_TEST(a declined payment that is confirmed is seen) {
  auto sale = good_sale();
  sale.fans[5].gateway[0].paid = false;
  expect_only(sale, check_id::money_balance, 1);
}

CAF_TEST(a payment last seen pending leaves the balance open) {
  auto sale = good_sale();
  sale.fans[5].payments.pop_back();
  sale.fans[5].gateway.clear();
  expect_clean(sale);
  CAF_CHECK_EQUAL(judge(sale).undetermined, 1);
}

CAF_TEST(money taken without a ticket is seen) {
  auto sale = good_sale();
  sale.fans[5].claims.back().status = claim_status::released;
  const auto judged = judge(sale);
  CAF_CHECK_EQUAL(judged.of(check_id::paid_without_ticket).violations, 1u);
}

CAF_TEST(money taken and a failed payment is seen) {
  auto sale = good_sale();
  sale.fans[10].places.push_back(place_at(200, place_kind::admitted, 11, 0, 6));
  sale.fans[10].claims = {claim_at(300, {2, 11}, claim_status::claimed)};
  sale.fans[10].payments = {payment_at(310, {3, 11}, {2, 11}, payment_status::failed)};
  sale.fans[10].gateway = {{305, {3, 11}, true}};
  CAF_CHECK_EQUAL(count(sale, check_id::paid_without_ticket), 1u);
}

CAF_TEST(refunded money is in order) {
  auto sale = good_sale();
  sale.fans[10].places.push_back(place_at(6000, place_kind::admitted, 11, 0, 6));
  sale.fans[10].claims = {claim_at(4000, {2, 11}, claim_status::claimed),
                          claim_at(4400, {2, 11}, claim_status::released)};
  sale.fans[10].payments = {payment_at(4700, {3, 11}, {2, 11}, payment_status::refund_pending),
                            payment_at(4800, {3, 11}, {2, 11}, payment_status::refunded)};
  sale.fans[10].payments[1].refunded_amount = price;
  sale.fans[10].gateway = {{4600, {3, 11}, true}};
  expect_clean(sale);
}

CAF_TEST(sold out said before a later claim succeeded is false) {
  auto sale = good_sale();
  sale.fans[12].told_sold_out = {4000}; // the last claim was sent at 5010
  expect_only(sale, check_id::false_sold_out, 1);
  sale.fans[12].told_sold_out = {5011};
  expect_clean(sale);
  sale.sold_out_at_us = 4000;
  expect_only(sale, check_id::false_sold_out, 1);
}

CAF_TEST(sold out is not judged when stock could come back) {
  auto sale = good_sale();
  sale.fans[12].told_sold_out = {4000};
  sale.terms_changed = true;
  CAF_CHECK(judge(sale).of(check_id::false_sold_out).result == verdict::not_judged);
}

CAF_TEST(what goes back is illegal) {
  auto sale = good_sale();
  sale.fans[4].places.push_back(place_at(9000, place_kind::waiting, 5, 1));
  CAF_CHECK_EQUAL(count(sale, check_id::illegal_history), 1u);
  sale = good_sale();
  sale.fans[4].places.push_back(place_at(9000, place_kind::admitted, 5, 0, 7));
  CAF_CHECK_EQUAL(count(sale, check_id::illegal_history), 1u);
  sale = good_sale();
  sale.fans[4].claims.push_back(claim_at(9000, {2, 5}, claim_status::released));
  CAF_CHECK_EQUAL(count(sale, check_id::illegal_history), 1u);
  sale = good_sale();
  sale.fans[4].payments.push_back(payment_at(9000, {3, 5}, {2, 5}, payment_status::pending));
  CAF_CHECK_EQUAL(count(sale, check_id::illegal_history), 1u);
}

CAF_TEST(a hundred thousand fans are judged quickly) {
  sale_history sale = good_sale();
  sale.terms.types[0].total = sale.terms.types[0].available_at_start = 60'000;
  sale.fans.clear();
  for (std::uint64_t n = 1; n <= 60'000; ++n) sale.fans.push_back(buyer(n, (n + 1) / 2));
  sale.sold_out_at_us = 40'000'000;
  for (std::uint64_t n = 60'001; n <= 100'000; ++n) sale.fans.push_back(waiter(n, 50'000'000));
  expect_clean(sale);
}
