// SPDX-License-Identifier: Apache-2.0
// Checkout on the wire: what is read, what is answered and when, who may.
#define CAF_SUITE routes_orders
#include "net/order_codec.hpp"
#include "routes_world.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

struct shop : world {
  explicit shop(config::options o = world_options()) : world(std::move(o)) {
    auto& order = told->order.order;
    order.order.id = make_uuid(clock.wall_now(), first_event_aggregate, 77);
    order.order.status = order_status::pending;
    order.order.created_at = clock.wall_now();
    order.claim.event = event_id;
    order.claim.currency = "EUR";
  }
  std::string body(std::string more = {}) const {
    return R"({"event_id":")" + to_string(event_id) + R"(","contact":{"first_name":"Ada","last_name":"Obi","email":"ADA@example.org"})" + more + "}";
  }
  response check_out(std::string more = {}, text_fields fields = {}) {
    auto all = as_customer();
    all.insert(all.end(), fields.begin(), fields.end());
    return send(method::post, "/checkout", body(std::move(more)), all);
  }
};

boost::json::object json_of(const response& r) { return boost::json::parse(r.body).as_object(); }

} // namespace

CAF_TEST(a checkout is read whole and answered 202 with where to ask) {
  shop s;
  const auto answer = s.check_out(R"(,"admission_token":"t","items":[{"ticket_type_id":"0197f0c2-6d1a-7000-8000-000400000003","quantity":2,"donation":50}],"promo_code":"TEN")");
  CAF_CHECK_EQUAL(answer.status, 202u);
  const auto id = to_string(s.told->order.order.order.id);
  CAF_CHECK_EQUAL(field_of(answer, "Location"), "/orders/" + id);
  const auto told = json_of(answer);
  CAF_CHECK(told.at("status").as_string() == "processing");
  CAF_CHECK(told.at("status_url").as_string() == "/orders/" + id + "/status");
  CAF_CHECK(told.at("poll_after_ms").to_number<int>() == 500);
  const auto& asked = s.told->asked_order;
  CAF_CHECK_EQUAL(asked.admission_token, "t");
  CAF_CHECK_EQUAL(asked.wish.contact.email, "ada@example.org"); // one person, one address
  CAF_CHECK_EQUAL(asked.wish.promo_code, "TEN");
  CAF_CHECK_EQUAL(asked.wish.gateway, "sandbox");
  CAF_REQUIRE_EQUAL(asked.wish.items.size(), 1u);
  CAF_CHECK_EQUAL(asked.wish.items[0].quantity, 2u);
  CAF_CHECK_EQUAL(asked.wish.items[0].donation, 50);
}

CAF_TEST(what is ready is 200 and what waits is asked for) {
  shop s;
  s.told->order.async_percent = 0; // of this event: nobody
  CAF_CHECK_EQUAL(s.check_out().status, 202u); // still pending when the wait ends
  CAF_CHECK(s.told->asked_find_order.wait > milliseconds{0});
  CAF_CHECK(s.told->asked_find_order.wait < s.options.http.request_timeout);
  s.told->order.order.order.status = order_status::awaiting_payment;
  s.told->order.order.payment_url = "https://pay";
  const auto ready = s.check_out();
  CAF_CHECK_EQUAL(ready.status, 200u);
  CAF_CHECK(json_of(ready).at("payment_url").as_string() == "https://pay");
}

