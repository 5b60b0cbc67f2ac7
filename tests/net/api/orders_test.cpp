// SPDX-License-Identifier: Apache-2.0
// Checkout over HTTP: request parsing, answers and their time, authorization.
#define CAF_SUITE routes_orders
#include "actors/base/customer_book.hpp"
#include "net/wire/order_codec.hpp"
#include "tests/net/api/world.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <stdexcept>

namespace orders_test {

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
    return R"({"event_id":")" + to_string(event_id)
           + R"(","contact":{"first_name":"Ada","last_name":"Obi","email":"ADA@example.org"})" + more + "}";
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
  const auto answer =
    s.check_out(R"(,"admission_token":"t","items":[{"ticket_type_id":"0197f0c2-6d1a-7000-8000-000400000003",)"
                R"("quantity":2,"donation":50}],"promo_code":"TEN")");
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

CAF_TEST(mail of an order goes to the address that signed in whatever the contact is) {
  shop s;
  s.told->customer = {{}, s.customer, "login@example.org", {}};
  CAF_CHECK_EQUAL(s.check_out().status, 202u);
  CAF_CHECK_EQUAL(s.told->asked_order.wish.contact.account_email, "login@example.org");
  CAF_CHECK_EQUAL(s.told->asked_order.wish.contact.email, "ada@example.org");
  s.told->customer = {reason::not_found, {}, {}, {}}; // a token of the command line
  CAF_CHECK_EQUAL(s.check_out().status, 202u);
  CAF_CHECK_EQUAL(s.told->asked_order.wish.contact.account_email, "");
  s.told->asked_order = {};
  s.told->customer.customer = s.customer; // erased a moment ago
  CAF_CHECK_EQUAL(shown(s.check_out()), "401 unauthenticated");
  CAF_CHECK(s.told->asked_order.customer.is_nil());
  s.told->customer.no = reason::unavailable;
  CAF_CHECK_EQUAL(s.check_out().status, 503u);
}

CAF_TEST(an order speaks the language of its request or else of the account) {
  shop s;
  s.told->customer = {{}, s.customer, "login@example.org", {}, language::hr};
  const auto spoken = [&s](const text_fields& fields) {
    CAF_CHECK_EQUAL(s.check_out({}, fields).status, 202u);
    return s.told->asked_order.wish.contact.language;
  };
  CAF_CHECK(spoken({}) == language::hr);
  CAF_CHECK(spoken({{"Accept-Language", "*"}}) == language::hr);
  CAF_CHECK(spoken({{"Accept-Language", "de, fr-CA;q=0.7"}}) == language::fr);
}

CAF_TEST(customers of this process are known without a question to accounts) {
  shop s;
  s.told->accounts_fail = true;
  customer_book book;
  s.shared.known_customers = &book;
  CAF_CHECK_EQUAL(s.check_out().status, 503u); // not loaded yet
  book.load({{s.customer, default_tenant, "login@example.org", {}}});
  CAF_CHECK_EQUAL(s.check_out().status, 202u);
  CAF_CHECK_EQUAL(s.told->asked_order.wish.contact.account_email, "login@example.org");
  const auto stranger = s.bearer(token_kind::customer, {8, 8}); // a token of the command line
  CAF_CHECK_EQUAL(s.send(method::post, "/checkout", s.body(), stranger).status, 202u);
  CAF_CHECK_EQUAL(s.told->asked_order.wish.contact.account_email, "");
  s.told->asked_order = {};
  book.erase(s.customer);
  CAF_CHECK_EQUAL(shown(s.check_out()), "401 unauthenticated");
  CAF_CHECK(s.told->asked_order.customer.is_nil());
}

CAF_TEST(while accounts is unavailable a contact that is the address of the account serves) {
  shop s;
  s.told->accounts_fail = true;
  CAF_CHECK_EQUAL(s.check_out().status, 503u);
  const auto own = customer_id_of(s.shared.otp_key, "ada@example.org", 1);
  const auto answer = s.send(method::post, "/checkout", s.body(), s.bearer(token_kind::customer, own));
  CAF_CHECK_EQUAL(answer.status, 202u);
  CAF_CHECK_EQUAL(s.told->asked_order.wish.contact.account_email, "ada@example.org");
}

