// SPDX-License-Identifier: Apache-2.0
// Handlers from request to answer: authorization, requests to actors, and the form of answers.
#define CAF_SUITE routes_handlers
#include "caf/test/unit_test.hpp"

#include "actors/base/measures.hpp"
#include "net/pages/demo.hpp"
#include "tests/net/api/world.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "domain/money/payments.hpp"

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

text_fields with(text_fields fields, std::string name, std::string value) {
  fields.emplace_back(std::move(name), std::move(value));
  return fields;
}

std::string new_event(std::string_view more = "") {
  return R"({"name":"Sale","sale_start":"2027-01-15T08:00:00Z","sale_end":"2027-01-16T08:00:00Z")"
         + std::string{more} + "}";
}

constexpr std::string_view short_form = R"(,"total_inventory":1000,"price":500000)";

} // namespace

// -- authorization --------------------------------------------------------------------------------------

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

// -- queue ---------------------------------------------------------------------------------------------

CAF_TEST(a join is 201 when new and 200 when known and carries a ticket) {
  world w;
  w.told->entry.entry.id = make_entry_id(from_unix_ms(1), first_event_aggregate, queue_number{5});
  w.told->entry.created = true;
  auto answer = w.send(method::post, w.event_path("/queue"), "", w.as_customer());
  CAF_CHECK_EQUAL(answer.status, 201u);
  CAF_CHECK_EQUAL(field_of(answer, "Idempotency-Replayed"), "");
  const auto ticket = w.verifier.verify(text_in(answer, "ticket_token"), w.clock.wall_now());
  CAF_CHECK(ticket && ticket.claims.kind == token_kind::ticket
            && ticket.claims.subject == w.told->entry.entry.id);
  CAF_CHECK(w.told->asked_join.event == w.event_id && w.told->asked_join.customer == w.customer);
  CAF_CHECK_EQUAL(w.told->asked_join.join_key, 0u);
  w.told->entry.created = false;
  answer = w.send(method::post, w.event_path("/queue"), "{}", w.as_customer());
  CAF_CHECK_EQUAL(answer.status, 200u);
}

CAF_TEST(a replayed join is 201 again and says so) {
  world w;
  w.told->entry.created = w.told->entry.replayed = true;
  const auto answer =
    w.send(method::post, w.event_path("/queue"), "", with(w.as_customer(), "Idempotency-Key", "k1"));
  CAF_CHECK_EQUAL(answer.status, 201u);
  CAF_CHECK_EQUAL(field_of(answer, "Idempotency-Replayed"), "true");
  CAF_CHECK(w.told->asked_join.join_key != 0);
}

CAF_TEST(a join with something in its body is refused before anybody is asked) {
  world w;
  CAF_CHECK_EQUAL(shown(w.send(method::post, w.event_path("/queue"), R"({"a":1})", w.as_customer())),
                  "400 unknown_field");
  CAF_CHECK_EQUAL(shown(w.send(method::post, w.event_path("/queue"), "x", w.as_customer())),
                  "400 invalid_json");
  CAF_CHECK_EQUAL(
    shown(w.send(method::post, w.event_path("/queue"), "", with(w.as_customer(), "Idempotency-Key", "a b"))),
    "400 invalid_idempotency_key");
  CAF_CHECK_EQUAL(w.told->questions, 0);
}

CAF_TEST(a poll has no ticket and refusals are problems) {
  world w;
  CAF_CHECK(!body_of(w.send(method::get, w.event_path("/queue/position"), "", w.as_customer()))
               .contains("ticket_token"));
  w.told->entry.no = reason::not_in_queue;
  CAF_CHECK_EQUAL(shown(w.send(method::get, w.event_path("/queue/position"), "", w.as_customer())),
                  "404 not_in_queue");
}

CAF_TEST(leaving has no content) {
  world w;
  const auto answer = w.send(method::del, w.event_path("/queue"), "", w.as_customer());
  CAF_CHECK_EQUAL(answer.status, 204u);
  CAF_CHECK(answer.body.empty() && answer.content_type.empty());
  w.told->ack.no = reason::claim_live;
  CAF_CHECK_EQUAL(shown(w.send(method::del, w.event_path("/queue"), "", w.as_customer())), "409 claim_live");
}

// -- claims and payments -------------------------------------------------------------------------------

CAF_TEST(a claim carries its token items and key to the event) {
  world w;
  w.told->claim.claim.claim.id = w.claim_id;
  const auto body = R"({"admission_token":"t","items":[{"ticket_type_id":")" + to_string(w.claim_id)
                    + R"(","quantity":3},{"ticket_type_id":")" + to_string(w.event_id) + R"("}]})";
  const auto answer =
    w.send(method::post, w.event_path("/claims"), body, with(w.as_customer(), "Idempotency-Key", "k"));
  CAF_CHECK_EQUAL(answer.status, 201u);
  CAF_CHECK_EQUAL(field_of(answer, "Location"), "/claims/" + to_string(w.claim_id));
  const auto& asked = w.told->asked_claim;
  CAF_CHECK_EQUAL(asked.admission_token, "t");
  CAF_REQUIRE_EQUAL(asked.items.size(), 2u);
  CAF_CHECK_EQUAL(asked.items[0].quantity, 3u);
  CAF_CHECK_EQUAL(asked.items[1].quantity, 1u);
  CAF_CHECK(asked.idempotency.given);
}

