// SPDX-License-Identifier: Apache-2.0
// Handlers from request to answer: requests to actors, and the form of answers.
#define CAF_SUITE routes_handlers
#include "caf/test/unit_test.hpp"

#include "domain/money/payments.hpp"
#include "net/service/limits.hpp"
#include "tests/net/api/world.hpp"

namespace handlers_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

std::string new_event(std::string_view more = "") {
  return R"({"name":"Sale","sale_start":"2027-01-15T08:00:00Z","sale_end":"2027-01-16T08:00:00Z")"
         + std::string{more} + "}";
}

constexpr std::string_view short_form = R"(,"total_inventory":1000,"price":500000)";

} // namespace

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

CAF_TEST(a claim names seats or asks for the best ones) {
  world w;
  const auto type = to_string(w.event_id);
  const auto send = [&](const std::string& members) {
    return w.send(method::post, w.event_path("/claims"), "{\"admission_token\":\"t\"," + members + "}",
                  w.as_customer());
  };
  w.told->claim.claim.seats = {"A-3", "A-4"};
  const auto answer =
    send(R"("accessible":2,"items":[{"ticket_type_id":")" + type + R"(","seats":["A-3","A-4"]}])");
  CAF_CHECK_EQUAL(answer.status, 201u);
  CAF_CHECK(answer.body.find(R"("seats":["A-3","A-4"])") != std::string::npos);
  const auto& named = w.told->asked_claim;
  CAF_REQUIRE_EQUAL(named.items.size(), 1u);
  CAF_CHECK(named.items[0].quantity == 2 && named.items[0].seats == w.told->claim.claim.seats);
  CAF_CHECK(named.seats.asks_accessible == 2 && named.seats.best.count == 0);
  CAF_CHECK_EQUAL(send(R"("best":4,"section":"P","ticket_type_id":")" + type + "\"").status, 201u);
  const auto& best = w.told->asked_claim.seats.best;
  CAF_CHECK(best.count == 4 && best.section == "P" && best.ticket_type == w.event_id && best.accessible == 0);
  CAF_CHECK_EQUAL(shown(send(R"("section":"P")")), "400 invalid_field");
  CAF_CHECK_EQUAL(shown(send(R"("best":101)")), "400 invalid_field");
  w.told->claim.no = {reason::seat_taken, "A-3 A-4"};
  const auto refused = send(R"("best":4)");
  CAF_CHECK_EQUAL(shown(refused), "409 seat_taken");
  CAF_CHECK(refused.body.find(R"("seats":["A-3","A-4"])") != std::string::npos);
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
  for (const auto* fact :
       {R"(,"time_zone":"Nowhere/City")", R"(,"time_zone":"localtime")", R"(,"venue":{"latitude":90.1})",
        R"(,"venue":{"longitude":1.0000001})", R"(,"venue":{"name":"a\nb"})", R"(,"description":"\u0000")",
        R"(,"ticket_terms":"\u0000")"})
    CAF_CHECK_EQUAL(code(new_event(std::string{short_form} + fact)), "400 invalid_field");
  CAF_CHECK_EQUAL(
    code(new_event(std::string{short_form} + R"(,"ticket_terms":")" + std::string(1'001, 'x') + '"')),
    "400 invalid_field");
  CAF_CHECK_EQUAL(w.told->questions, 0);
}

