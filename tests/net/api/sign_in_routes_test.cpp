// SPDX-License-Identifier: Apache-2.0
// Sign-in over HTTP: limits, handles, marks of known browsers, sign-ins of organizers, buyers of guests'
// orders.
#define CAF_SUITE routes_sign_in
#include "caf/test/unit_test.hpp"

#include "net/service/limits.hpp"
#include "tests/net/api/world.hpp"

namespace sign_in_routes_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

/// Of a browser that keeps its cookies: the value of one in the answer.
std::string cookie_in(const response& answer, const std::string& name) {
  for (const auto& [field, value] : answer.fields)
    if (field == "Set-Cookie" && value.starts_with(name + "="))
      return value.substr(name.size() + 1, value.find(';') - name.size() - 1);
  return {};
}

} // namespace

CAF_TEST(codes are limited by address of mail and client and a stranger uses up nothing of the owner) {
  world w;
  const auto ask = [&](std::string email, std::string peer) {
    return w.send(method::post, "/auth/customer/otp/request", R"({"email":")" + email + "\"}",
                  {{"Content-Type", "application/json"}}, std::move(peer));
  };
  for (int i = 0; i < 5; ++i) CAF_CHECK_EQUAL(ask("ada@example.org", "192.0.2.77").status, 202u);
  const auto no = ask("ADA@example.org", "192.0.2.77");
  CAF_CHECK_EQUAL(shown(no), "429 rate_limited");
  CAF_CHECK_EQUAL(ask("bob@example.org", "192.0.2.77").status, 202u);
  CAF_CHECK_EQUAL(ask("ada@example.org", "192.0.2.78").status, 202u);
  w.clock.now_ms += 1000 * std::stol(field_of(no, "Retry-After"));
  CAF_CHECK_EQUAL(ask("ada@example.org", "192.0.2.77").status, 202u);
}

CAF_TEST(a client sends few codes that are not entered and any number that are) {
  auto options = world_options();
  options.otp.requests_per_ip_per_minute = 1'000'000;
  world w{options};
  w.told->person.person = w.customer;
  int sent = 0;
  std::string mark;
  const auto ask = [&](const std::string& more = {}) {
    const auto fan = more.empty() ? ++sent : 0;
    return w
      .send(method::post, "/auth/customer/otp/request",
            R"({"email":"fan)" + std::to_string(fan) + R"(@example.org")" + more + "}",
            {{"Content-Type", "application/json"}}, "192.0.2.77")
      .status;
  };
  const auto enter = [&](bool had_mark) {
    w.told->person.had_mark = had_mark;
    const auto answer = w.send(method::post, "/auth/customer/otp/verify",
                               R"({"email":"fan0@example.org","otp":"123456","handle":"h"})",
                               {{"Content-Type", "application/json"}}, "192.0.2.77");
    if (answer.status == 200) mark = text_in(answer, "browser_mark");
    return answer.status;
  };
  for (std::uint32_t i = 0; i < 2 * otp_mails_per_client; ++i) {
    CAF_REQUIRE_EQUAL(ask(), 202u);
    CAF_REQUIRE_EQUAL(enter(false), 200u);
  }
  CAF_REQUIRE_EQUAL(ask(), 202u);
  CAF_REQUIRE_EQUAL(enter(true), 200u); // not asked for as this client: nothing returns
  for (std::uint32_t i = 1; i < otp_mails_per_client; ++i) CAF_REQUIRE_EQUAL(ask(), 202u);
  CAF_CHECK_EQUAL(ask(), 429u);
  CAF_CHECK_EQUAL(ask(R"(,"browser_mark":")" + mark + '"'), 202u);
}

CAF_TEST(a known browser has limits of its own at its address) {
  world w;
  w.told->person.person = w.customer;
  const auto ask = [&](const std::string& mark, const std::string& email = "ada@example.org") {
    return w
      .send(method::post, "/auth/customer/otp/request",
            R"({"email":")" + email + R"(","browser_mark":")" + mark + "\"}",
            {{"Content-Type", "application/json"}}, "192.0.2.77")
      .status;
  };
  const auto mark_of = [&](const std::string& email) {
    return text_in(w.send(method::post, "/auth/customer/otp/verify",
                          R"({"email":")" + email + R"(","otp":"123456","handle":"h"})",
                          {{"Content-Type", "application/json"}}),
                   "browser_mark");
  };
  const auto mark = mark_of("ada@example.org");
  CAF_CHECK(mark.find('@') == std::string::npos);
  const auto counts = [&](const std::string& text, const std::string& email = "ada@example.org") {
    CAF_CHECK_EQUAL(ask(text, email), 202u);
    return !w.told->asked_otp.mark.is_nil();
  };
  auto forged = mark;
  forged[40] = forged[40] == '1' ? '2' : '1'; // a later end
  CAF_CHECK(!counts(forged));
  CAF_CHECK(!counts(".x"));
  CAF_CHECK(!counts(mark, "bob@example.org"));
  const auto point = mark.rfind('.') + 1; // of bob.ada@example.org for ada@example.org
  CAF_CHECK(!counts(mark_of("bob.ada@example.org").insert(point, "bob.")));
  for (int i = 0; i < 2; ++i) CAF_CHECK(!counts("none"));
  CAF_CHECK_EQUAL(ask("none"), 429u);
  for (int i = 0; i < 5; ++i) CAF_CHECK(counts(mark));
  CAF_CHECK_EQUAL(ask(mark), 429u);
  w.clock.now_ms += 364ll * 86'400'000;
  CAF_CHECK(counts(mark));
  w.clock.now_ms += 2ll * 86'400'000;
  CAF_CHECK(!counts(mark));
}

