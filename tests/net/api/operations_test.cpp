// SPDX-License-Identifier: Apache-2.0
// The sandbox, sockets before their upgrade, health, pages of this server, tasks.
#define CAF_SUITE routes_operations
#include "caf/test/unit_test.hpp"

#include "actors/base/measures.hpp"
#include "domain/money/payments.hpp"
#include "net/pages/demo.hpp"
#include "tests/net/api/world.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>

namespace operations_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

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

CAF_TEST(money for an event that the ledger does not have is counted) {
  world w;
  const auto body = R"({"id":"evt_1","event":"charge.success","data":{"reference":")"
                    + make_reference(make_uuid(from_unix_ms(1), aggregate_id{99}, 1))
                    + R"(","amount":1,"currency":"NGN","status":"success"}})";
  w.told->error = make_error(errc::absent);
  const auto answer = w.send(method::post, "/webhooks/sandbox", body,
                             {{"X-FairQueue-Sandbox-Signature", w.sandbox.sign(body)}});
  CAF_CHECK_EQUAL(answer.status, 200u);
  CAF_CHECK_EQUAL(w.shared.counts.webhooks_lost.get(), 1u);
  CAF_CHECK_EQUAL(w.shared.counts.webhooks_unknown.get(), 0u);
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
  std::atomic<bool> is_superseded{false};
  w.state.is_superseded = &is_superseded;
  agree(true);
  is_superseded = true;
  agree(false);
  CAF_CHECK(w.send(method::get, "/readyz").body.find("superseded") != std::string::npos);
  is_superseded = false;
  w.state.draining = true;
  agree(false);
}

CAF_TEST(descriptions are served) {
  world w;
  const auto description = w.send(method::get, "/openapi.json");
  CAF_CHECK(description.body.empty()); // sent without a copy
  CAF_CHECK_EQUAL(boost::json::parse(description.static_body).at("openapi").as_string(), "3.1.0");
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

CAF_TEST(the last thousand finished tasks are kept) {
  world w;
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/tasks/history", "", w.as_organizer())), "503 unavailable");
  measures m;
  w.state.numbers = &m;
  for (int i = 1; i <= 1'001; ++i)
    m.history.add({0, from_unix_ms(1'800'000'000'000 + i), "sandbox refund", "unavailable", "no answer", 5,
                   milliseconds{1'500}});
  const auto items =
    body_of(w.send(method::get, "/tasks/history", "", w.as_organizer())).at("items").as_array();
  CAF_REQUIRE_EQUAL(items.size(), 1'000u);
  CAF_CHECK(items[0].at("ended_at").as_string() == "2027-01-15T08:00:01.001Z");
  CAF_CHECK(items[999].at("ended_at").as_string() == "2027-01-15T08:00:00.002Z");
  CAF_CHECK(items[0].at("name").as_string() == "sandbox refund");
  CAF_CHECK(items[0].at("result").as_string() == "unavailable");
  CAF_CHECK(items[0].at("detail").as_string() == "no answer");
  CAF_CHECK_EQUAL(items[0].at("attempts").to_number<int>(), 5);
  CAF_CHECK_EQUAL(items[0].at("duration_seconds").to_number<double>(), 1.5);
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/tasks/history", "", w.as_operator())), "403 forbidden");
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/tasks/history", "", w.as_customer())), "403 forbidden");
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

} // namespace operations_test