CAF_TEST(Prefer wait holds the answer within our own deadline) {
  shop s;
  s.told->asked_find_order = {};
  s.check_out();
  CAF_CHECK(s.told->asked_find_order.wait == milliseconds{0}); // asynchronous: nobody waits
  const auto held = s.check_out({}, {{"Prefer", "respond-async, wait=2"}});
  CAF_CHECK(s.told->asked_find_order.wait == milliseconds{2'000});
  CAF_CHECK_EQUAL(field_of(held, "Preference-Applied"), "wait=2");
  s.check_out({}, {{"Prefer", "wait=100000"}});
  CAF_CHECK(s.told->asked_find_order.wait < s.options.http.request_timeout);
  s.told->asked_find_order = {};
  s.check_out({}, {{"Prefer", "wait=soon"}});
  CAF_CHECK(s.told->asked_find_order.wait == milliseconds{0});
}

CAF_TEST(bad checkouts are refused before anybody is asked) {
  shop s;
  const auto code = [&](std::string more) { return shown(s.check_out(std::move(more))); };
  CAF_CHECK_EQUAL(shown(s.send(method::post, "/checkout", "{}", s.as_customer())), "400 invalid_field");
  CAF_CHECK_EQUAL(code(R"(,"items":[])"), "400 invalid_field");
  CAF_CHECK_EQUAL(code(R"(,"items":[{"ticket_type_id":"0197f0c2-6d1a-7000-8000-000400000003","donation":-1}])"), "400 invalid_field");
  CAF_CHECK_EQUAL(code(R"(,"gateway":"bank")"), "400 invalid_field");
  CAF_CHECK_EQUAL(code(R"(,"price":1)"), "400 unknown_field");
  for (const auto* url : {"javascript:alert(1)", "//evil.example", "https://evil.example/", "https://shop.example.evil.example/", "https://shop.example@evil.example/",
                          "https://shop.example\\\\@evil.example", "ftp://shop.example/", "https://shop.example:8443/"})
    CAF_CHECK_EQUAL(code(R"(,"success_url":")" + std::string{url} + '"'), "400 invalid_field");
  CAF_CHECK_EQUAL(s.told->questions, 0);
  CAF_CHECK_EQUAL(code(R"(,"success_url":"https://shop.example/thanks?x=1","cancel_url":"http://127.0.0.1:8080/no")"), "202 ");
  CAF_CHECK_EQUAL(s.told->asked_order.wish.success_url, "https://shop.example/thanks?x=1");
}

CAF_TEST(who may see and do what) {
  shop s;
  const auto order = "/orders/" + to_string(s.told->order.order.order.id);
  const auto event = "/events/" + to_string(s.event_id);
  for (const auto& path : {order + "/refunds", order + "/resend", event + "/promo-codes", event + "/vips"}) {
    CAF_CHECK_EQUAL(shown(s.send(method::post, path, "{}", s.as_customer())), "403 forbidden");
    CAF_CHECK_EQUAL(shown(s.send(method::post, path, "{}")), "401 unauthenticated");
  }
  CAF_CHECK_EQUAL(shown(s.send(method::get, "/dead-letters", {}, s.as_customer())), "403 forbidden");
  CAF_CHECK_EQUAL(shown(s.send(method::get, "/settings", {}, s.as_organizer())), "403 forbidden");
  CAF_CHECK_EQUAL(shown(s.send(method::patch, "/settings", R"({"checkout":{"async_percent":1}})", s.as_organizer())), "403 forbidden");
  CAF_CHECK_EQUAL(s.told->questions, 0);
  CAF_CHECK_EQUAL(s.send(method::get, order, {}, s.as_organizer()).status, 200u);
  CAF_CHECK(s.told->asked_find_order.by.kind == principal_kind::organizer);
  CAF_CHECK(s.told->asked_find_order.customer.is_nil());
  CAF_CHECK_EQUAL(s.send(method::get, order, {}, s.as_customer()).status, 200u);
  CAF_CHECK(s.told->asked_find_order.by.kind == principal_kind::nobody);
}

CAF_TEST(a refund names tickets or none and its money follows) {
  shop s;
  const auto path = "/orders/" + to_string(s.told->order.order.order.id) + "/refunds";
  CAF_CHECK_EQUAL(s.send(method::post, path, "", s.as_organizer()).status, 202u);
  CAF_CHECK(s.told->asked_refund.items.empty());
  CAF_CHECK_EQUAL(s.send(method::post, path, R"({"items":[{"ticket_type_id":"0197f0c2-6d1a-7000-8000-000400000003","quantity":3}],"reason":"ill"})", s.as_organizer()).status, 202u);
  CAF_REQUIRE_EQUAL(s.told->asked_refund.items.size(), 1u);
  CAF_CHECK_EQUAL(s.told->asked_refund.items[0].quantity, 3u);
  CAF_CHECK_EQUAL(s.told->asked_refund.note.reason, "ill");
}

CAF_TEST(promo codes are read in percent or in minor units) {
  shop s;
  const auto path = "/events/" + to_string(s.event_id) + "/promo-codes";
  s.told->promo_codes.codes = {promo_code_row{}};
  const auto code = [&](std::string body) { return shown(s.send(method::post, path, std::move(body), s.as_organizer())); };
  CAF_CHECK_EQUAL(code(R"({"code":"TEN","discount":{"type":"percent","percent":12.5},"uses_max":null})"), "201 ");
  const auto& patch = s.told->asked_promo_code.patch;
  CAF_CHECK(patch.reduction.value.kind == discount_kind::percent);
  CAF_CHECK_EQUAL(patch.reduction.value.value, 1'250);
  CAF_CHECK(patch.uses_max.given && patch.uses_max.value == 0);
  for (const auto* wrong : {R"({"code":"TEN"})", R"({"discount":{"type":"none"}})", R"({"code":"two words","discount":{"type":"none"}})",
                            R"({"code":"T","discount":{"type":"percent"}})", R"({"code":"T","discount":{"type":"percent","percent":101}})",
                            R"({"code":"T","discount":{"type":"percent","percent":0.001}})", R"({"code":"T","discount":{"type":"amount","amount":0}})",
                            R"({"code":"T","discount":{"type":"gift"}})", R"({"code":"T","discount":{"type":"none"},"ticket_type_ids":["x"]})"})
    CAF_CHECK_EQUAL(code(wrong), "400 invalid_field");
}

CAF_TEST(priority customers are named by address and audited by number) {
  shop s;
  s.told->customers.customers = {uuid{1, 1}, uuid{1, 2}};
  const auto path = "/events/" + to_string(s.event_id) + "/vips";
  CAF_CHECK_EQUAL(s.send(method::post, path, R"({"emails":["A@x.org","b@x.org"]})", s.as_organizer()).status, 200u);
  CAF_CHECK((s.told->asked_customers.emails == std::vector<std::string>{"a@x.org", "b@x.org"}));
  CAF_CHECK(s.told->asked_priorities.priority_class.given);
  CAF_CHECK_EQUAL(s.told->asked_priorities.customers.size(), 2u);
  CAF_CHECK(s.told->asked_priorities.note.detail.find("@") == std::string::npos);
  CAF_CHECK_EQUAL(shown(s.send(method::post, path, R"({"emails":["nobody"]})", s.as_organizer())), "400 invalid_field");
  CAF_CHECK_EQUAL(s.send(method::del, path, R"({"emails":["a@x.org"]})", s.as_organizer()).status, 200u);
  CAF_CHECK(!s.told->asked_priorities.priority_class.given);
}

CAF_TEST(the pace of polling grows to two seconds) {
  order_row o;
  o.created_at = from_unix_ms(1'000'000);
  CAF_CHECK_EQUAL(poll_after(o, o.created_at), 500u);
  CAF_CHECK_EQUAL(poll_after(o, o.created_at + milliseconds{500}), 600u); // x 1.2
  CAF_CHECK_EQUAL(poll_after(o, o.created_at + milliseconds{1'100}), 720u); // and again
  CAF_CHECK_EQUAL(poll_after(o, o.created_at + milliseconds{60'000}), 2'000u);
  CAF_CHECK_EQUAL(poll_after(o, o.created_at - milliseconds{60'000}), 500u);
}

CAF_TEST(a dead letter shows the topic of what was not delivered and nothing of what it said) {
  dead_letter_listing l;
  l.letter.kind = dead_letter_kind::undelivered;
  l.letter.payload = "mail.send\n{\"to\":[{\"address\":\"ada@example.org\"}]}";
  const auto text = dead_letters_text({l}, false);
  CAF_CHECK(text.find("mail.send") != std::string::npos);
  CAF_CHECK(text.find("ada@") == std::string::npos);
}
