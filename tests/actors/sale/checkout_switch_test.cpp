// SPDX-License-Identifier: Apache-2.0
// The automatic switch in virtual time, with the real accounts actor on a memory ledger: the setting, its
// audit row and the counter. Nothing changes without a trigger, during a ledger outage, or a second time.
#define CAF_SUITE checkout_switch
#include "actors/directory/accounts.hpp"
#include "actors/sale/checkout_switch.hpp"
#include "tests/actors/base/fixture.hpp"

#include <algorithm>

namespace checkout_switch_test {

using namespace fq;
using namespace fq::test;

namespace {

struct switch_fixture : fixture {
  measures numbers;
  accounts_services accounts_needs;
  accounts_handle people;
  checkout_switch_services services;
  std::vector<std::string> notes;
  std::shared_ptr<board_seat> seat = numbers.sales.enter(uuid{1, 2}, "EUR");
  event_numbers event;

  switch_fixture() {
    accounts_needs.env = &env;
    accounts_needs.ledgers = ledgers;
    people = keep(sys.spawn(accounts, static_cast<const accounts_services*>(&accounts_needs)));
    numbers.gateways["sandbox"].workers.set(32);
    numbers.async_percent.set(100);
    services.env = &env;
    services.numbers = &numbers;
    services.gateway = "sandbox";
    services.accounts = people;
    services.note = [this](const std::string& trigger) { notes.push_back(trigger); };
    keep(sys.spawn(checkout_switch, static_cast<const checkout_switch_services*>(&services)));
    run();
  }
  ~switch_fixture() {
    services.accounts = nullptr;
    accounts_needs.ledgers.clear();
    people = nullptr;
  }
  void pass(milliseconds span) {
    for (milliseconds t{0}; t < span; t += services.interval) advance(services.interval);
  }
  void wait_for_page(std::uint64_t orders) {
    event.orders_pending = orders;
    seat->tell(event);
  }
  std::optional<std::string> setting() {
    for (const auto& s : store.directory().settings)
      if (s.name == async_percent_setting) return s.value;
    return std::nullopt;
  }
  std::vector<audit_row> audit() { return store.audit({default_tenant, {}, {}, {}, 10}); }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(checkout_switch_tests, switch_fixture)

CAF_TEST(all is well and nothing is changed) {
  wait_for_page(500);
  pass(30min);
  CAF_CHECK(!setting());
  CAF_CHECK(notes.empty());
  CAF_CHECK(audit().empty());
}

CAF_TEST(a gateway that is away for two minutes while an order waits) {
  wait_for_page(1);
  numbers.gateways["sandbox"].workers.set(0);
  pass(2min - 5s);
  CAF_CHECK(!setting());
  pass(15s);
  CAF_CHECK_EQUAL(setting().value_or("none"), "0");
  CAF_CHECK_EQUAL(notes.size(), 1u);
  CAF_CHECK_EQUAL(notes.at(0), "workers");
  CAF_CHECK_EQUAL(numbers.rollback.switched[rollback_trigger::workers].get(), 1u);
  CAF_CHECK_EQUAL(numbers.async_percent.get(), 0);
  const auto rows = audit();
  CAF_REQUIRE_EQUAL(rows.size(), 1u);
  CAF_CHECK_EQUAL(rows[0].actor, "system");
  CAF_CHECK_EQUAL(rows[0].action, "settings.change");
  CAF_CHECK_EQUAL(rows[0].detail, R"({"checkout":{"async_percent":0},"trigger":"workers"})");
  pass(30min); // no further change: it stays synchronous after the recovery
  numbers.gateways["sandbox"].workers.set(32);
  wait_for_page(0);
  pass(30min);
  CAF_CHECK_EQUAL(audit().size(), 1u);
  CAF_CHECK_EQUAL(setting().value_or("none"), "0");
}

CAF_TEST(a queue that is long for ten minutes) {
  wait_for_page(501);
  pass(10min - 5s);
  CAF_CHECK(!setting());
  pass(15s);
  CAF_CHECK_EQUAL(setting().value_or("none"), "0");
  CAF_CHECK_EQUAL(numbers.rollback.switched[rollback_trigger::queue].get(), 1u);
}

CAF_TEST(orders that get no page for five minutes) {
  for (int i = 0; i < 58; ++i) {
    numbers.sales.orders_failed.add(10);
    advance(5s);
  }
  CAF_CHECK(!setting());
  for (int i = 0; i < 6; ++i) {
    numbers.sales.orders_failed.add(10);
    advance(5s);
  }
  CAF_CHECK_EQUAL(setting().value_or("none"), "0");
  CAF_CHECK_EQUAL(numbers.rollback.switched[rollback_trigger::success].get(), 1u);
}

CAF_TEST(a person switches back and it is watched anew) {
  wait_for_page(501);
  pass(11min);
  CAF_CHECK_EQUAL(numbers.rollback.switched[rollback_trigger::queue].get(), 1u);
  numbers.async_percent.set(50);
  pass(10min - 5s);
  CAF_CHECK_EQUAL(numbers.rollback.switched[rollback_trigger::queue].get(), 1u);
  pass(20s);
  CAF_CHECK_EQUAL(numbers.rollback.switched[rollback_trigger::queue].get(), 2u);
  CAF_CHECK_EQUAL(audit().size(), 2u);
}

CAF_TEST(what cannot be stored is tried again) {
  wait_for_page(501);
  kill(people);
  pass(11min);
  CAF_CHECK(!setting());
  CAF_CHECK(numbers.rollback.failed.get() > 1);
  CAF_CHECK_EQUAL(numbers.async_percent.get(), 100);
  people = keep(sys.spawn(accounts, static_cast<const accounts_services*>(&accounts_needs)));
  services.accounts = people;
  pass(20s);
  CAF_CHECK_EQUAL(setting().value_or("none"), "0");
  CAF_CHECK_EQUAL(notes.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace checkout_switch_test