CAF_TEST(a replayed claim is 201 again and says so) {
  world w;
  w.told->claim.replayed = true;
  const auto answer =
    w.send(method::post, w.event_path("/claims"), R"({"admission_token":"t"})", w.as_customer());
  CAF_CHECK_EQUAL(answer.status, 201u);
  CAF_CHECK_EQUAL(field_of(answer, "Idempotency-Replayed"), "true");
}

CAF_TEST(bad claims are refused) {
  world w;
  const auto code = [&](std::string body) {
    return shown(w.send(method::post, w.event_path("/claims"), std::move(body), w.as_customer()));
  };
  CAF_CHECK_EQUAL(code(""), "400 missing_body");
  CAF_CHECK_EQUAL(code("{}"), "400 invalid_field");
  CAF_CHECK_EQUAL(code(R"({"admission_token":""})"), "400 invalid_field");
  CAF_CHECK_EQUAL(code(R"({"admission_token":"t","items":[]})"), "400 invalid_field");
  CAF_CHECK_EQUAL(code(R"({"admission_token":"t","items":[{"quantity":1}]})"), "400 invalid_field");
  CAF_CHECK_EQUAL(code(R"({"admission_token":"t","price":1})"), "400 unknown_field");
  CAF_CHECK_EQUAL(w.told->questions, 0);
  w.told->claim.no = reason::none_free;
  CAF_CHECK_EQUAL(code(R"({"admission_token":"t"})"), "409 none_free");
  w.told->claim.no = reason::event_sold_out;
  CAF_CHECK_EQUAL(code(R"({"admission_token":"t"})"), "410 event_sold_out");
}

CAF_TEST(a payment begins with or without a body and an open one is 200) {
  world w;
  const auto path = "/claims/" + to_string(w.claim_id) + "/payments";
  w.told->payment.created = true;
  w.told->payment.payment.payment.id = w.event_id;
  const auto answer = w.send(method::post, path, "", w.as_customer());
  CAF_CHECK_EQUAL(answer.status, 201u);
  CAF_CHECK_EQUAL(field_of(answer, "Location"), "/payments/" + to_string(w.event_id));
  CAF_CHECK_EQUAL(w.told->asked_payment.gateway, "sandbox");
  w.told->payment.created = false;
  CAF_CHECK_EQUAL(w.send(method::post, path, R"({"gateway":"sandbox"})", w.as_customer()).status, 200u);
  CAF_CHECK_EQUAL(shown(w.send(method::post, path, R"({"gateway":"paypal"})", w.as_customer())),
                  "400 invalid_field");
}

CAF_TEST(without the sandbox there is no page no webhook and no gateway) {
  world w{world_options(), false};
  w.told->payment.no = reason::no_gateway;
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/sandbox/pay/fq-1")), "404 not_found");
  CAF_CHECK_EQUAL(shown(w.send(method::post, "/webhooks/sandbox", "{}")), "404 not_found");
  CAF_CHECK_EQUAL(
    shown(w.send(method::post, "/claims/" + to_string(w.claim_id) + "/payments", "", w.as_customer())),
    "409 no_gateway");
}

// -- events --------------------------------------------------------------------------------------------

