// SPDX-License-Identifier: Apache-2.0
// What is kept of a customer, over HTTP: to read and to erase.
#define CAF_SUITE routes_customers
#include "net/api/limits.hpp"
#include "tests/net/api/world.hpp"

namespace customers_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

order_listing order_of(order_status status) {
  order_listing l;
  l.order.id = make_uuid(from_unix_ms(1'800'000'000'000), first_event_aggregate, 77);
  l.order.status = status;
  l.order.contact = {"Ann", "Bee", "ann@example.com", "+234 1"};
  l.currency = "EUR";
  return l;
}

bool has(const response& answer, std::string_view part) {
  return answer.body.find(part) != std::string::npos;
}

} // namespace

CAF_TEST(a customer reads all that is kept) {
  world w;
  w.told->customer = {{}, {1, 2}, "ann@example.com", from_unix_ms(1'800'000'000'000)};
  w.told->own_orders.orders = {order_of(order_status::success)};
  w.told->own_orders.more = true;
  const auto answer = w.send(method::get, "/customers/me?limit=1", "", w.as_customer());
  CAF_CHECK_EQUAL(answer.status, 200u);
  CAF_CHECK(has(answer, R"("email":"ann@example.com","language":"en","created_at":")"));
  CAF_CHECK(
    has(answer, R"("first_name":"Ann","last_name":"Bee","email":"ann@example.com","phone":"+234 1")"));
  CAF_CHECK(has(answer, R"("next_cursor":")" + to_string(w.told->own_orders.orders[0].order.id)));
  CAF_CHECK(w.told->asked_records.empty()); // the page is full
  w.told->customer = customer_reply{reason::not_found};
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/customers/me", "", w.as_customer())), "404 not_found");
}

CAF_TEST(the records follow the orders page by page) {
  world w;
  w.told->customer = {{}, {1, 2}, "ann@example.com", from_unix_ms(1'800'000'000'000)};
  w.told->own_orders.orders = {order_of(order_status::success)};
  customer_record place;
  place.at = {record_kind::place, first_event_aggregate, 7, 0, {}};
  place.created_at = from_unix_ms(1'800'000'000'000);
  w.told->records = {{{}, {{}, {record_kind::place, first_event_aggregate, 5, 0, {}}, true}},
                     {{}, {{place}, place.at, true}}};
  const auto first = w.send(method::get, "/customers/me?limit=2", "", w.as_customer());
  CAF_CHECK_EQUAL(first.status, 200u);
  CAF_CHECK(has(first, R"("queue_number":7,"status":"WAITING")"));
  const std::string cursor = "0.16.7.0.00000000-0000-0000-0000-000000000000";
  CAF_CHECK(has(first, R"("next_cursor":")" + cursor));
  CAF_REQUIRE_EQUAL(w.told->asked_records.size(), 2u);
  CAF_CHECK_EQUAL(w.told->asked_records[0].limit, 1u);
  CAF_CHECK_EQUAL(w.told->asked_records[0].email, "ann@example.com");
  const auto last = w.send(method::get, "/customers/me?limit=2&cursor=" + cursor, "", w.as_customer());
  CAF_CHECK(has(last, R"("orders":[])") && has(last, R"("next_cursor":null)"));
  CAF_CHECK(w.told->asked_records.back().after == place.at);
  for (const auto* bad : {"0.16.7.0", "13.16.7.0.00000000-0000-0000-0000-000000000000", "x", "-1.1.1.1.x",
                          "0.16.99999999999999999999.0.00000000-0000-0000-0000-000000000000"})
    CAF_CHECK_EQUAL(
      w.send(method::get, std::string{"/customers/me?cursor="} + bad, "", w.as_customer()).status, 400u);
}

CAF_TEST(a ledger without an end costs a bounded number of reads) {
  world w;
  w.told->customer = {{}, {1, 2}, "ann@example.com", from_unix_ms(1'800'000'000'000)};
  w.told->records.assign(1'000, {{}, {{}, {record_kind::place, first_event_aggregate, 5, 0, {}}, true}});
  const auto answer = w.send(method::get, "/customers/me", "", w.as_customer());
  CAF_CHECK_EQUAL(w.told->asked_records.size(), 6u); // 500 rows each
  CAF_CHECK(has(answer, R"("next_cursor":"0.16.5.0.)"));
  w.told->asked_records.clear();
  w.told->records.assign(1'000, {{}, {{}, {record_kind::priority, first_event_aggregate, 0, 0, {}}, true}});
  w.send(method::get, "/customers/me", "", w.as_customer());
  CAF_CHECK_EQUAL(w.told->asked_records.size(), 15u);
}

CAF_TEST(a customer with few rows gets those of every kind in one answer) {
  world w;
  w.told->customer = {{}, {1, 2}, "ann@example.com", from_unix_ms(1'800'000'000'000)};
  for (auto kind = std::uint8_t{0}; kind < static_cast<std::uint8_t>(record_kind::letter); ++kind) {
    record_page page{{}, {static_cast<record_kind>(kind + 1), {}, 0, 0, {}}, true};
    w.told->records.push_back({{}, std::move(page)});
  }
  const auto answer = w.send(method::get, "/customers/me", "", w.as_customer());
  CAF_CHECK_EQUAL(w.told->asked_records.size(), 13u);
  CAF_CHECK(has(answer, R"("next_cursor":null)"));
}

CAF_TEST(a customer reads a few pages a minute) {
  world w;
  const auto me = w.as_customer(), other = w.bearer(token_kind::customer, {9, 9});
  const auto status = [&](const text_fields& who) {
    return w.send(method::get, "/customers/me", "", who).status;
  };
  for (int i = 0; i < 10; ++i) CAF_CHECK_EQUAL(status(me), 200u);
  w.told->asked_records.clear();
  CAF_CHECK_EQUAL(status(me), 429u);
  CAF_CHECK(w.told->asked_records.empty());
  CAF_CHECK_EQUAL(status(other), 200u);
  w.clock.now_ms += 6'000;
  CAF_CHECK_EQUAL(status(me), 200u);
}

CAF_TEST(a network erases a few customers an hour and refusals do not count) {
  world w;
  const auto erase = [&](const std::string& peer) {
    return w.send(method::del, "/customers/me", "", w.as_customer(), peer).status;
  };
  w.told->ack = ack_reply{reason::payment_open};
  for (int i = 0; i < 30; ++i) CAF_CHECK_EQUAL(erase("192.0.2.1"), 409u);
  w.told->ack = {};
  for (int i = 0; i < 20; ++i) CAF_CHECK_EQUAL(erase("192.0.2.1"), 204u);
  w.told->asked_erasure = {};
  CAF_CHECK_EQUAL(erase("192.0.2.1"), 429u);
  CAF_CHECK(w.told->asked_erasure.customer.is_nil());
  CAF_CHECK_EQUAL(erase("198.51.100.1"), 204u);
  w.clock.now_ms += 180'000;
  CAF_CHECK_EQUAL(erase("192.0.2.1"), 204u);
}

CAF_TEST(a refused erasure ends no tokens) {
  for (const auto why : {reason::payment_open, reason::claim_live}) {
    world w;
    w.told->ack = ack_reply{why};
    CAF_CHECK_EQUAL(shown(w.send(method::del, "/customers/me", "", w.as_customer())),
                    "409 " + std::string{code_of(why)});
    CAF_CHECK_EQUAL(w.send(method::get, "/customers/me", "", w.as_customer()).status, 200u);
  }
}

CAF_TEST(the tokens of an erased customer open nothing) {
  world w;
  w.told->own_orders.orders = {order_of(order_status::success)};
  CAF_CHECK_EQUAL(w.send(method::del, "/customers/me", "", w.as_customer()).status, 204u);
  CAF_CHECK(!w.told->asked_erasure.customer.is_nil());
  CAF_CHECK(w.told->asked_erasure.lifetime == w.options.tokens.ttl);
  auto content = world::make_directory();
  content.ended_sessions = {w.told->asked_erasure.customer};
  w.directory.publish(content);
  for (const auto* path : {"/customers/me", "/orders", "/events"})
    CAF_CHECK_EQUAL(w.send(method::get, path, "", w.as_customer()).status, 401u);
}

} // namespace customers_test