CAF_TEST(facts of an event are read and null clears them) {
  world w;
  const auto patched = [&](std::string body) {
    CAF_CHECK_EQUAL(w.send(method::patch, w.event_path(""), std::move(body), w.as_organizer()).status, 200u);
    return w.told->asked_patch.patch;
  };
  const auto given = patched(R"({"starts_at":"2026-12-01T18:30:00Z","time_zone":"Africa/Lagos",)"
                             R"("description":"# One\n\n* two","ticket_terms":"No glass.\nNo dogs.",)"
                             R"("venue":{"name":"Arena","latitude":6.4461}})");
  CAF_CHECK(given.find(&event_facts::starts_at) && !given.find(&event_facts::ends_at));
  CAF_CHECK_EQUAL(*given.find(&event_facts::description), "# One\n\n* two");
  CAF_CHECK_EQUAL(*given.find(&event_facts::ticket_terms), "No glass.\nNo dogs.");
  CAF_CHECK_EQUAL(*given.find(&event_facts::venue_name), "Arena");
  CAF_CHECK_EQUAL(*given.find(&event_facts::latitude), 6'446'100);
  const auto cleared = patched(R"({"starts_at":null,"time_zone":null,"description":null,)"
                               R"("ticket_terms":null,"venue":{"name":null,"latitude":null}})");
  CAF_CHECK(*cleared.find(&event_facts::starts_at) == never);
  CAF_CHECK_EQUAL(*cleared.find(&event_facts::time_zone), "");
  CAF_CHECK_EQUAL(*cleared.find(&event_facts::ticket_terms), "");
  CAF_CHECK_EQUAL(*cleared.find(&event_facts::latitude), no_coordinate);
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

CAF_TEST(an announced value has one spelling only) {
  world w;
  const auto enter = [&](std::string_view value) {
    return w.send(method::post, w.event_path("/draw/beacon"), R"({"value":")" + std::string{value} + R"("})",
                  w.as_organizer());
  };
  CAF_CHECK_EQUAL(enter("4 8 15 16").status, 200u);
  for (const auto* value : {"", " 4", "4 ", "4  8", "4\\t8", "4\\u00a08", "4\\u200b 8", "\xc5\xbd 4"})
    CAF_CHECK_EQUAL(shown(enter(value)), "400 invalid_field");
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
  CAF_CHECK_EQUAL(w.send(method::get, "/events?limit=18446744073709551616").status, 200);
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
  CAF_CHECK_EQUAL(body.at("expires_at").get_string(), "2027-01-16T08:00:00.000Z");
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

CAF_TEST(wrong codes are limited by customer and right ones are not) {
  world w;
  const auto quote = [&](std::uint64_t customer) {
    return shown(w.send(method::post, w.event_path("/quote"),
                        R"({"promo_code":"X","items":[{"ticket_type_id":")" + to_string(w.claim_id)
                          + R"(","quantity":1}]})",
                        w.bearer(token_kind::customer, {0x1111, 0x8000'0000'0000'0000 + customer})));
  };
  for (int i = 0; i < 100; ++i) CAF_REQUIRE_EQUAL(quote(1), "200 ");
  w.told->quote.no = reason::promo_code_invalid;
  for (std::uint32_t i = 0; i < wrong_codes_per_customer; ++i)
    CAF_REQUIRE_EQUAL(quote(1), "409 promo_code_invalid");
  CAF_CHECK_EQUAL(quote(1), "429 rate_limited");
  for (std::uint64_t other = 2; other < 100; ++other)
    for (std::uint32_t i = 0; i < wrong_codes_per_customer && quote(other) != "429 rate_limited"; ++i) {}
  for (int i = 0; i < 3; ++i) CAF_CHECK_EQUAL(quote(200), "409 promo_code_invalid"); // a person mistypes
  CAF_CHECK_EQUAL(quote(200), "429 rate_limited"); // the event's limit
  w.told->quote.no = reason::none;
  CAF_CHECK_EQUAL(quote(201), "200 ");
}

CAF_TEST(guests get no more wrong codes by being others) {
  world w;
  std::uint64_t guests = 0;
  const auto quote = [&](std::string peer) {
    return shown(w.send(method::post, w.event_path("/quote"),
                        R"({"promo_code":"X","items":[{"ticket_type_id":")" + to_string(w.claim_id)
                          + R"(","quantity":1}]})",
                        w.as_guest(++guests), std::move(peer)));
  };
  w.told->quote.no = reason::promo_code_invalid;
  for (std::uint32_t i = 0; i < wrong_codes_per_client; ++i)
    CAF_REQUIRE_EQUAL(quote("192.0.2.1"), "409 promo_code_invalid");
  CAF_CHECK_EQUAL(quote("192.0.2.1"), "429 rate_limited");
  CAF_CHECK_EQUAL(quote("192.0.2.2"), "409 promo_code_invalid");
  w.told->quote.no = reason::none;
  for (int i = 0; i < 300; ++i) CAF_REQUIRE_EQUAL(quote("192.0.2.2"), "200 ");
}

CAF_TEST(new places of guests are limited by address and places that they have are not) {
  auto options = world_options();
  options.otp.requests_per_ip_per_minute = 2;
  world w{options};
  std::uint64_t guests = 0;
  const auto join = [&](std::string peer) {
    return w.send(method::post, w.event_path("/queue"), "", w.as_guest(++guests), std::move(peer)).status;
  };
  for (int i = 0; i < 50; ++i) CAF_REQUIRE_EQUAL(join("192.0.2.1"), 200u);
  w.told->entry.created = true;
  for (std::uint32_t i = 0; i < 2 * guest_joins_minutes; ++i) CAF_REQUIRE_EQUAL(join("192.0.2.1"), 201u);
  CAF_CHECK_EQUAL(join("192.0.2.1"), 429u);
  CAF_CHECK_EQUAL(join("192.0.2.2"), 201u);
  CAF_CHECK_EQUAL(w.send(method::post, w.event_path("/queue"), "", w.as_customer(), "192.0.2.1").status,
                  201u);
}

} // namespace handlers_test