CAF_TEST(a browser that asks again on a page replaces its code and is known after the sign-in) {
  world w;
  w.told->person.person = w.customer;
  const auto post = [&](const std::string& body, std::string cookies = {}) {
    text_fields fields{{"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "text/html"}};
    if (!cookies.empty()) fields.emplace_back("Cookie", std::move(cookies));
    return w.send(method::post, "/wait/" + to_string(w.event_id), body, fields);
  };
  const std::string wish = "action=code&email=ada%40example.org";
  const auto first = post(wish);
  CAF_CHECK_EQUAL(first.status, 200u);
  const auto handle = cookie_in(first, "fairqueue_code");
  CAF_CHECK_EQUAL(handle, w.told->asked_otp.handle);
  CAF_CHECK(w.told->asked_otp.replaces.empty());
  const auto second = cookie_in(post(wish, "fairqueue_code=" + handle), "fairqueue_code");
  CAF_CHECK_EQUAL(w.told->asked_otp.replaces, handle);
  CAF_CHECK_EQUAL(second, w.told->asked_otp.handle);
  const auto mark =
    cookie_in(post("action=enter&email=ada%40example.org&otp=123456&handle=" + second), "fairqueue_browser");
  CAF_CHECK(w.told->asked_otp.mark.is_nil());
  post(wish, "fairqueue_browser=" + mark + "; fairqueue_code=" + second);
  CAF_CHECK(!w.told->asked_otp.mark.is_nil());
}

CAF_TEST(the answer to a request for a code has the handle that the code needs) {
  world w;
  w.told->person.person = w.customer;
  const auto request = [&](const std::string& more) {
    return text_in(w.send(method::post, "/auth/customer/otp/request",
                          R"({"email":"ada@example.org")" + more + "}",
                          {{"Content-Type", "application/json"}}),
                   "handle");
  };
  const auto first = request("");
  CAF_CHECK_EQUAL(first.size(), 32u);
  CAF_CHECK_EQUAL(w.told->asked_otp.handle, first);
  CAF_CHECK(!w.told->asked_otp.client.is_nil());
  const auto second = request(R"(,"replaces":")" + first + "\"");
  CAF_CHECK_NOT_EQUAL(second, first);
  CAF_CHECK_EQUAL(w.told->asked_otp.replaces, first);
  const auto verify = [&](const std::string& more) {
    return shown(w.send(method::post, "/auth/customer/otp/verify",
                        R"({"email":"ada@example.org","otp":"123456")" + more + "}",
                        {{"Content-Type", "application/json"}}));
  };
  CAF_CHECK_EQUAL(verify(""), "400 invalid_field");
  CAF_CHECK_EQUAL(verify(R"(,"handle":")" + second + "\""), "200 ");
  CAF_CHECK_EQUAL(w.told->asked_code.handle, second);
}

CAF_TEST(a code that would be late is refused with the time to wait) {
  world w;
  w.told->ack.no = reason::unavailable;
  w.told->ack.no.first = 7;
  const auto no = w.send(method::post, "/auth/customer/otp/request", R"({"email":"ada@example.org"})",
                         {{"Content-Type", "application/json"}});
  CAF_CHECK_EQUAL(no.status, 503u);
  CAF_CHECK_EQUAL(field_of(no, "Retry-After"), "7");
}