CAF_TEST(a new event in its short form) {
  world w;
  w.told->event.event.event.id = w.event_id;
  const auto answer = w.send(method::post, "/events", new_event(short_form), w.as_organizer());
  CAF_CHECK_EQUAL(answer.status, 201u);
  CAF_CHECK_EQUAL(field_of(answer, "Location"), "/events/" + to_string(w.event_id));
  const auto& asked = w.told->asked_create;
  CAF_CHECK(asked.by.kind == principal_kind::organizer && asked.by.id == w.organizer);
  CAF_CHECK(asked.note.detail == new_event(short_form));
  CAF_CHECK_EQUAL(asked.event.currency, "NGN");
  CAF_CHECK(asked.event.queue_opens_at == asked.event.sale_start);
  CAF_CHECK_EQUAL(asked.event.queue.batch_size, 50u);
  CAF_CHECK(asked.event.claim_ttl == milliseconds{600'000});
  CAF_REQUIRE_EQUAL(asked.ticket_types.size(), 1u);
  CAF_CHECK_EQUAL(asked.ticket_types[0].name, "Standard");
  CAF_CHECK_EQUAL(asked.ticket_types[0].total, 1000);
  CAF_CHECK_EQUAL(asked.ticket_types[0].price, 500'000);
}

CAF_TEST(a new event with everything) {
  world w;
  w.send(
    method::post, "/events",
    new_event(
      R"(,"currency":"EUR","queue_opens_at":"2027-01-15T07:00:00Z","claim_ttl_seconds":60,)"
      R"("claims_per_customer":2,)"
      R"("ticket_types":[{"name":"A","price":0,"total":5,"max_per_order":4,"on_sale":false},{"name":"B",)"
      R"("price":1,"total":6}],)"
      R"("queue":{"policy":"operator","concurrency":null,"rate_per_minute":9,"batch_size":7,)"
      R"("admission_interval_ms":250,)"
      R"("over_admission_factor":1.1,"session_ttl_seconds":100,"claim_window_seconds":5})"),
    w.as_organizer());
  const auto& asked = w.told->asked_create;
  CAF_CHECK_EQUAL(asked.event.currency, "EUR");
  CAF_CHECK(asked.event.queue_opens_at == asked.event.sale_start - std::chrono::hours{1});
  CAF_CHECK(asked.event.queue.policy == admission_policy::operated);
  CAF_CHECK_EQUAL(asked.event.queue.over_admission_percent, 110u);
  CAF_CHECK(asked.event.queue.admission_interval == milliseconds{250});
  CAF_CHECK(asked.event.queue.session_ttl == seconds{100});
  CAF_CHECK(asked.event.queue.claim_window == seconds{5});
  CAF_CHECK(asked.event.claim_ttl == seconds{60});
  CAF_CHECK_EQUAL(asked.event.claims_per_customer, 2u);
  CAF_REQUIRE_EQUAL(asked.ticket_types.size(), 2u);
  CAF_CHECK(!asked.ticket_types[0].on_sale && asked.ticket_types[1].on_sale);
  CAF_CHECK_EQUAL(asked.ticket_types[0].max_per_order, 4u);
}

CAF_TEST(bad events are refused) {
  world w;
  const auto code = [&](std::string body) {
    return shown(w.send(method::post, "/events", std::move(body), w.as_organizer()));
  };
  CAF_CHECK_EQUAL(code("{}"), "400 invalid_field");
  CAF_CHECK_EQUAL(code(new_event()), "400 invalid_field");
  CAF_CHECK_EQUAL(code(new_event(R"(,"total_inventory":10)")), "400 invalid_field");
  CAF_CHECK_EQUAL(code(new_event(R"(,"total_inventory":10,"price":10.5)")), "400 invalid_field");
  CAF_CHECK_EQUAL(
    code(new_event(R"(,"total_inventory":10,"price":1,"ticket_types":[{"name":"A","price":0,"total":5}])")),
    "400 invalid_field");
  CAF_CHECK_EQUAL(code(new_event(R"(,"ticket_types":[{"name":"A","price":0}])")), "400 invalid_field");
  CAF_CHECK_EQUAL(code(new_event(std::string{short_form} + R"(,"currency":"ngn")")), "400 invalid_field");
  CAF_CHECK_EQUAL(code(new_event(std::string{short_form} + R"(,"status":"ACTIVE")")), "400 unknown_field");
  CAF_CHECK_EQUAL(code(new_event(std::string{short_form} + R"(,"queue":{"policy":"lottery"})")),
                  "400 invalid_field");
  CAF_CHECK_EQUAL(w.told->questions, 0);
}

CAF_TEST(a patch asks for what it names and nothing else) {
  world w;
  const auto answer =
    w.send(method::patch, w.event_path(""),
           R"({"name":"New","queue":{"concurrency":null,"policy":"rate"},"ticket_types":[{"id":")"
             + to_string(w.claim_id) + R"(","total":7},{"name":"C","price":1,"total":2}]})",
           w.as_organizer());
  CAF_CHECK_EQUAL(answer.status, 200u);
  const auto& p = w.told->asked_patch.patch;
  using queue = queue_settings;
  CAF_CHECK(p.find(&event_row::name) && p.find(&queue::concurrency) && p.find(&queue::policy));
  CAF_CHECK_EQUAL(*p.find(&queue::concurrency), 0u);
  CAF_CHECK(!p.find(&queue::batch_size) && !p.find(&event_row::sale_start) && !p.find(&event_row::claim_ttl));
  CAF_REQUIRE_EQUAL(p.ticket_types.size(), 2u);
  CAF_CHECK(p.ticket_types[0].values.id == w.claim_id && p.ticket_types[0].find(&ticket_type_row::total)
            && !p.ticket_types[0].find(&ticket_type_row::name));
  CAF_CHECK(p.ticket_types[1].values.id.is_nil());
  CAF_CHECK_EQUAL(shown(w.send(method::patch, w.event_path(""), R"({"currency":"EUR"})", w.as_organizer())),
                  "400 unknown_field");
  CAF_CHECK_EQUAL(
    shown(w.send(method::patch, w.event_path(""), R"({"ticket_types":[{"name":"C"}]})", w.as_organizer())),
    "400 invalid_field");
}

CAF_TEST(turns by POST and PUT) {
  world w;
  const std::vector<std::pair<std::string, event_trigger>> turns{{"/activate", event_trigger::activate},
                                                                 {"/pause", event_trigger::pause},
                                                                 {"/resume", event_trigger::resume},
                                                                 {"/end", event_trigger::end},
                                                                 {"/cancel", event_trigger::cancel}};
  for (const auto& [path, trigger] : turns)
    for (const auto verb : {method::post, method::put}) {
      CAF_CHECK_EQUAL(w.send(verb, w.event_path(path), "", w.as_organizer()).status, 200u);
      CAF_CHECK(w.told->asked_turn.trigger == trigger && w.told->asked_turn.what.by.id == w.organizer);
    }
  w.told->event.no = {reason::invalid_transition, "ENDED"};
  const auto no = w.send(method::post, w.event_path("/pause"), "", w.as_organizer());
  CAF_CHECK_EQUAL(shown(no), "409 invalid_transition");
  CAF_CHECK_EQUAL(text_in(no, "current_status"), "ENDED");
}

