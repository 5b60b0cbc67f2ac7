// SPDX-License-Identifier: Apache-2.0
// Waiting rooms from request to answer: rights of an API key, cost of invalid tokens, and the data behind
// /access.
#define CAF_SUITE routes_waiting_rooms
#include "caf/test/unit_test.hpp"

#include "net/bridge/limits.hpp"
#include "net/service/limits.hpp"

#include "tests/net/api/world.hpp"

namespace waiting_rooms_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

/// A queue of tenant 2 with one live session.
struct room : world {
  explicit room(config::options o = world_options()) : world(std::move(o)) {
    told->sessions.event = event_id;
    told->sessions.tenant = tenant_id{2};
    told->sessions.kind = event_kind::queue;
    told->sessions.is_all = true;
    told->sessions.now = from_unix_ms(clock.now_ms);
    told->sessions.begun.push_back({ticket, 1, "ann", told->sessions.now + seconds{60}});
  }
  response access(const std::string& token, std::string query = "", std::string key = "") {
    text_fields fields{{"Authorization", "Bearer " + token}};
    if (!key.empty()) fields.emplace_back("X-API-Key", key);
    return send(method::get, "/access" + query, "", fields);
  }
  std::string queue_path(std::string_view rest) const {
    return "/queues/" + to_string(event_id) + std::string{rest};
  }

  const uuid ticket = make_entry_id(from_unix_ms(1'800'000'000'000), first_event_aggregate, queue_number{1});
  const uuid other = make_entry_id(from_unix_ms(1'800'000'000'000), first_event_aggregate, queue_number{2});
  const std::string token = make_session_token(sessions, ticket, 1);
};

} // namespace

CAF_TEST(a lock needs a session of its queue and a name that stands in a path) {
  room w;
  const text_fields session{{"Authorization", "Bearer " + w.token}};
  const auto put = [&](std::string_view name, const text_fields& fields) {
    return w.send(method::put, w.queue_path("/locks/" + std::string{name}), "", fields);
  };
  w.told->locks = {{}, true, {{{"A-1", queue_number{1}, from_unix_ms(1'800'000'000'000)}, w.ticket, {}}}};
  CAF_CHECK_EQUAL(put("A-1", session).status, 201u);
  CAF_CHECK_EQUAL(w.told->asked_lock.name, "A-1");
  CAF_CHECK_EQUAL(w.told->asked_lock.session_token, w.token);
  CAF_CHECK(!w.told->asked_lock.frees);
  w.told->locks.created = false;
  CAF_CHECK_EQUAL(put("A-1", session).status, 200u);
  CAF_CHECK_EQUAL(w.send(method::del, w.queue_path("/locks/A-1"), "", session).status, 204u);
  CAF_CHECK(w.told->asked_lock.frees);
  const auto asked = w.told->questions;
  for (const auto* name : {"A%20B", ".", ".."})
    CAF_CHECK_EQUAL(shown(put(name, session)), "400 invalid_parameter");
  CAF_CHECK_EQUAL(shown(put(std::string(65, 'a'), session)), "400 invalid_parameter");
  CAF_CHECK_EQUAL(shown(put("A-1", {{"Authorization", "Bearer " + w.token + "x"}})), "401 unauthenticated");
  CAF_CHECK_EQUAL(shown(put("A-1", {})), "401 unauthenticated");
  CAF_CHECK_EQUAL(w.told->questions, asked);
  w.told->locks = {reason::lock_held};
  CAF_CHECK_EQUAL(shown(put("A-1", session)), "409 lock_held");
  w.told->locks = {reason::not_admitted};
  CAF_CHECK_EQUAL(shown(put("A-1", session)), "410 session_over");
}

