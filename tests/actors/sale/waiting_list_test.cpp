// SPDX-License-Identifier: Apache-2.0
// What an owner tells of a waiting list, and of the odds before it begins.
#define CAF_SUITE waiting_list
#include "domain/delivery/outbox.hpp"
#include "tests/actors/sale/event_fixture.hpp"

#include <boost/json/parse.hpp>

namespace waiting_list_test {

using namespace fq;
using namespace fq::test;
namespace json = boost::json;

namespace {

struct list_fixture : event_fixture {
  /// Free of charge, with a waiting list.
  void start_listed(std::int64_t total) {
    services.shop_url = "https://tickets.example/shop";
    start(total);
    event_patch p;
    p.set(&waiting_list_settings::enabled, true);
    p.set(&queue_settings::presence_timeout, milliseconds{20'000});
    add(p, [](ticket_type_patch& t) { t.set(&ticket_type_row::price, money{0}); });
  }
  void set_total(std::int64_t total) {
    add({}, [=](ticket_type_patch& t) { t.set(&ticket_type_row::total, total); });
  }
  template <class Change>
  void add(event_patch p, Change change) {
    auto shown = ask<event_reply>(owner, find_event{managed_by_organizer(event)});
    run();
    CAF_REQUIRE(shown->ok);
    ticket_type_patch t;
    t.values.id = shown->value.event.ticket_types.front().id;
    change(t);
    p.ticket_types.push_back(t);
    auto done = ask<event_reply>(owner, patch_event{managed_by_organizer(event), {}, p});
    run();
    CAF_REQUIRE(done->ok && !done->value.no);
  }
  void buy(std::uint64_t n) {
    const auto claim = admitted_claim(n);
    auto paid = ask<payment_reply>(owner, open_payment{customer(n), claim, "sandbox", {}});
    run();
    CAF_REQUIRE(paid->ok && !paid->value.no);
  }
  line_reply line() {
    auto told = ask<line_reply>(owner, find_line{event.id});
    run();
    CAF_REQUIRE(told->ok);
    return told->value;
  }
  std::vector<json::object> offers() {
    const std::vector<std::uint32_t> own{number_of(event.aggregate) % outbox_partitions};
    std::vector<json::object> all;
    for (const auto& item : store.undelivered(lane::mail, own, 100, {})) {
      if (item.row.topic != topic::mail_send) continue;
      auto mail = json::parse(item.row.payload).as_object();
      if (mail.at("template").as_string() == "waiting_list_offer") all.push_back(std::move(mail));
    }
    return all;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(waiting_list_tests, list_fixture)

CAF_TEST(a place in line has odds and its join has none) {
  start_listed(1);
  admitted_claim(1);
  auto joined = join_as(2);
  run();
  CAF_REQUIRE(joined->ok);
  CAF_CHECK(!joined->value.entry.outlook.is_known);
  const auto odds = find_now(2).outlook;
  CAF_CHECK(odds.is_known && !odds.waiting_list);
  CAF_CHECK_EQUAL(odds.held, 1u);
  CAF_CHECK(outlook_of(line().line.evidence, 1) == odds);
}

CAF_TEST(what comes back is offered to the first with a mail whose address is not known here) {
  start_listed(1);
  buy(1);
  join_as(2);
  join_as(3);
  run();
  CAF_CHECK(line().line.evidence.waiting_list);
  CAF_CHECK(!line().watches_presence);
  CAF_CHECK(find_now(2).outlook.waiting_list);
  CAF_CHECK(offers().empty());
  set_total(2);
  const auto offered = find_now(2);
  CAF_CHECK(offered.status == entry_status::admitted && find_now(3).status == entry_status::waiting);
  CAF_CHECK(offered.claim_by == offered.admitted_at + seconds{1'800});
  const auto mails = offers();
  CAF_REQUIRE_EQUAL(mails.size(), 1u);
  const auto& to = mails[0].at("to").as_array().at(0).as_object();
  CAF_CHECK(to.at("customer_id").as_string() == to_string(customer(2)).c_str());
  CAF_CHECK(mails[0].at("expires_at").as_int64() == unix_ms(offered.claim_by));
  const auto& data = mails[0].at("data").as_object();
  CAF_CHECK(data.at("shop_url").as_string()
            == ("https://tickets.example/shop/events/" + to_string(event.id)).c_str());
}

CAF_TEST(an owner that loads again goes on with the list) {
  start_listed(1);
  buy(1);
  join_as(2);
  run();
  kill(owner);
  own();
  CAF_CHECK(line().line.evidence.waiting_list);
  advance(60s);
  CAF_CHECK(find_now(2).status == entry_status::waiting); // absent for longer than presence_timeout
  set_total(2);
  CAF_CHECK(find_now(2).claim_by == find_now(2).admitted_at + seconds{1'800});
}

CAF_TEST(admissions before everything is sold cause no mail) {
  start_listed(2);
  buy(1);
  join_as(2);
  run();
  CAF_CHECK(offers().empty());
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace waiting_list_test