CAF_TEST(an event is read by the public as nobody and by its organizer as such) {
  world w;
  w.send(method::get, w.event_path(""));
  CAF_CHECK(w.told->asked_event.what.by.kind == principal_kind::nobody);
  w.send(method::get, w.event_path(""), "", w.as_customer());
  CAF_CHECK(w.told->asked_event.what.by.kind == principal_kind::nobody);
  w.send(method::get, w.event_path(""), "", w.as_organizer());
  CAF_CHECK(w.told->asked_event.what.by.id == w.organizer);
  CAF_CHECK_EQUAL(shown(w.send(method::get, w.event_path(""), "", {{"Authorization", "Bearer x"}})),
                  "401 unauthenticated");
}

CAF_TEST(lists are paged by cursors of their own) {
  world w;
  event_view v;
  v.event.aggregate = aggregate_id{77};
  w.told->list.events = {v};
  w.told->list.more = true;
  const auto first = body_of(w.send(method::get, "/events?limit=1"));
  const std::string cursor{first.at("next_cursor").get_string()};
  CAF_CHECK_EQUAL(w.told->asked_list.limit, 1u);
  w.told->list.more = false;
  const auto next = body_of(w.send(method::get, "/events?limit=900&cursor=" + cursor));
  CAF_CHECK(next.at("next_cursor").is_null());
  CAF_CHECK(w.told->asked_list.after == aggregate_id{77});
  CAF_CHECK_EQUAL(w.told->asked_list.limit, 200u);
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/events?mine=true&cursor=" + cursor, "", w.as_organizer())),
                  "400 invalid_cursor");
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/events?cursor=AAAA")), "400 invalid_cursor");
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/events?limit=0")), "400 invalid_parameter");
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/events?mine=yes")), "400 invalid_parameter");
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/events?mine=true")), "401 unauthenticated");
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/events?mine=true", "", w.as_customer())), "403 forbidden");
  w.send(method::get, "/events?mine=true", "", w.as_organizer());
  CAF_CHECK(w.told->asked_list.by.id == w.organizer);
}

// -- logins --------------------------------------------------------------------------------------------

CAF_TEST(a login gives a token of an organizer) {
  world w;
  w.told->person.person = w.organizer;
  const auto answer =
    w.send(method::post, "/auth/organizer/login", R"({"email":"Ada@Example.ORG","password":"p"})",
           {{"Content-Type", "application/json"}});
  CAF_CHECK_EQUAL(answer.status, 200u);
  CAF_CHECK_EQUAL(w.told->asked_login.email, "ada@example.org");
  const auto body = body_of(answer);
  const auto token = w.verifier.verify(std::string{body.at("token").get_string()}, w.clock.wall_now());
  CAF_CHECK(token && token.claims.kind == token_kind::organizer && token.claims.subject == w.organizer);
  CAF_CHECK_EQUAL(body.at("expires_at").get_string(), "2027-01-15T09:00:00.000Z");
  CAF_CHECK_EQUAL(body.at("organizer_id").get_string(), to_string(w.organizer));
}

CAF_TEST(failed logins are limited by address and good ones are not ) {
  world w;
  const auto login = [&](std::string peer) {
    return shown(w.send(method::post, "/auth/organizer/login", R"({"email":"a@b","password":"p"})",
                        {{"Content-Type", "application/json"}}, std::move(peer)));
  };
  for (int i = 0; i < 100; ++i) CAF_REQUIRE_EQUAL(login("192.0.2.1"), "200 ");
  w.told->person.no = reason::invalid_credentials;
  for (int i = 0; i < 20; ++i) CAF_CHECK_EQUAL(login("192.0.2.1"), "401 invalid_credentials");
  CAF_CHECK_EQUAL(login("192.0.2.1"), "429 rate_limited");
  CAF_CHECK_EQUAL(login("192.0.2.2"), "401 invalid_credentials");
}

CAF_TEST(codes are limited by address of mail) {
  world w;
  const auto ask = [&](std::string email, std::string peer) {
    return w.send(method::post, "/auth/customer/otp/request", R"({"email":")" + email + "\"}",
                  {{"Content-Type", "application/json"}}, std::move(peer));
  };
  for (int i = 0; i < 5; ++i)
    CAF_CHECK_EQUAL(ask("ada@example.org", "192.0.2." + std::to_string(i)).status, 202u);
  const auto no = ask("ADA@example.org", "192.0.2.77");
  CAF_CHECK_EQUAL(shown(no), "429 rate_limited");
  CAF_CHECK_EQUAL(ask("bob@example.org", "192.0.2.77").status, 202u);
  w.clock.now_ms += 1000 * std::stol(field_of(no, "Retry-After"));
  CAF_CHECK_EQUAL(ask("ada@example.org", "192.0.2.77").status, 202u);
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
    return w.send(method::post, "/auth/customer/otp/verify", R"({"email":"ada@example.org","otp":"123456"})",
                  {{"Content-Type", "application/json"}});
  };
  CAF_CHECK_EQUAL(text_in(verify(), "customer_id"), to_string(w.customer));
  w.told->person.no = reason::invalid_otp;
  CAF_CHECK_EQUAL(shown(verify()), "401 invalid_otp");
}

