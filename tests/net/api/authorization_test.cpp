// SPDX-License-Identifier: Apache-2.0
// Who may call a route, limits, and requests that no handler sees.
#define CAF_SUITE routes_authorization
#include "caf/test/unit_test.hpp"

#include "net/service/limits.hpp"
#include "tests/net/api/world.hpp"

namespace authorization_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

CAF_TEST(customers routes want a customer and organizers routes an organizer) {
  world w;
  const auto garbage = text_fields{{"Authorization", "Bearer garbage"}};
  for (const auto& [verb, path] : std::vector<std::pair<method, std::string>>{
         {method::post, w.event_path("/queue")},
         {method::get, w.event_path("/queue/position")},
         {method::del, w.event_path("/queue")},
         {method::post, w.event_path("/claims")},
         {method::get, "/claims/" + to_string(w.claim_id)},
         {method::del, "/claims/" + to_string(w.claim_id)},
         {method::post, "/claims/" + to_string(w.claim_id) + "/payments"},
         {method::get, "/payments/" + to_string(w.claim_id)}}) {
    CAF_CHECK_EQUAL(shown(w.send(verb, path)), "401 unauthenticated");
    CAF_CHECK_EQUAL(shown(w.send(verb, path, "", garbage)), "401 unauthenticated");
    CAF_CHECK_EQUAL(shown(w.send(verb, path, "", w.as_organizer())), "403 forbidden");
    CAF_CHECK_EQUAL(shown(w.send(verb, path, "", w.bearer(token_kind::ticket, w.customer))), "403 forbidden");
  }
  for (const auto& [verb, path] :
       std::vector<std::pair<method, std::string>>{{method::post, "/events"},
                                                   {method::patch, w.event_path("")},
                                                   {method::get, w.event_path("/stats")},
                                                   {method::post, w.event_path("/activate")},
                                                   {method::put, w.event_path("/pause")},
                                                   {method::post, w.event_path("/cancel")}}) {
    CAF_CHECK_EQUAL(shown(w.send(verb, path)), "401 unauthenticated");
    CAF_CHECK_EQUAL(shown(w.send(verb, path, "", w.as_customer())), "403 forbidden");
  }
  CAF_CHECK_EQUAL(w.told->questions, 0);
}

CAF_TEST(a body beyond the usual limit needs a token of the rows audience) {
  world w;
  const auto may_send = [&](method verb, std::string path, text_fields fields) {
    const made_request made{verb, std::move(path), {}, std::move(fields), "192.0.2.1"};
    return w.public_part.may_send(w.ctx, made.rq, *w.paths.match(verb, made.rq.path).found);
  };
  const text_fields garbage{{"Authorization", "Bearer garbage"}};
  const auto stranger = w.bearer(token_kind::organizer, {9, 9}); // of a manager whom another node may know
  for (const auto& path : {w.event_path("/seat-plan"), w.event_path("/picture")}) {
    CAF_CHECK(may_send(method::put, path, w.as_organizer()));
    CAF_CHECK(may_send(method::put, path, stranger));
    for (const auto& fields : {text_fields{}, garbage, w.as_customer()})
      CAF_CHECK(!may_send(method::put, path, fields));
  }
  CAF_CHECK(may_send(method::post, "/checkout", w.as_customer()));
  for (const auto& fields : {text_fields{}, garbage, w.as_organizer()})
    CAF_CHECK(!may_send(method::post, "/checkout", fields));
  CAF_CHECK(may_send(method::post, "/webhooks/sandbox", {}));
  CAF_CHECK_EQUAL(w.told->questions, 0);
}

CAF_TEST(guests of one address have a limit together and customers have none) {
  auto options = world_options();
  options.rate_limits.customer_requests_per_minute = 10;
  world w{options};
  std::uint64_t guests = 0;
  const auto poll = [&](std::string peer) {
    return w.send(method::get, w.event_path("/queue/position"), "", w.as_guest(++guests), std::move(peer))
      .status;
  };
  const auto open = [&](std::string peer) {
    const auto token = w.as_guest(++guests).front().second.substr(7);
    return w.send(method::get, "/shop/orders", "", {{"Cookie", "fairqueue_customer=" + token}}, peer).status;
  };
  for (std::uint32_t i = 0; i < 10 * guests_as_customers; ++i) CAF_REQUIRE_EQUAL(poll("192.0.2.1"), 200u);
  CAF_CHECK_EQUAL(poll("192.0.2.1"), 429u);
  CAF_CHECK_EQUAL(open("192.0.2.1"), 429u);
  CAF_CHECK_EQUAL(poll("192.0.2.2"), 200u);
  CAF_CHECK(open("192.0.2.2") != 429u);
  CAF_CHECK_EQUAL(w.send(method::get, w.event_path("/queue/position"), "", w.as_customer()).status, 200u);
}

