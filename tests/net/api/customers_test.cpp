// SPDX-License-Identifier: Apache-2.0
// What is kept of a customer, over HTTP: to read and to erase.
#define CAF_SUITE routes_customers
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
  CAF_CHECK(has(answer, R"("email":"ann@example.com","created_at":")"));
  CAF_CHECK(
    has(answer, R"("first_name":"Ann","last_name":"Bee","email":"ann@example.com","phone":"+234 1")"));
  CAF_CHECK(has(answer, R"("next_cursor":")" + to_string(w.told->own_orders.orders[0].order.id)));
  w.told->customer = customer_reply{reason::not_found};
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/customers/me", "", w.as_customer())), "404 not_found");
}

CAF_TEST(an open order keeps its customer) {
  for (const auto status : {order_status::pending, order_status::awaiting_payment}) {
    world w;
    w.told->own_orders.orders = {order_of(order_status::success), order_of(status)};
    CAF_CHECK_EQUAL(shown(w.send(method::del, "/customers/me", "", w.as_customer())), "409 payment_open");
    CAF_CHECK(w.told->asked_erasure.customer.is_nil());
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