// -- sandbox -------------------------------------------------------------------------------------------

CAF_TEST(the hosted page pays once and says so ever after) {
  world w;
  const auto reference = make_reference(w.claim_id);
  gateway_charge charge;
  charge.reference = reference;
  charge.money = {500'000, "NGN"};
  charge.success_url = "https://shop.example/?a=1&b=\"<x>";
  w.sandbox.initialize(charge, [](const initialize_result&) {});
  const auto path = "/sandbox/pay/" + reference;
  const auto open = w.send(method::get, path);
  CAF_CHECK_EQUAL(open.status, 200u);
  CAF_CHECK(open.body.find("5000.00 NGN") != std::string::npos);
  CAF_CHECK(open.body.find("<button") != std::string::npos);
  const text_fields form{{"Content-Type", "application/x-www-form-urlencoded"}};
  const auto paid = w.send(method::post, path, "action=pay", form);
  CAF_CHECK_EQUAL(paid.status, 303u);
  CAF_CHECK_EQUAL(field_of(paid, "Location"), path);
  const text_fields as_json{{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  const auto again = w.send(method::post, path, R"({"action":"pay"})", as_json);
  CAF_CHECK_EQUAL(again.body, R"({"reference":")" + reference + R"(","status":"paid"})");
  CAF_CHECK_EQUAL(shown(w.send(method::post, path, R"({"action":"decline"})", as_json)),
                  "409 sandbox_settled");
  const auto done = w.send(method::get, path);
  CAF_CHECK(done.body.find("<button") == std::string::npos);
  CAF_CHECK(done.body.find("https://shop.example/?a=1&amp;b=&quot;&lt;x&gt;") != std::string::npos);
}

CAF_TEST(the hosted page refuses what it does not know) {
  world w;
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/sandbox/pay/fq-unknown")), "404 not_found");
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/sandbox/pay/a%2e")), "404 not_found");
  const text_fields form{{"Content-Type", "application/x-www-form-urlencoded"}};
  CAF_CHECK_EQUAL(shown(w.send(method::post, "/sandbox/pay/fq-unknown", "action=pay", form)),
                  "404 not_found");
  CAF_CHECK_EQUAL(shown(w.send(method::post, "/sandbox/pay/fq-unknown", "action=steal", form)),
                  "400 invalid_field");
  CAF_CHECK_EQUAL(
    shown(w.send(method::post, "/sandbox/pay/fq-unknown", "x", {{"Content-Type", "text/plain"}})),
    "415 unsupported_media_type");
}

CAF_TEST(a webhook is believed by its signature alone and applied before it is answered) {
  world w;
  const auto reference = make_reference(w.claim_id);
  const auto body = R"({"id":"evt_1","event":"charge.success","data":{"reference":")" + reference
                    + R"(","amount":500000,"currency":"NGN","status":"success"}})";
  const auto hook = [&](const std::string& text, std::string signature) {
    return w.send(
      method::post, "/webhooks/sandbox", text,
      {{"Content-Type", "application/json"}, {"X-FairQueue-Sandbox-Signature", std::move(signature)}});
  };
  const auto good = w.sandbox.sign(body);
  for (const auto& bad : {std::string{}, std::string{"00"}, good.substr(1), good + "0", std::string(64, '0'),
                          std::string(64, 'z')})
    CAF_CHECK_EQUAL(shown(hook(body, bad)), "401 invalid_signature");
  CAF_CHECK_EQUAL(shown(hook(body + " ", good)), "401 invalid_signature");
  CAF_CHECK_EQUAL(w.told->questions, 0);
  CAF_CHECK_EQUAL(hook(body, good).status, 200u);
  CAF_CHECK(w.told->asked_fact.fact.what == verdict::paid);
  CAF_CHECK_EQUAL(w.told->asked_fact.fact.reference, reference);
  CAF_CHECK_EQUAL(w.told->asked_fact.fact.amount, 500'000);
  CAF_CHECK_EQUAL(w.told->asked_fact.fact.gateway_event, "evt_1");
  w.told->ack.no = reason::not_found;
  CAF_CHECK_EQUAL(hook(body, good).status, 200u);
  w.told->ack.no = {};
  w.told->error = make_error(errc::unavailable);
  CAF_CHECK_EQUAL(shown(hook(body, good)), "503 unavailable");
}

CAF_TEST(a genuine webhook about nothing of ours is taken) {
  world w;
  for (const auto& reference :
       {std::string{"other-1"}, std::string{"fq-nonsense"}, make_reference(uuid{1, 1}),
        make_reference(make_uuid(from_unix_ms(1), aggregate_id{99}, 1))}) {
    const auto body = R"({"id":"evt_1","event":"charge.success","data":{"reference":")" + reference
                      + R"(","amount":1,"currency":"NGN","status":"success"}})";
    const auto answer = w.send(method::post, "/webhooks/sandbox", body,
                               {{"X-FairQueue-Sandbox-Signature", w.sandbox.sign(body)}});
    CAF_CHECK_EQUAL(answer.status, 200u);
    CAF_CHECK_EQUAL(answer.body, "{}");
  }
}