CAF_TEST(the first question learns the sessions and the next ask nobody) {
  room w;
  CAF_CHECK_EQUAL(w.access(w.token).status, 200u);
  const auto asked = w.told->questions;
  for (int i = 0; i < 5; ++i) CAF_CHECK_EQUAL(w.access(w.token).status, 200u);
  CAF_CHECK_EQUAL(w.told->questions, asked);
  CAF_CHECK_EQUAL(w.told->watches, 1);
  const auto answer = w.access(w.token, "?queue_id=" + to_string(w.event_id));
  CAF_CHECK_EQUAL(field_of(answer, "Cache-Control"), "private, max-age=3");
  CAF_CHECK_EQUAL(field_of(answer, "Vary"), "Authorization, X-API-Key");
  CAF_CHECK_EQUAL(field_of(answer, "X-FairQueue-Subject"), "ann");
  CAF_CHECK_EQUAL(field_of(answer, "X-FairQueue-Ticket"), to_string(w.ticket));
}

CAF_TEST(a token that was checked before is checked again after its keys were renewed) {
  room w;
  for (int i = 0; i < 2; ++i) CAF_CHECK_EQUAL(w.access(w.token).status, 200u);
  auto forged = w.token;
  forged.back() = forged.back() == 'A' ? 'Q' : 'A';
  CAF_CHECK_EQUAL(shown(w.access(forged)), "401 unauthenticated");
  w.sessions.renew({secret_key{hmac_sha256(w.keys.stored.bytes(), "another")}});
  CAF_CHECK_EQUAL(shown(w.access(w.token)), "401 unauthenticated");
  const auto token = make_session_token(w.sessions, w.ticket, 1);
  CAF_CHECK_EQUAL(w.access(token).status, 200u);
  const auto* remembered = w.table.find(w.ticket, w.clock.steady_now());
  CAF_REQUIRE(remembered != nullptr && remembered->last);
  CAF_CHECK_EQUAL(remembered->last->token, token);
  CAF_CHECK_EQUAL(remembered->last->renewals, 1u);
}

CAF_TEST(grants in two forms do not mix) {
  room w;
  for (int i = 0; i < 2; ++i) {
    CAF_CHECK_EQUAL(field_of(w.access(w.token), "X-Accel-Expires"), "");
    const auto answer = w.access(w.token, "?profile=auth_request");
    CAF_CHECK_EQUAL(field_of(answer, "X-Accel-Expires"), "3");
    CAF_CHECK_EQUAL(answer.body, w.access(w.token).body);
  }
}