CAF_TEST(an organizer sees the own sign-ins and ends one) {
  world w;
  organizer_session_row row;
  row.id = {7, 0x8000'0000'0000'0001};
  row.agent = "curl/8 \"x\"";
  row.expires_at = from_unix_ms(1'800'000'100'000);
  w.told->sign_ins.sessions = {row};
  const auto list = w.send(method::get, "/auth/organizer/sessions", "", w.as_organizer());
  CAF_CHECK_EQUAL(list.status, 200u);
  CAF_CHECK(list.body.find(R"("user_agent":"curl/8 \"x\"","current":false)") != std::string::npos);
  const auto path = "/auth/organizer/sessions/" + to_string(row.id);
  CAF_CHECK_EQUAL(w.send(method::del, path, "", w.as_organizer()).status, 204u);
  CAF_CHECK(w.told->asked_end_session.session == row.id);
  CAF_CHECK(w.told->asked_end_session.organizer == w.organizer);
  CAF_CHECK_EQUAL(w.send(method::get, "/auth/organizer/sessions", "", w.as_customer()).status, 403u);
}

CAF_TEST(tokens of an ended sign-in and older than a reset open nothing) {
  world w;
  const auto now = w.clock.wall_now();
  const uuid session{9, 0x8000'0000'0000'0009};
  const auto seen = [&](timestamp issued, const uuid& of) {
    const auto token = w.issuer.issue(token_kind::organizer, w.organizer, issued, seconds{3600}, of);
    return w.send(method::get, "/events?mine=true", "", {{"Authorization", "Bearer " + token}}).status;
  };
  CAF_CHECK_EQUAL(seen(now, session), 200u);
  auto content = world::make_directory();
  content.ended_sessions = {session};
  w.directory.publish(content);
  CAF_CHECK_EQUAL(seen(now, session), 401u);
  CAF_CHECK_EQUAL(seen(now, {}), 200u);
  content.organizers.at(0).tokens_not_before = now;
  w.directory.publish(content);
  CAF_CHECK_EQUAL(seen(now - seconds{1}, {}), 401u);
  CAF_CHECK_EQUAL(seen(now, {}), 200u);
}

CAF_TEST(addresses that are none are refused) {
  world w;
  for (const auto* email : {"", "x", "@", "a@", "@b", "a b@c", "a@b@c", "a@.b", "a@b.", "a@b..c",
                            "a@b\xc3\xa4", "<a@b>", "a@b\\n"})
    CAF_CHECK_EQUAL(
      shown(w.send(method::post, "/auth/customer/otp/request", std::string{R"({"email":")"} + email + "\"}",
                   {{"Content-Type", "application/json"}})),
      "400 invalid_field");
  CAF_CHECK_EQUAL(w.told->questions, 0);
}

CAF_TEST(a code gives a token of a customer and a wrong one does not ) {
  world w;
  w.told->person.person = w.customer;
  const auto verify = [&] {
    return w.send(method::post, "/auth/customer/otp/verify",
                  R"({"email":"ada@example.org","otp":"123456","handle":"h"})",
                  {{"Content-Type", "application/json"}});
  };
  CAF_CHECK_EQUAL(text_in(verify(), "customer_id"), to_string(w.customer));
  w.told->person.no = reason::invalid_otp;
  CAF_CHECK_EQUAL(shown(verify()), "401 invalid_otp");
}

CAF_TEST(the form of the tickets page counts for the address as those of other pages) {
  auto options = world_options();
  options.otp.requests_per_ip_per_minute = 2;
  world w{options};
  w.told->person.no = reason::invalid_otp;
  const auto enter = [&] {
    return w
      .send(method::post, "/my/tickets", "action=enter&email=a%40example.org&otp=123456&handle=h",
            {{"Content-Type", "application/x-www-form-urlencoded"}})
      .status;
  };
  for (int i = 0; i < 2; ++i) CAF_CHECK_EQUAL(enter(), 401u);
  CAF_CHECK_EQUAL(enter(), 429u);
}

CAF_TEST(orders of guests are limited by their buyer and by the address that they come from) {
  world s;
  s.told->order.order.order.id = make_uuid(s.clock.wall_now(), first_event_aggregate, 77);
  s.told->order.order.claim.currency = "EUR";
  s.told->customers.customers = {s.customer};
  std::uint64_t guests = 0;
  const auto buyer_of_next = [&](std::string email, std::string peer = "192.0.2.1") {
    s.send(method::post, "/checkout",
           R"({"event_id":")" + to_string(s.event_id)
             + R"(","contact":{"first_name":"Ada","last_name":"Obi","email":")" + email
             + R"("},"items":[{"ticket_type_id":")" + to_string(s.claim_id) + R"(","quantity":1}]})",
           s.as_guest(++guests), std::move(peer));
    return s.told->asked_order.wish.buyer;
  };
  s.told->order.no = reason::none_free; // nothing is placed, so nothing counts
  for (int i = 0; i < 10; ++i) CAF_CHECK(buyer_of_next("ada@example.org") == s.customer);
  s.told->order.no = reason::none;
  for (std::uint32_t i = 0; i < guest_orders_per_address; ++i) // one mailbox, however it is spelt
    CAF_CHECK(buyer_of_next("ada+" + std::to_string(i) + "@example.org") == s.customer);
  CAF_CHECK(buyer_of_next("a.da@example.org").is_nil());
  const auto to_stranger = [&](std::string peer) {
    s.told->customers.customers = {{0x1111, 0x8000'0000'0000'0000 + guests}};
    return !buyer_of_next("x@example.org", std::move(peer)).is_nil();
  };
  for (auto i = guest_orders_per_address; i < guest_orders_per_client; ++i)
    CAF_REQUIRE(to_stranger("192.0.2.1"));
  CAF_CHECK(!to_stranger("192.0.2.1"));
  CAF_CHECK(to_stranger("192.0.2.2"));
}

} // namespace sign_in_routes_test