// -- sockets and operations ----------------------------------------------------------------------------

CAF_TEST(a socket is decided before its upgrade) {
  world w;
  const auto token =
    w.issuer.issue(token_kind::customer, w.customer, from_unix_ms(w.clock.now_ms), seconds{60});
  const auto path = "/ws/queue/" + to_string(w.event_id);
  w.told->entry.entry.number = queue_number{9};
  w.told->entry.entry.event = w.event_id;
  auto answer = w.send(method::get, path, "", {{"Sec-WebSocket-Protocol", "fairqueue.v1, " + token}});
  CAF_REQUIRE(answer.upgrade);
  CAF_CHECK(answer.upgrade->holder == w.customer && !answer.upgrade->by_ticket
            && answer.upgrade->event == w.event_id);
  CAF_CHECK(answer.upgrade->number == queue_number{9});
  CAF_CHECK_EQUAL(answer.upgrade->protocol, "fairqueue.v1");
  answer = w.send(method::get, path + "?token=" + token);
  CAF_REQUIRE(answer.upgrade);
  CAF_CHECK_EQUAL(answer.upgrade->protocol, "");
  CAF_CHECK(w.send(method::get, path, "",
                   {{"Origin", "https://shop.example"}, {"Sec-WebSocket-Protocol", "fairqueue.v1," + token}})
              .upgrade);
  for (const auto* origin : {"https://evil.example", "null", ""})
    CAF_CHECK_EQUAL(shown(w.send(method::get, path + "?token=" + token, "", {{"Origin", origin}})),
                    "403 origin_not_allowed");
  CAF_CHECK_EQUAL(shown(w.send(method::get, path)), "401 unauthenticated");
  CAF_CHECK_EQUAL(shown(w.send(method::get, path, "", {{"Sec-WebSocket-Protocol", "fairqueue.v1"}})),
                  "401 unauthenticated");
  CAF_CHECK_EQUAL(shown(w.send(method::get, path + "?token=x")), "401 unauthenticated");
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/ws/queue/x?token=" + token)), "404 not_found");
  w.told->entry.no = reason::not_in_queue;
  CAF_CHECK_EQUAL(shown(w.send(method::get, path + "?token=" + token)), "404 not_in_queue");
}