CAF_TEST(a grant is kept no longer than its session lasts) {
  room w;
  w.access(w.token);
  w.pass(milliseconds{57'500});
  CAF_CHECK_EQUAL(field_of(w.access(w.token), "Cache-Control"), "private, max-age=2");
  w.pass(milliseconds{2'500});
  CAF_CHECK_EQUAL(shown(w.access(w.token)), "410 session_over");
}

CAF_TEST(a token that we did not make asks nobody and uses no limit of others up) {
  auto options = world_options();
  options.rate_limits.access_per_session_per_minute = 3;
  options.rate_limits.access_failures_per_ip_per_minute = 50;
  room w{options};
  auto forged = w.token;
  forged.back() = forged.back() == 'A' ? 'Q' : 'A';
  for (int i = 0; i < 20; ++i) CAF_CHECK_EQUAL(shown(w.access(forged)), "401 unauthenticated");
  CAF_CHECK_EQUAL(w.told->questions, 0);
  CAF_CHECK_EQUAL(w.told->watches, 0);
  // the holder's rate limit is unused
  for (int i = 0; i < 3; ++i) CAF_CHECK_EQUAL(w.access(w.token).status, 200u);
  CAF_CHECK_EQUAL(shown(w.access(w.token)), "429 rate_limited");
}

CAF_TEST(a session that is over is said so and costs its address nothing) {
  auto options = world_options();
  options.rate_limits.access_failures_per_ip_per_minute = 2;
  room w{options};
  const auto over = make_session_token(w.sessions, w.other, 1);
  for (int i = 0; i < 5; ++i) CAF_CHECK_EQUAL(shown(w.access(over)), "410 session_over");
  CAF_CHECK_EQUAL(shown(w.access(over, "?profile=auth_request")), "403 forbidden");
  CAF_CHECK_EQUAL(field_of(w.access(over, "?profile=auth_request"), "X-FairQueue-Reason"), "expired");
}

CAF_TEST(a server key sees sessions of its own tenant only and its visitors are not its address) {
  auto options = world_options();
  options.rate_limits.access_failures_per_ip_per_minute = 2;
  room w{options};
  CAF_CHECK_EQUAL(w.access(w.token, "", "wr_acme_serves").status, 200u);
  for (int i = 0; i < 5; ++i)
    CAF_CHECK_EQUAL(shown(w.access("x", "", "wr_acme_serves")), "401 unauthenticated");
  w.told->sessions.tenant = tenant_id{3};
  room elsewhere;
  elsewhere.told->sessions.tenant = tenant_id{3};
  CAF_CHECK_EQUAL(shown(elsewhere.access(elsewhere.token, "", "wr_acme_serves")), "403 wrong_queue");
  CAF_CHECK_EQUAL(shown(elsewhere.access(elsewhere.token, "", "wr_acme_joins")), "403 forbidden");
  CAF_CHECK_EQUAL(shown(elsewhere.access(elsewhere.token, "", "wr_acme_wrong")), "401 unauthenticated");
}

CAF_TEST(it fails closed when the owner does not answer or has another queue) {
  room w;
  w.told->error = make_error(errc::unavailable);
  CAF_CHECK_EQUAL(shown(w.access(w.token)), "503 unavailable");
  CAF_CHECK_EQUAL(field_of(w.access(w.token, "?profile=auth_request"), "X-FairQueue-Reason"), "unavailable");
  w.told->error = {};
  CAF_CHECK_EQUAL(shown(w.access(w.token, "?queue_id=" + to_string(uuid{1, 2}))), "403 wrong_queue");
  CAF_CHECK_EQUAL(w.access(w.token).status, 200u);
}

CAF_TEST(what an owner pushes is believed until it says that nothing is known) {
  room w;
  w.access(w.token);
  auto change = w.told->sessions;
  change.is_all = false;
  change.begun.clear();
  change.ended = {w.ticket};
  w.push(change);
  CAF_CHECK_EQUAL(shown(w.access(w.token)), "410 session_over");
  change.is_lost = true;
  w.push(change);
  CAF_CHECK_EQUAL(w.access(w.token).status, 200u); // subscribed again
  CAF_CHECK_EQUAL(w.told->watches, 2);
  CAF_CHECK_EQUAL(w.told->unwatches, 1); // of a table without readers
}

CAF_TEST(after a pause of the process nothing is believed that was told before) {
  room w;
  w.access(w.token);
  const auto before = w.told->sessions;
  w.told->sessions.begun.clear(); // the session ends while the process is frozen
  w.clock.now_ms += still_max.count() + 1;
  CAF_CHECK_EQUAL(shown(w.access(w.token)), "410 session_over");
  CAF_CHECK_EQUAL(w.told->watches, 2);
  w.clock.now_ms += still_max.count() + 1;
  w.push(before); // was on its way before the pause
  CAF_CHECK_EQUAL(shown(w.access(w.token)), "410 session_over");
}

CAF_TEST(while the clock of the owner stands still no session ends) {
  room w;
  w.access(w.token);
  auto news = w.told->sessions;
  news.is_all = false;
  news.begun.clear();
  news.now += seconds{20};
  news.is_paused = true; // an outage of the ledger
  w.pass(milliseconds{20'000});
  w.push(news);
  w.pass(milliseconds{100'000});
  CAF_CHECK_EQUAL(w.access(w.token).status, 200u);
  news.is_paused = false;
  w.push(news);
  w.pass(milliseconds{39'000});
  CAF_CHECK_EQUAL(w.access(w.token).status, 200u);
  w.pass(milliseconds{1'000});
  CAF_CHECK_EQUAL(shown(w.access(w.token)), "410 session_over");
}

CAF_TEST(a snapshot that nobody waits for any more is not believed) {
  room w;
  w.push(w.told->sessions); // of a cancelled subscription
  CAF_CHECK_EQUAL(w.told->watches, 0);
  w.access(w.token);
  CAF_CHECK_EQUAL(w.told->watches, 1);
}

CAF_TEST(only a server key says who joins and a signature is not looked at beyond the limit) {
  auto options = world_options();
  options.rate_limits.joins_per_ip_per_minute = 2;
  room w{options};
  const auto join = [&](std::string_view key, std::string body) {
    return shown(w.send(method::post, w.queue_path("/tickets"), std::move(body), world::with_key(key)));
  };
  CAF_CHECK_EQUAL(join("wr_acme_serves", R"({"subject":"ann"})"), "200 ");
  CAF_CHECK_EQUAL(w.told->asked_join.subject_name, "ann");
  CAF_CHECK(w.told->asked_join.tenant == tenant_id{2} && w.told->asked_join.kind == event_kind::queue);
  CAF_CHECK(w.told->asked_join.customer == w.shared.subject_of(tenant_id{2}, "ann"));
  CAF_CHECK(w.shared.subject_of(tenant_id{2}, "ann") != w.shared.subject_of(tenant_id{3}, "ann"));
  CAF_CHECK_EQUAL(join("wr_acme_joins", R"({"subject":"ann"})"), "403 subject_not_allowed");
  CAF_CHECK_EQUAL(join("wr_acme_joins", R"({"subject_token":"a.b.c"})"), "403 invalid_subject_token");
  CAF_CHECK_EQUAL(join("wr_acme_joins", R"({"subject_token":"a.b.c"})"), "429 rate_limited");
  CAF_CHECK_EQUAL(join("wr_acme_operates", "{}"), "403 forbidden");
  CAF_CHECK_EQUAL(join("wr_acme_", "{}"), "401 unauthenticated");
  CAF_CHECK_EQUAL(join("wr_nobody_joins", "{}"), "401 unauthenticated");
}

CAF_TEST(joins that are asked for a challenge count for the address) {
  auto options = world_options();
  options.rate_limits.joins_per_ip_per_minute = 1;
  options.rate_limits.anonymous_requests_per_ip_per_minute = 3;
  room w{options};
  const auto join = [&](std::string_view key) {
    return shown(w.send(method::post, w.queue_path("/tickets"), "{}", world::with_key(key)));
  };
  w.told->entry.no = reason::challenge_required;
  for (int i = 0; i < 3; ++i) CAF_CHECK_EQUAL(join("wr_acme_joins"), "403 challenge_required");
  CAF_CHECK_EQUAL(join("wr_acme_joins"), "429 rate_limited");
  CAF_CHECK_EQUAL(join("wr_acme_serves"), "403 challenge_required");
  w.told->entry.no = reason::none;
  CAF_CHECK_EQUAL(join("wr_acme_joins"), "200 "); // with a challenge a join costs nothing else
}

CAF_TEST(a party is opened and joined by a ticket and its code is not guessed) {
  auto options = world_options();
  options.rate_limits.joins_per_ip_per_minute = 0;
  room w{options};
  auto& e = w.told->entry.entry;
  e.kind = event_kind::queue;
  e.lobby.phase = lobby_phase::open;
  e.party_code = "7-ABCDEFGH";
  const auto form = [&](std::string body) {
    return w.send(method::post, "/tickets/" + to_string(w.ticket) + "/party", std::move(body),
                  w.bearer(token_kind::ticket, w.ticket));
  };
  const auto join = [&](std::string_view key, std::string body) {
    return shown(w.send(method::post, w.queue_path("/tickets"), std::move(body), world::with_key(key)));
  };
  const auto opened = form("");
  CAF_CHECK_EQUAL(opened.status, 200u);
  CAF_CHECK(opened.body.find(R"("party":{"code":"7-ABCDEFGH")") != std::string::npos);
  CAF_CHECK(w.told->asked_party.ticket == w.ticket && w.told->asked_party.party_code.empty());
  const std::string coded = R"({"party_code":"7-abc"})";
  CAF_CHECK_EQUAL(form(coded).status, 200u);
  CAF_CHECK_EQUAL(w.told->asked_party.party_code, "7-abc");
  CAF_CHECK_EQUAL(join("wr_acme_joins", coded), "200 ");
  CAF_CHECK_EQUAL(w.told->asked_join.party_code, "7-abc");
  w.told->entry.no = reason::party_unknown;
  for (std::uint32_t i = 0; i < wrong_codes_per_customer; ++i)
    CAF_CHECK_EQUAL(shown(form(coded)), "409 party_unknown");
  for (std::uint32_t i = 0; i < wrong_codes_per_client; ++i)
    CAF_REQUIRE_EQUAL(join("wr_acme_joins", coded), "409 party_unknown"); // each time a new visitor
  CAF_CHECK_EQUAL(shown(form(coded)), "429 rate_limited");
  CAF_CHECK_EQUAL(join("wr_acme_joins", coded), "429 rate_limited");
  CAF_CHECK_EQUAL(join("wr_acme_serves", R"({"subject":"ann","party_code":"7-abc"})"), "409 party_unknown");
}

CAF_TEST(a token of an operator is worth what its key is) {
  room w;
  CAF_CHECK_EQUAL(w.send(method::get, w.queue_path(""), "", w.as_operator()).status, 200u);
  CAF_CHECK(w.told->asked_event.what.by == (principal{principal_kind::operate, tenant_id{2}, {0x4444, 3}}));
  CAF_CHECK(w.told->asked_event.what.kind == event_kind::queue);
  for (const std::uint64_t no : {1u, 2u, 9u}) // a key of another scope, or no key
    CAF_CHECK_EQUAL(
      shown(w.send(method::get, w.queue_path(""), "", w.bearer(token_kind::operate, {0x4444, no}))),
      "401 unauthenticated");
  CAF_CHECK_EQUAL(shown(w.send(method::get, w.queue_path(""), "", w.as_customer())), "403 forbidden");
  const auto stranger = w.bearer(token_kind::organizer, {0x2222, 7}); // unknown organizer
  CAF_CHECK_EQUAL(shown(w.send(method::get, w.queue_path(""), "", stranger)), "401 unauthenticated");
}

CAF_TEST(a name of a queue may be anything and is asked for percent encoded) {
  room w;
  w.send(method::get, "/queues?external_id=match%2017%20%C5%A1", "", w.as_operator());
  CAF_CHECK_EQUAL(w.told->asked_list.external_id, "match 17 \xc5\xa1");
  for (const auto* bad : {"%00", "%zz", "%c5", "%0a"})
    CAF_CHECK_EQUAL(
      shown(w.send(method::get, std::string{"/queues?external_id="} + bad, "", w.as_operator())),
      "400 invalid_parameter");
}

CAF_TEST(the socket of a ticket follows that ticket and no other place of its subject) {
  room w;
  w.told->entry.entry.customer = w.customer;
  w.told->entry.entry.event = w.event_id;
  const auto token = w.issuer.issue(token_kind::ticket, w.ticket, from_unix_ms(w.clock.now_ms), seconds{60});
  const auto answer = w.send(method::get, "/tickets/" + to_string(w.ticket) + "/ws?token=" + token);
  CAF_REQUIRE(answer.upgrade);
  CAF_CHECK(answer.upgrade->by_ticket && answer.upgrade->holder == w.ticket);
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/tickets/" + to_string(w.other) + "/ws?token=" + token)),
                  "404 not_found");
}

// -- ownership and end of a place ------------------------------------------------------------------------

CAF_TEST(an organizer finds a place by id or address and gets no token) {
  world w;
  auto& e = w.told->entry.entry;
  e.id = make_entry_id(from_unix_ms(1), first_event_aggregate, queue_number{5});
  e.event = w.event_id;
  e.kind = event_kind::sale;
  e.status = entry_status::admitted;
  e.admission_no = 1;
  e.number = queue_number{5};
  const auto path = w.event_path("/places/search");
  const auto by_id =
    w.send(method::post, path, "{\"entry_id\":\"" + to_string(e.id) + "\"}", w.as_organizer());
  CAF_CHECK_EQUAL(by_id.status, 200u);
  CAF_CHECK(w.told->asked_ticket == e.id);
  CAF_CHECK_EQUAL(text_in(by_id, "status"), "ADMITTED");
  CAF_CHECK(by_id.body.find("token") == std::string::npos);
  w.told->customers.customers = {w.customer};
  const auto by_email = w.send(method::post, path, R"({"email":"Ada@Example.org"})", w.as_organizer());
  CAF_CHECK_EQUAL(by_email.status, 200u);
  CAF_REQUIRE_EQUAL(w.told->asked_customers.emails.size(), 1u);
  CAF_CHECK_EQUAL(w.told->asked_customers.emails[0], "ada@example.org");
  for (const auto* body : {"{}", R"({"email":"x"})", R"({"subject":"x"})"})
    CAF_CHECK_EQUAL(w.send(method::post, path, body, w.as_organizer()).status, 400u);
  CAF_CHECK_EQUAL(w.send(method::post, path, "{\"entry_id\":\"" + to_string(e.id) + R"(","email":"a@b.c"})",
                         w.as_organizer())
                    .status,
                  400u);
  CAF_CHECK_EQUAL(shown(w.send(method::post, path, R"({"email":"a@b.c"})", w.as_customer())),
                  "403 forbidden");
}

CAF_TEST(nobody hears of places in lines of others) {
  world w;
  w.told->stats.no = reason::not_found; // the owner's answer to a caller that does not manage it
  const auto id = make_entry_id(from_unix_ms(1), first_event_aggregate, queue_number{5});
  CAF_CHECK_EQUAL(shown(w.send(method::post, w.event_path("/places/search"),
                               "{\"entry_id\":\"" + to_string(id) + "\"}", w.as_organizer())),
                  "404 not_found");
  CAF_CHECK_EQUAL(shown(w.send(method::post, w.event_path("/places/search"), R"({"email":"ada@example.org"})",
                               w.as_organizer())),
                  "404 not_found");
  CAF_CHECK(w.told->asked_ticket.is_nil() && w.told->asked_customers.emails.empty());
  w.told->stats.no = {};
  const auto other = make_entry_id(from_unix_ms(1), aggregate_id{17}, queue_number{5});
  CAF_CHECK_EQUAL(shown(w.send(method::post, w.event_path("/places/search"),
                               "{\"entry_id\":\"" + to_string(other) + "\"}", w.as_organizer())),
                  "404 not_found");
}

CAF_TEST(an event has its sessions revoked by entry or all) {
  world w;
  w.told->count.count = 1;
  const auto id = make_entry_id(from_unix_ms(1), first_event_aggregate, queue_number{5});
  const auto path = w.event_path("/revocations");
  CAF_CHECK_EQUAL(w.send(method::post, path, "{\"entry_id\":\"" + to_string(id) + R"(","reason":"A bot."})",
                         w.as_organizer())
                    .body,
                  R"({"revoked":1})");
  CAF_CHECK(w.told->asked_revocation.scope == revocation_scope::ticket
            && w.told->asked_revocation.ticket == id);
  CAF_CHECK(w.told->asked_revocation.what.kind == event_kind::sale);
  CAF_CHECK_EQUAL(w.told->asked_revocation.note.reason, "A bot.");
  CAF_CHECK_EQUAL(w.send(method::post, path, R"({"all":true})", w.as_organizer()).status, 200u);
  CAF_CHECK(w.told->asked_revocation.scope == revocation_scope::all);
  for (const auto* body : {"{}", R"({"all":false})", R"({"subject":"x"})"})
    CAF_CHECK_EQUAL(w.send(method::post, path, body, w.as_organizer()).status, 400u);
}

} // namespace waiting_rooms_test