CAF_TEST(forms of the Authorization field) {
  world w;
  const auto token =
    w.issuer.issue(token_kind::customer, w.customer, from_unix_ms(w.clock.now_ms), seconds{60});
  const auto status = [&](text_fields f) {
    return w.send(method::get, w.event_path("/queue/position"), "", std::move(f)).status;
  };
  CAF_CHECK_EQUAL(status({{"authorization", "bearer " + token}}), 200u);
  CAF_CHECK_EQUAL(status({{"Authorization", token}}), 401u);
  CAF_CHECK_EQUAL(status({{"Authorization", "Basic " + token}}), 401u);
  CAF_CHECK_EQUAL(status({{"Authorization", "Bearer  " + token}}), 401u);
  CAF_CHECK_EQUAL(status({{"Authorization", "Bearer " + token}, {"Authorization", "Bearer " + token}}), 401u);
  CAF_CHECK_EQUAL(status({{"Authorization", "Bearer " + token + "x"}}), 401u);
  w.clock.now_ms += 60'000 + 61'000;
  CAF_CHECK_EQUAL(status({{"Authorization", "Bearer " + token}}), 401u);
}

CAF_TEST(ids of the wrong form or of nobody are not found) {
  world w;
  for (const auto& id : {std::string{"x"}, std::string(36, 'a'), std::string{"0"}, to_string(uuid{}),
                         to_string(make_uuid(from_unix_ms(1), accounts_aggregate, 1)),
                         to_string(make_uuid(from_unix_ms(1), aggregate_id{99}, 1))}) {
    CAF_CHECK_EQUAL(shown(w.send(method::post, "/events/" + id + "/queue", "", w.as_customer())),
                    "404 not_found");
    CAF_CHECK_EQUAL(shown(w.send(method::get, "/claims/" + id, "", w.as_customer())), "404 not_found");
    CAF_CHECK_EQUAL(shown(w.send(method::get, "/events/" + id)), "404 not_found");
  }
  CAF_CHECK_EQUAL(w.told->questions, 0);
}

CAF_TEST(unknown parameters are refused on every route that takes none) {
  world w;
  CAF_CHECK_EQUAL(shown(w.send(method::post, w.event_path("/queue?x=1"), "", w.as_customer())),
                  "400 unknown_parameter");
  CAF_CHECK_EQUAL(shown(w.send(method::get, w.event_path("?x=1"))), "400 unknown_parameter");
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/livez?x")), "400 unknown_parameter");
  CAF_CHECK_EQUAL(shown(w.send(method::post, "/auth/organizer/login?x=1", "{}")), "400 unknown_parameter");
}

CAF_TEST(unknown paths and methods) {
  world w;
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/nothing")), "404 not_found");
  const auto answer = w.send(method::put, w.event_path("/queue"));
  CAF_CHECK_EQUAL(shown(answer), "405 method_not_allowed");
  CAF_CHECK_EQUAL(field_of(answer, "Allow"), "POST, DELETE");
}

CAF_TEST(an owner that cannot serve is 503 with a time to wait) {
  world w;
  w.told->error = make_error(errc::unavailable);
  const auto answer = w.send(method::post, w.event_path("/queue"), "", w.as_customer());
  CAF_CHECK_EQUAL(shown(answer), "503 unavailable");
  CAF_CHECK_EQUAL(field_of(answer, "Retry-After"), "1");
}

CAF_TEST(an event that another node has is 503 with a code of its own) {
  world w;
  w.told->error = make_error(errc::not_owner);
  const auto answer = w.send(method::post, w.event_path("/queue"), "", w.as_customer());
  CAF_CHECK_EQUAL(shown(answer), "503 not_owner");
  CAF_CHECK_EQUAL(field_of(answer, "Retry-After"), "1");
}