CAF_TEST(a socket is authorized as long as its token and none opens in the leeway after it) {
  world w;
  const auto path =
    "/ws/queue/" + to_string(w.event_id)
    + "?token=" + w.issuer.issue(token_kind::customer, w.customer, from_unix_ms(w.clock.now_ms), seconds{60});
  const auto end = from_unix_ms(w.clock.now_ms + 60'000);
  const auto answer = w.send(method::get, path);
  CAF_REQUIRE(answer.upgrade);
  CAF_CHECK(answer.upgrade->authorized_until == end);
  w.clock.now_ms += 60'000;
  CAF_CHECK_EQUAL(shown(w.send(method::get, path)), "401 unauthenticated");
}

CAF_TEST(health tells the truth) {
  world w;
  CAF_CHECK_EQUAL(w.send(method::get, "/livez").body, R"({"status":"ok"})");
  CAF_CHECK_EQUAL(w.send(method::get, "/readyz").status, 503u);
  w.state.ready = true;
  CAF_CHECK_EQUAL(w.send(method::get, "/health").body, R"({"status":"ready"})");
  w.state.draining = true;
  const auto answer = w.send(method::get, "/readyz");
  CAF_CHECK_EQUAL(answer.status, 503u);
  CAF_CHECK_EQUAL(text_in(answer, "status"), "draining");
}

CAF_TEST(the metric of readiness is what readyz says whatever keeps us from it) {
  world w;
  std::atomic<bool> ledger{true};
  cluster_links links;
  w.state.ledger_is_reachable = &ledger;
  w.state.links = &links;
  const auto agree = [&](bool wanted) {
    CAF_CHECK_EQUAL(w.send(method::get, "/readyz").status, wanted ? 200u : 503u);
    const auto& page = w.shared.counts.text(w.state);
    CAF_CHECK(page.find(wanted ? "\nfairqueue_ready 1\n" : "\nfairqueue_ready 0\n") != std::string::npos);
  };
  agree(false);
  w.state.ready = true;
  agree(false); // another version serves
  links.serves = true;
  agree(true);
  ledger = false;
  agree(false);
  ledger = true;
  agree(true);
  w.state.draining = true;
  agree(false);
}

CAF_TEST(descriptions are served) {
  world w;
  CAF_CHECK_EQUAL(text_in(w.send(method::get, "/openapi.json"), "openapi"), "3.1.0");
  const auto page = w.send(method::get, "/docs");
  const auto docs = page.static_body;
  CAF_CHECK(docs.starts_with("<!doctype html>"));
  CAF_CHECK(docs.find("<h1>FairQueue API</h1>") != std::string::npos); // readable without scripts
  const auto at = docs.find("assets/swagger-ui.");
  const std::string name{docs.substr(at, docs.find('"', at) - at)};
  const auto plain = w.send(method::get, "/" + name);
  CAF_CHECK_EQUAL(plain.status, 200u);
  CAF_CHECK_EQUAL(plain.content_type, "text/css; charset=utf-8");
  CAF_CHECK(field_of(plain, "Cache-Control").find("immutable") != std::string::npos);
  CAF_CHECK_EQUAL(field_of(plain, "Content-Encoding"), "");
  const auto packed = w.send(method::get, "/" + name, "", {{"Accept-Encoding", "gzip"}});
  CAF_CHECK_EQUAL(field_of(packed, "Content-Encoding"), "gzip");
  CAF_CHECK(packed.static_body.size() < plain.static_body.size() / 4);
  CAF_CHECK_EQUAL(w.send(method::get, "/assets/swagger-ui.css").status, 404u);
}

CAF_TEST(the console is an empty page whose policy lets only our files draw it) {
  world w;
  const auto page = w.send(method::get, "/console");
  CAF_CHECK_EQUAL(page.status, 200u);
  const auto policy = field_of(page, "Content-Security-Policy");
  for (const auto* part : {"default-src 'none'", "script-src 'self'", "style-src 'self'",
                           "require-trusted-types-for 'script'", "frame-ancestors 'none'"})
    CAF_CHECK(policy.find(part) != std::string::npos);
  CAF_CHECK(policy.find("unsafe") == std::string::npos && policy.find("sha256") == std::string::npos);
  CAF_CHECK(page.body.find("<style") == std::string::npos && page.body.find("<script>") == std::string::npos);
  for (const auto* kind : {"assets/console.", ".mjs\"></script>"})
    CAF_CHECK(page.body.find(kind) != std::string::npos);
  for (const auto* part :
       {"&quot;JPY&quot;:0,", "&quot;KWD&quot;:3,"}) // from the table of domain/money/money_text
    CAF_CHECK(page.body.find(part) != std::string::npos);
  CAF_CHECK(page.body.find("HUF") == std::string::npos);
  CAF_CHECK_EQUAL(w.send(method::get, "/console?a=b").status, 400u);
}

CAF_TEST(the demos mailbox is shown at this machine only) {
  world w;
  const auto mail = w.folder / "mail";
  std::filesystem::create_directory(mail);
  const text_fields here{{"Host", "127.0.0.1:8080"}};
  const auto status = [&](text_fields fields, std::string peer = "127.0.0.1") {
    return w.send(method::get, "/demo/mail", "", std::move(fields), std::move(peer)).status;
  };
  w.state.ready = true;
  CAF_CHECK_EQUAL(status(here), 404u); // no demo
  CAF_CHECK(w.send(method::get, "/console", "", here, "127.0.0.1").body.find("data-demo")
            == std::string::npos);
  const demo_facts demo{mail, "demo@<b>.local", "s3cret&"};
  w.shared.demo = &demo;
  w.state.ready = false;
  CAF_CHECK_EQUAL(status(here), 404u);
  w.state.ready = true;
  CAF_CHECK_EQUAL(status(here), 200u);
  for (const auto* host : {"localhost", "LOCALHOST:8080", "[::1]:8080", "127.0.0.1"})
    CAF_CHECK_EQUAL(status({{"Host", host}}, "::1"), 200u);
  for (const auto* host : {"evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "[::1",
                           "", "192.0.2.7:8080", "[::2]:80"})
    CAF_CHECK_EQUAL(status({{"Host", host}}), 404u);
  CAF_CHECK_EQUAL(status({}), 404u);
  CAF_CHECK_EQUAL(status(here, "192.0.2.1"), 404u);
  CAF_CHECK_EQUAL(status(here, "2001:db8::1"), 404u);
  CAF_CHECK_EQUAL(status(with(here, "Origin", "https://shop.example")),
                  404u); // allowed for calls of the API only
  CAF_CHECK_EQUAL(status(with(here, "Origin", "null")), 404u);
  for (const auto* mark : {"X-Forwarded-For", "forwarded", "Via", "X-Real-IP"})
    CAF_CHECK_EQUAL(status(with(here, mark, "127.0.0.1")), 404u);
  CAF_CHECK_EQUAL(status(with(here, "Origin", "http://127.0.0.1:8080")), 200u);
  CAF_CHECK(
    w.send(method::get, "/console", "", here, "127.0.0.1").body.find("data-demo=\"demo/mail#organizer\"")
    != std::string::npos);
  CAF_CHECK(w.send(method::get, "/console", "", here, "192.0.2.1").body.find("data-demo")
            == std::string::npos);

  std::ofstream{mail / "1.eml"}
    << "To: x@y.example\nSubject: <script>alert(1)</script>\n\n</pre><img src=x onerror=alert(1)> & 123456\n";
  const auto page = w.send(method::get, "/demo/mail", "", here, "127.0.0.1");
  CAF_CHECK(page.body.find("&lt;/pre&gt;&lt;img src=x onerror=alert(1)&gt; &amp; 123456")
            != std::string::npos);
  CAF_CHECK(page.body.find("<img") == std::string::npos && page.body.find("<script>") == std::string::npos);
  CAF_CHECK(page.body.find("demo@&lt;b&gt;.local") != std::string::npos
            && page.body.find("s3cret&amp;") != std::string::npos);
  const auto policy = field_of(page, "Content-Security-Policy");
  CAF_CHECK(policy.starts_with("default-src 'none'") && policy.find("unsafe") == std::string::npos);
}

CAF_TEST(tasks are shown to the installations own people) {
  world w;
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/tasks", "", w.as_organizer())),
                  "503 unavailable"); // counts are not available here
  measures m;
  auto& gateway = m.gateways["sandbox"];
  gateway.workers.set(32);
  gateway.under_way.set(2);
  gateway.waiting.set(3);
  gateway.pausing.set(1);
  gateway.attempts[0][call_outcome::answered].add(10);
  gateway.attempts[3][call_outcome::refused].add(1);
  gateway.attempts[3][call_outcome::unavailable].add(4);
  gateway.retries.add(4);
  // in the bucket from 0.025 to 0.05
  for (int i = 0; i < 10; ++i) gateway.durations.observe(std::chrono::milliseconds{30});
  m.outbox(lane::mail).rows.set(7);
  m.mails.rejected.add(1);
  m.dead_letters.add(2);
  w.state.numbers = &m;
  const auto answer = w.send(method::get, "/tasks", "", w.as_organizer());
  CAF_CHECK_EQUAL(answer.status, 200u);
  const auto told = body_of(answer);
  const auto& calls = told.at("tasks").at(0);
  CAF_CHECK(calls.at("name").as_string() == "sandbox calls");
  CAF_CHECK_EQUAL(calls.at("in_flight").to_number<int>(), 2);
  CAF_CHECK_EQUAL(calls.at("waiting").to_number<int>(), 4);
  CAF_CHECK_EQUAL(calls.at("succeeded").to_number<int>(), 10);
  CAF_CHECK_EQUAL(calls.at("failed").to_number<int>(), 1);
  CAF_CHECK_EQUAL(calls.at("retries").to_number<int>(), 4);
  CAF_CHECK(std::abs(calls.at("p50_seconds").to_number<double>() - 0.0375) < 1e-9);
  CAF_CHECK(calls.at("p95_seconds").to_number<double>() < 0.05);
  CAF_CHECK(told.at("gateways").at(0).at("health").as_string() == "healthy");
  CAF_CHECK_EQUAL(told.at("gateways").at(0).at("calls").at(3).at("unavailable").to_number<int>(), 4);
  CAF_CHECK_EQUAL(told.at("dead_letters").to_number<int>(), 2);
  CAF_CHECK(told.at("checkout").at("oldest_seconds").is_null());
  gateway.workers.set(0);
  CAF_CHECK(
    body_of(w.send(method::get, "/tasks", "", w.as_organizer())).at("workers").at(0).at("state").as_string()
    == "away");
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/tasks", "", w.as_operator())),
                  "403 forbidden"); // of another tenant
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/tasks", "", w.as_customer())), "403 forbidden");
}