CAF_TEST(what is ready is 200 and what waits is asked for) {
  shop s;
  s.told->order.async_percent = 0; // percentage of this event: 0
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
  CAF_CHECK(s.told->asked_find_order.wait == milliseconds{0}); // asynchronous: no wait
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
  CAF_CHECK_EQUAL(
    code(R"(,"items":[{"ticket_type_id":"0197f0c2-6d1a-7000-8000-000400000003","donation":-1}])"),
    "400 invalid_field");
  CAF_CHECK_EQUAL(code(R"(,"gateway":"bank")"), "400 invalid_field");
  CAF_CHECK_EQUAL(code(R"(,"price":1)"), "400 unknown_field");
  for (const auto* url :
       {"javascript:alert(1)", "//evil.example", "https://evil.example/",
        "https://shop.example.evil.example/", "https://shop.example@evil.example/",
        "https://shop.example\\\\@evil.example", "ftp://shop.example/", "https://shop.example:8443/"})
    CAF_CHECK_EQUAL(code(R"(,"success_url":")" + std::string{url} + '"'), "400 invalid_field");
  CAF_CHECK_EQUAL(s.told->questions, 0);
  CAF_CHECK_EQUAL(
    code(R"(,"success_url":"https://shop.example/thanks?x=1","cancel_url":"http://127.0.0.1:8080/no")"),
    "202 ");
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
  CAF_CHECK_EQUAL(
    shown(s.send(method::patch, "/settings", R"({"checkout":{"async_percent":1}})", s.as_organizer())),
    "403 forbidden");
  CAF_CHECK_EQUAL(s.told->questions, 0);
  CAF_CHECK_EQUAL(s.send(method::get, order, {}, s.as_organizer()).status, 200u);
  CAF_CHECK(s.told->asked_find_order.by.kind == principal_kind::organizer);
  CAF_CHECK(s.told->asked_find_order.customer.is_nil());
  CAF_CHECK_EQUAL(s.send(method::get, order, {}, s.as_customer()).status, 200u);
  CAF_CHECK(s.told->asked_find_order.by.kind == principal_kind::nobody);
  CAF_CHECK(s.told->asked_find_order.with_tickets);
  CAF_CHECK_EQUAL(s.send(method::get, order + "/status", {}, s.as_customer()).status, 200u);
  CAF_CHECK(!s.told->asked_find_order.with_tickets); // a poll shows none
}

CAF_TEST(a refund names tickets or none and its money follows) {
  shop s;
  const auto path = "/orders/" + to_string(s.told->order.order.order.id) + "/refunds";
  CAF_CHECK_EQUAL(s.send(method::post, path, "", s.as_organizer()).status, 202u);
  CAF_CHECK(s.told->asked_refund.items.empty());
  CAF_CHECK_EQUAL(
    s.send(
       method::post, path,
       R"({"items":[{"ticket_type_id":"0197f0c2-6d1a-7000-8000-000400000003","quantity":3}],"reason":"ill"})",
       s.as_organizer())
      .status,
    202u);
  CAF_REQUIRE_EQUAL(s.told->asked_refund.items.size(), 1u);
  CAF_CHECK_EQUAL(s.told->asked_refund.items[0].quantity, 3u);
  CAF_CHECK_EQUAL(s.told->asked_refund.note.reason, "ill");
}

CAF_TEST(a refund names event tickets) {
  shop s;
  const auto path = "/orders/" + to_string(s.told->order.order.order.id) + "/refunds";
  const auto refund = [&](const std::string& ids) {
    return shown(s.send(method::post, path, "{\"event_ticket_ids\":" + ids + "}", s.as_organizer()));
  };
  const std::string id = "\"0197f0c2-6d1a-7000-8000-000400000003\"";
  CAF_CHECK_EQUAL(refund("[" + id + "]"), "202 ");
  CAF_REQUIRE_EQUAL(s.told->asked_refund.event_tickets.size(), 1u);
  CAF_CHECK_EQUAL('"' + to_string(s.told->asked_refund.event_tickets[0]) + '"', id);
  CAF_CHECK_EQUAL(refund("[]"), "400 invalid_field");
  CAF_CHECK_EQUAL(refund("[7]"), "400 invalid_field");
  CAF_CHECK_EQUAL(refund(id), "400 invalid_field");
}

namespace {

event_ticket_view ticket_of(shop& s, std::uint64_t n) {
  event_ticket_view v;
  v.ticket.id = make_uuid(s.clock.wall_now(), first_event_aggregate, n);
  v.ticket.holder = s.customer;
  v.ticket.created_at = v.ticket.updated_at = s.clock.wall_now();
  v.event = s.event_id;
  v.ticket_type = {7, 7};
  v.refund_pending = true;
  v.attendee = 2;
  return v;
}

} // namespace

CAF_TEST(an order lists its event tickets and a holder or the organizer reads one) {
  shop s;
  const auto ticket = ticket_of(s, 5);
  s.told->order.order.event_tickets = {ticket};
  const auto whole = "/orders/" + to_string(s.told->order.order.order.id);
  const auto order = json_of(s.send(method::get, whole, {}, s.as_customer()));
  const auto& listed = order.at("event_tickets").as_array().at(0).as_object();
  CAF_CHECK(listed.at("id").as_string() == to_string(ticket.ticket.id));
  CAF_CHECK(listed.at("status").as_string() == "ISSUED");
  CAF_CHECK(listed.at("refund_pending").as_bool());
  CAF_CHECK_EQUAL(listed.at("attendee").to_number<int>(), 2);
  CAF_CHECK(!listed.contains("holder_id") && !listed.contains("transfers"));
  auto& offer = s.told->order.order.transfers.emplace_back();
  offer.ticket = ticket.ticket.id;
  offer.receiver = {9, 9};
  const auto kept = json_of(s.send(method::get, whole, {}, s.as_organizer()));
  const auto& history = kept.at("event_tickets").at(0).at("transfers").as_array();
  CAF_CHECK(history.at(0).at("receiver_id").as_string() == to_string(customer_id{9, 9}));
  s.told->event_ticket.ticket = ticket;
  const auto path = "/event-tickets/" + to_string(ticket.ticket.id);
  const auto own = json_of(s.send(method::get, path, {}, s.as_customer()));
  CAF_CHECK(own.at("holder_id").as_string() == to_string(s.customer));
  CAF_CHECK(own.at("order_id").is_null());
  CAF_CHECK_EQUAL(own.at("attendee").to_number<int>(), 2);
  s.told->event_ticket.ticket.attendee = 0;
  CAF_CHECK(json_of(s.send(method::get, path, {}, s.as_customer())).at("attendee").is_null());
  CAF_CHECK(s.told->asked_event_ticket.customer == s.customer);
  CAF_CHECK(s.told->asked_event_ticket.by.kind == principal_kind::nobody);
  CAF_CHECK_EQUAL(s.send(method::get, path, {}, s.as_organizer()).status, 200u);
  CAF_CHECK(s.told->asked_event_ticket.by.kind == principal_kind::organizer);
  CAF_CHECK(s.told->asked_event_ticket.customer.is_nil());
  CAF_CHECK_EQUAL(shown(s.send(method::get, path)), "401 unauthenticated");
}

CAF_TEST(event tickets are listed for their holder and by state for the organizer) {
  shop s;
  const auto ticket = ticket_of(s, 5);
  s.told->held_tickets.tickets = {{s.event_id, "Concert", {7, 7}, "Standing", ticket.ticket}};
  s.told->held_tickets.tickets[0].event_state = event_status::cancelled;
  s.told->held_tickets.more = true;
  const auto held = json_of(s.send(method::get, "/event-tickets?limit=1", {}, s.as_customer()));
  CAF_CHECK(s.told->asked_held_tickets.holder == s.customer && s.told->asked_held_tickets.limit == 1);
  CAF_CHECK(held.at("items").as_array().at(0).at("ticket_type_name").as_string() == "Standing");
  CAF_CHECK(held.at("items").as_array().at(0).at("event_status").as_string() == "CANCELLED");
  CAF_CHECK(held.at("next_cursor").as_string() == to_string(ticket.ticket.id));
  CAF_CHECK_EQUAL(shown(s.send(method::get, "/event-tickets", {}, s.as_organizer())), "403 forbidden");
  const auto path = "/events/" + to_string(s.event_id) + "/event-tickets";
  s.told->event_tickets = {{}, {ticket}, ticket.ticket.id};
  const auto all = json_of(s.send(method::get, path + "?status=CHECKED_IN", {}, s.as_organizer()));
  CAF_CHECK(all.at("next_cursor").as_string() == to_string(ticket.ticket.id));
  const auto& asked = s.told->asked_event_tickets;
  CAF_CHECK(asked.status.given && asked.status.value == event_ticket_status::checked_in);
  CAF_CHECK_EQUAL(s.send(method::get, path, {}, s.as_organizer()).status, 200u);
  CAF_CHECK(!s.told->asked_event_tickets.status.given);
  for (const auto* wrong : {"?status=checked_in", "?status="})
    CAF_CHECK_EQUAL(shown(s.send(method::get, path + wrong, {}, s.as_organizer())), "400 invalid_parameter");
  CAF_CHECK_EQUAL(shown(s.send(method::get, path + "?state=ISSUED", {}, s.as_organizer())),
                  "400 unknown_parameter");
  CAF_CHECK_EQUAL(shown(s.send(method::get, path, {}, s.as_customer())), "403 forbidden");
}

CAF_TEST(promo codes are read in percent or in minor units) {
  shop s;
  const auto path = "/events/" + to_string(s.event_id) + "/promo-codes";
  s.told->promo_codes.codes = {promo_code_row{}};
  const auto code = [&](std::string body) {
    return shown(s.send(method::post, path, std::move(body), s.as_organizer()));
  };
  CAF_CHECK_EQUAL(code(R"({"code":"TEN","discount":{"type":"percent","percent":12.5},"uses_max":null})"),
                  "201 ");
  const auto& patch = s.told->asked_promo_code.patch;
  CAF_CHECK(patch.reduction.value.kind == discount_kind::percent);
  CAF_CHECK_EQUAL(patch.reduction.value.value, 1'250);
  CAF_CHECK(patch.uses_max.given && patch.uses_max.value == 0);
  for (const auto* wrong :
       {R"({"code":"TEN"})", R"({"discount":{"type":"none"}})",
        R"({"code":"two words","discount":{"type":"none"}})", R"({"code":"T","discount":{"type":"percent"}})",
        R"({"code":"T","discount":{"type":"percent","percent":101}})",
        R"({"code":"T","discount":{"type":"percent","percent":0.001}})",
        R"({"code":"T","discount":{"type":"amount","amount":0}})",
        R"({"code":"T","discount":{"type":"gift"}})",
        R"({"code":"T","discount":{"type":"none"},"ticket_type_ids":["x"]})"})
    CAF_CHECK_EQUAL(code(wrong), "400 invalid_field");
}

CAF_TEST(priority customers are named by address and audited by number) {
  shop s;
  s.told->customers.customers = {uuid{1, 1}, uuid{1, 2}};
  const auto path = "/events/" + to_string(s.event_id) + "/vips";
  CAF_CHECK_EQUAL(s.send(method::post, path, R"({"emails":["A@x.org","b@x.org"]})", s.as_organizer()).status,
                  200u);
  CAF_CHECK((s.told->asked_customers.emails == std::vector<std::string>{"a@x.org", "b@x.org"}));
  CAF_CHECK(s.told->asked_priorities.priority_class.given);
  CAF_CHECK_EQUAL(s.told->asked_priorities.customers.size(), 2u);
  CAF_CHECK(s.told->asked_priorities.note.detail.find("@") == std::string::npos);
  CAF_CHECK_EQUAL(shown(s.send(method::post, path, R"({"emails":["nobody"]})", s.as_organizer())),
                  "400 invalid_field");
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

// -- listed and exported by the organizer ----------------------------------------------------------------

namespace {

/// An order placed `minute` minutes after the first.
order_view order_of(const shop& s, std::uint64_t minute, std::string first_name, std::string last_name,
                    std::string email) {
  order_view v;
  v.order.id =
    make_uuid(from_unix_ms(1'800'000'000'000) + std::chrono::minutes{minute}, first_event_aggregate, minute);
  v.order.status = order_status::success;
  v.order.contact = {std::move(first_name), std::move(last_name), std::move(email), "+385 1 234"};
  v.order.subtotal = v.order.total = 14'900;
  v.order.created_at = v.order.updated_at = from_unix_ms(1'800'000'000'000);
  v.claim.event = s.event_id;
  v.claim.currency = "EUR";
  v.claim.claim.items = {{0, 2, 7'450}};
  v.claim.item_ids = {s.claim_id};
  return v;
}

response search(shop& s, std::string body) {
  return s.send(method::post, s.event_path("/orders/search"), std::move(body), s.as_organizer());
}

} // namespace

CAF_TEST(orders are found by name address id code and state) {
  shop s;
  auto ada = order_of(s, 2, "Ada", "Obi", "ada@example.org");
  auto ben = order_of(s, 1, "Ben",
                      "\xc4\x86"
                      "or",
                      "ben@example.org");
  ben.order.promo_code = "EARLY";
  ben.order.status = order_status::refunded;
  s.told->orders.orders = {ada, ben};
  const auto found = [&](std::string body) {
    std::string names;
    const auto page = json_of(search(s, std::move(body)));
    for (const auto& item : page.at("items").as_array())
      names += std::string{item.at("contact").at("first_name").as_string()} + ' ';
    return names;
  };
  CAF_CHECK_EQUAL(shown(search(s, "{}")), "200 ");
  CAF_CHECK_EQUAL(found(""), "Ada Ben ");
  CAF_CHECK_EQUAL(found(R"({"text":"ADA o"})"), "Ada ");
  CAF_CHECK_EQUAL(found(R"({"text":"n@EXAMPLE"})"), "Ben ");
  CAF_CHECK_EQUAL(found(R"({"text":"early"})"), "Ben ");
  CAF_CHECK_EQUAL(found("{\"text\":\"" + to_string(ada.order.id).substr(24) + "\"}"), "Ada ");
  CAF_CHECK_EQUAL(found(R"({"text":"example","status":"refunded"})"), "Ben ");
  CAF_CHECK_EQUAL(found(R"({"text":"nobody"})"), "");
  CAF_CHECK(json_of(search(s, "{}")).at("next_cursor").is_null());
  CAF_CHECK_EQUAL(shown(search(s, R"({"status":"paid"})")), "400 invalid_field");
  CAF_CHECK_EQUAL(shown(search(s, R"({"limit":0})")), "400 invalid_field");
  s.told->orders.no = reason::not_found;
  CAF_CHECK_EQUAL(shown(search(s, "{}")), "404 not_found");
}

CAF_TEST(a search goes on behind what it has looked at and not for ever) {
  shop s;
  orders_reply page;
  page.more = true;
  for (std::uint64_t i = 0; i < 200; ++i)
    page.orders.push_back(order_of(s, 1'000 - i, "Ada", "Obi", "ada@example.org"));
  s.told->orders = page;
  const auto nobody = json_of(search(s, R"({"text":"nobody"})"));
  CAF_CHECK(nobody.at("items").as_array().empty());
  CAF_CHECK(nobody.at("next_cursor").as_string() == to_string(page.orders.back().order.id));
  CAF_CHECK_EQUAL(s.told->questions, 10);
  const auto three = json_of(search(s, R"({"text":"ada","limit":3})"));
  CAF_CHECK_EQUAL(three.at("items").as_array().size(), 3u);
  CAF_CHECK(three.at("next_cursor").as_string() == to_string(page.orders[2].order.id));
  search(s, "{\"cursor\":\"" + to_string(page.orders[7].order.id) + "\",\"limit\":1}");
  CAF_CHECK(s.told->asked_orders.before == page.orders[7].order.id);
  s.told->orders.more = false; // the last row read is the last of all, and it matches
  s.told->orders.orders.resize(1);
  CAF_CHECK(json_of(search(s, R"({"limit":1})")).at("next_cursor").is_null());
}

CAF_TEST(orders are exported page by page and no cell is a formula) {
  shop s;
  ticket_type_row type;
  type.id = s.claim_id;
  type.name = "Weekend \"pass\"";
  s.told->event.event.ticket_types = {type};
  orders_reply first, second;
  first.more = true;
  first.orders = {order_of(s, 3, "=HYPERLINK(\"http://evil\")", "+Obi", "-ada@example.org")};
  first.orders[0].order.failure = "@x";
  auto one = ticket_of(s, 6), two = ticket_of(s, 5);
  one.attendee = 1;
  first.orders[0].event_tickets = {two, one};
  second.orders = {order_of(s, 2, "\tBen", "a,b\r\nc", "ben@example.org")};
  s.told->order_pages = {first, second};
  const auto file = s.send(method::get, s.event_path("/orders.csv"), "", s.as_organizer());
  CAF_CHECK_EQUAL(file.status, 200u);
  CAF_CHECK(file.content_type.starts_with("text/csv"));
  CAF_CHECK_EQUAL(field_of(file, "Content-Disposition"),
                  "attachment; filename=\"orders-" + to_string(s.event_id) + ".csv\"");
  CAF_CHECK(s.told->asked_orders.before == first.orders[0].order.id);
  const std::string_view text = file.body;
  CAF_CHECK(text.starts_with("\xef\xbb\xbf\"order_id\",\"created_at\""));
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  CAF_CHECK(has(R"csv("'=HYPERLINK(""http://evil"")","'+Obi","'-ada@example.org","'+385 1 234",)csv"
                R"csv("2 x Weekend ""pass""","0","","EUR","149.00")csv"));
  CAF_CHECK(has("\"success\",\"'@x\""));
  CAF_CHECK(s.told->asked_orders.with_attendees);
  CAF_CHECK(has(",\"1: " + to_string(one.ticket.id) + "; 2: " + to_string(two.ticket.id) + '"'));
  CAF_CHECK(has("\"'\tBen\",\"a,b\r\nc\",\"ben@example.org\""));
  CAF_CHECK_EQUAL(std::count(text.begin(), text.end(), '\n'),
                  4); // header, two orders, one line break inside a cell
  s.told->orders.no = reason::not_found;
  CAF_CHECK_EQUAL(shown(s.send(method::get, s.event_path("/orders.csv"), "", s.as_organizer())),
                  "404 not_found");
  CAF_CHECK_EQUAL(shown(s.send(method::get, s.event_path("/orders.csv"), "", s.as_customer())),
                  "403 forbidden");
}

CAF_TEST(an export that cannot go on throws) {
  shop s;
  orders_reply first;
  first.more = true;
  first.orders = {order_of(s, 3, "Ada", "Obi", "ada@example.org")};
  s.told->order_pages = {first};
  s.told->orders.no = reason::unavailable;
  bool is_broken = false;
  try {
    s.send(method::get, s.event_path("/orders.csv"), "", s.as_organizer());
  } catch (const std::runtime_error&) { is_broken = true; }
  CAF_CHECK(is_broken);
}

} // namespace orders_test