CAF_TEST(the limit of a customer is its own wherever it comes from) {
  auto o = world_options();
  o.rate_limits.customer_requests_per_minute = 3;
  world w{std::move(o)};
  const auto poll = [&](const uuid& who, std::string peer) {
    return w.send(method::get, w.event_path("/queue/position"), "", w.bearer(token_kind::customer, who),
                  std::move(peer));
  };
  for (int i = 0; i < 3; ++i) CAF_CHECK_EQUAL(poll(w.customer, "192.0.2." + std::to_string(i)).status, 200u);
  const auto no = poll(w.customer, "192.0.2.9");
  CAF_CHECK_EQUAL(shown(no), "429 rate_limited");
  CAF_CHECK_EQUAL(field_of(no, "Retry-After"), "20");
  // a crowd behind one address
  for (std::uint64_t i = 0; i < 100; ++i) CAF_CHECK_EQUAL(poll({7, i + 1}, "192.0.2.1").status, 200u);
}

CAF_TEST(a client near its limit is told how much is left) {
  auto o = world_options();
  o.rate_limits.customer_requests_per_minute = 12;
  world w{std::move(o)};
  for (int left = 11; left >= 0; --left) {
    const auto answer = w.send(method::get, w.event_path("/queue/position"), "", w.as_customer());
    CAF_CHECK_EQUAL(answer.status, 200u);
    const bool near = left < 3;
    CAF_CHECK_EQUAL(field_of(answer, "RateLimit-Policy"), near ? "\"customer\";q=12;w=60" : "");
    const auto until_full = std::to_string((12 - left) * 5);
    CAF_CHECK_EQUAL(field_of(answer, "RateLimit"),
                    near ? "\"customer\";r=" + std::to_string(left) + ";t=" + until_full : "");
  }
}

CAF_TEST(new places are limited and joining again is not) {
  auto o = world_options();
  o.rate_limits.joins_per_customer_per_minute = 3;
  world w{std::move(o)};
  const auto join_as = [&](const uuid& who) {
    return w.send(method::post, w.event_path("/queue"), "", w.bearer(token_kind::customer, who));
  };
  w.told->entry.created = false;
  for (int i = 0; i < 20; ++i) CAF_CHECK_EQUAL(join_as(w.customer).status, 200u);
  w.told->entry.no = reason::queue_not_open;
  for (int i = 0; i < 20; ++i) CAF_CHECK_EQUAL(join_as(w.customer).status, 409u);
  w.told->entry.no = {};
  w.told->entry.created = w.told->entry.replayed = true; // the first answer, replayed
  for (int i = 0; i < 20; ++i) CAF_CHECK_EQUAL(join_as(w.customer).status, 201u);
  w.told->entry.replayed = false;
  for (int i = 0; i < 3; ++i) CAF_CHECK_EQUAL(join_as(w.customer).status, 201u);
  const auto no = join_as(w.customer);
  CAF_CHECK_EQUAL(shown(no), "429 rate_limited");
  CAF_CHECK_EQUAL(field_of(no, "Retry-After"), "20");
  CAF_CHECK_EQUAL(field_of(no, "RateLimit-Policy"), "\"join\";q=3;w=60");
  CAF_CHECK_EQUAL(join_as({7, 7}).status, 201u);
  w.clock.now_ms += 20'000;
  CAF_CHECK_EQUAL(join_as(w.customer).status, 201u);
}

CAF_TEST(a join without an answer may have made a place and counts) {
  auto o = world_options();
  o.rate_limits.joins_per_customer_per_minute = 1;
  world w{std::move(o)};
  w.told->error = make_error(errc::unavailable);
  CAF_CHECK_EQUAL(w.send(method::post, w.event_path("/queue"), "", w.as_customer()).status, 503u);
  CAF_CHECK_EQUAL(w.send(method::post, w.event_path("/queue"), "", w.as_customer()).status, 429u);
}

CAF_TEST(clients without a token are limited by address where options say) {
  auto o = world_options();
  o.rate_limits.anonymous_requests_per_ip_per_minute = 2;
  o.rate_limits.sandbox_requests_per_ip_per_minute = 2;
  world w{std::move(o)};
  for (const auto& path : {w.event_path(""), std::string{"/sandbox/pay/fq-unknown"}}) {
    const auto status_from = [&](const char* peer) { return w.send(method::get, path, "", {}, peer).status; };
    CAF_CHECK_NOT_EQUAL(status_from("2001:db8::1"), 429u);
    CAF_CHECK_NOT_EQUAL(status_from("2001:db8::2"), 429u);
    CAF_CHECK_EQUAL(status_from("2001:db8::3"), 429u);
    CAF_CHECK_NOT_EQUAL(status_from("2001:db8:0:1::1"), 429u);
  }
}

} // namespace authorization_test