CAF_TEST(answers to allowed origins carry the fields and requests are counted) {
  world w;
  const auto answer = w.send(method::get, "/livez", "", {{"Origin", "https://shop.example"}});
  CAF_CHECK_EQUAL(field_of(answer, "Access-Control-Allow-Origin"), "https://shop.example");
  CAF_CHECK_EQUAL(w.send(method::options, "/events", "",
                         {{"Origin", "https://shop.example"}, {"Access-Control-Request-Method", "POST"}})
                    .status,
                  204u);
  CAF_CHECK(w.shared.counts.text(w.state).find("{route=\"/livez\",method=\"GET\",status=\"2xx\"} 1\n")
            != std::string::npos);
}

CAF_TEST(a thousand requests without a token from one address are too many) {
  world w;
  unsigned status = 0;
  int sent = 0;
  for (; sent < 2000 && status != 429; ++sent) status = w.send(method::get, "/events").status;
  CAF_CHECK_EQUAL(sent, 1201);
  CAF_CHECK_EQUAL(w.send(method::get, "/events", "", {}, "192.0.2.2").status, 200u);
}

CAF_TEST(an organizer that another node has just added is looked up before it is turned away) {
  world w;
  const uuid added{0x2222, 0x8000'0000'0000'0009}, nobody{0x2222, 0x8000'0000'0000'000a};
  auto readings = std::make_shared<std::atomic<int>>(0);
  w.ctx.directory =
    w.system.spawn([&w, readings, added](directory_handle::pointer) -> directory_handle::behavior_type {
      return {[&w, readings, added](const refresh_directory&) {
                ++*readings;
                auto content = world::make_directory();
                content.organizers.push_back({added, default_tenant});
                w.directory.publish(content);
                return ack_reply{};
              },
              [](const directory_read&) {}, [](const blocks_read&) {}, [](const timer_fired&) {}};
    });
  for (const auto* path : {"/events?mine=true", "/audit"})
    CAF_CHECK_EQUAL(w.send(method::get, path, "", w.bearer(token_kind::organizer, added)).status, 200u);
  CAF_CHECK_EQUAL(readings->load(), 1);
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/audit", "", w.bearer(token_kind::organizer, nobody))),
                  "401 unauthenticated");
  CAF_CHECK_EQUAL(readings->load(), 2);
  const auto directory = caf::actor_cast<caf::actor>(w.ctx.directory);
  w.ctx.directory = nullptr;
  caf::anon_send_exit(directory, caf::exit_reason::user_shutdown);
}
