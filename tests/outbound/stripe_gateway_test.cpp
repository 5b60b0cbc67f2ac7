// SPDX-License-Identifier: Apache-2.0
// The Stripe gateway against a scripted Stripe: its requests to the byte, and the meaning of every kind of
// answer.
#define CAF_SUITE stripe_gateway
#include "caf/test/unit_test.hpp"

#include "tests/outbound/stripe_fixture.hpp"

#include <future>
#include <stdexcept>

namespace stripe_gateway_test {

using namespace fq;
using namespace fq::test;
using namespace fq::test::stripe;

CAF_TEST_FIXTURE_SCOPE(stripe_tests, fixture)

CAF_TEST(a session is created with exactly these parameters) {
  always(200, session("open", "unpaid"));
  auto c = charge("");
  c.lines = {{"Standing & more", 2000, 2}, {"Fees", 1000, 1}};
  c.customer_email = "fan+1@example.com";
  c.success_url = "https://tickets.example/o/1?x=1&y=2";
  c.expires_at = from_unix_ms(1'800'002'000'999);
  c.destination = "acct_1";
  c.application_fee = 150;
  c.metadata = {{"site", "back end"}, {"order_id", "7"}};
  settings.automatic_tax = true;
  const auto result = initialize(c);
  CAF_REQUIRE(std::holds_alternative<gateway_authorization>(result));
  CAF_CHECK_EQUAL(std::get<gateway_authorization>(result).url, "https://checkout.stripe.com/c/cs_1");
  CAF_CHECK_EQUAL(std::get<gateway_authorization>(result).gateway_id, "cs_1");
  const auto seen = server.requests();
  CAF_REQUIRE_EQUAL(seen.size(), 1u);
  CAF_CHECK(seen[0].head.starts_with("POST /v1/checkout/sessions HTTP/1.1\r\n"));
  CAF_CHECK_EQUAL(seen[0].field("authorization"), "Bearer sk_test_secret");
  CAF_CHECK_EQUAL(seen[0].field("stripe-version"), "2025-03-31.basil");
  CAF_CHECK_EQUAL(seen[0].field("idempotency-key"), reference);
  CAF_CHECK_EQUAL(seen[0].field("content-type"), "application/x-www-form-urlencoded");
  CAF_CHECK_EQUAL(
    seen[0].body,
    "mode=payment"
    "&line_items[0][price_data][currency]=eur&line_items[0][price_data][product_data][name]=Standing%20%26%"
    "20more"
    "&line_items[0][price_data][unit_amount]=2000&line_items[0][quantity]=2"
    "&line_items[1][price_data][currency]=eur&line_items[1][price_data][product_data][name]=Fees"
    "&line_items[1][price_data][unit_amount]=1000&line_items[1][quantity]=1"
    "&client_reference_id="
      + reference + "&metadata[fairqueue_reference]=" + reference
      + "&metadata[site]=back%20end&metadata[order_id]=7"
        "&payment_intent_data[metadata][fairqueue_reference]="
      + reference
      + "&payment_intent_data[metadata][site]=back%20end&payment_intent_data[metadata][order_id]=7"
        "&payment_intent_data[description]=Two%20tickets"
        "&success_url=https%3A%2F%2Ftickets.example%2Fo%2F1%3Fx%3D1%26y%3D2&cancel_url=https%3A%2F%2Ftickets."
        "example%2Fback"
        "&customer_email=fan%2B1%40example.com&expires_at=1800002000"
        "&payment_intent_data[transfer_data][destination]=acct_1&payment_intent_data[application_fee_amount]="
        "150"
        "&automatic_tax[enabled]=true");
}

CAF_TEST(a bare charge is one line and leaves out what it does not say) {
  always(200, session("open", "unpaid"));
  CAF_CHECK(std::holds_alternative<gateway_authorization>(initialize()));
  const auto seen = server.requests();
  CAF_CHECK_EQUAL(
    seen.front().body,
    "mode=payment&line_items[0][price_data][currency]=eur&line_items[0][price_data][product_data][name]=Two%"
    "20tickets"
    "&line_items[0][price_data][unit_amount]=5000&line_items[0][quantity]=1&client_reference_id="
      + reference + "&metadata[fairqueue_reference]=" + reference
      + "&payment_intent_data[metadata][fairqueue_reference]=" + reference
      + "&payment_intent_data[description]=Two%20tickets"
        "&success_url=https%3A%2F%2Ftickets.example%2Fthanks&cancel_url=https%3A%2F%2Ftickets.example%"
        "2Fback");
}

CAF_TEST(lines that Stripe cannot show become one of the whole amount) {
  always(200, session("open", "unpaid"));
  auto discount = charge("");
  discount.lines = {{"Standing", 6000, 1}, {"Promo", -1000, 1}};
  auto wrong_sum = charge("");
  wrong_sum.lines = {{"Standing", 4999, 1}};
  auto many = charge("");
  many.lines.assign(101, {"Seat", 50, 1});
  many.lines.back().unit_amount = 0;
  auto untitled = charge("");
  untitled.title.clear();
  for (const auto& c : {discount, wrong_sum, many, untitled}) initialize(c);
  for (const auto& r : server.requests()) {
    CAF_CHECK(r.body.find("[unit_amount]=5000&") != std::string::npos);
    CAF_CHECK(r.body.find("line_items[1]") == std::string::npos);
  }
  CAF_CHECK(server.requests().back().body.find("[name]=" + reference) != std::string::npos);
}

CAF_TEST(a repeated initialize is the same to the byte) {
  always(500, error("api_error", ""));
  CAF_CHECK(unavailable(initialize()));
  always(200, session("open", "unpaid"));
  CAF_CHECK(std::holds_alternative<gateway_authorization>(initialize()));
  const auto seen = server.requests();
  CAF_CHECK_EQUAL(seen[0].text(), seen[1].text());
}

CAF_TEST(refusals are rejected and name the code only) {
  always(400, error("idempotency_error", ""));
  CAF_CHECK(rejected(initialize()));
  always(400, error("invalid_request_error", "email_invalid", "customer_email"));
  const auto result = initialize();
  CAF_CHECK(rejected(result));
  CAF_CHECK_EQUAL(what(result), "stripe: HTTP 400 email_invalid customer_email");
  always(402, error("card_error", "card_declined"));
  CAF_CHECK(rejected(initialize()));
  always(404, "<html>no such page</html>");
  CAF_CHECK(unavailable(initialize())); // a proxy, not Stripe
  always(400, error("x", R"(\r\n\u001b[31m)" + std::string(500, 'y')));
  CAF_CHECK(what(initialize()).size() < 100);
}

CAF_TEST(what is not an answer is unavailable) {
  for (const int status : {401, 403}) {
    always(status, error("invalid_request_error", "api_key_expired"));
    const auto result = initialize();
    CAF_CHECK(unavailable(result));
    CAF_CHECK(what(result).find("key") != std::string::npos);
    CAF_CHECK(what(result).find("sk_") == std::string::npos);
  }
  for (const int status : {301, 408, 409, 425, 429, 500, 502, 503}) {
    always(status, "<html>busy</html>");
    CAF_CHECK(unavailable(initialize()));
  }
  for (const auto* nonsense : {"", "<html>welcome</html>", R"({"id":"cs_1")", "[]", "{}", R"({"id":"cs_1"})",
                               R"({"id":7,"url":[]})"}) {
    always(200, nonsense);
    CAF_CHECK(unavailable(initialize()));
    CAF_CHECK(unavailable(verify()));
  }
  script = [](const scripted_request&) { return reset(); };
  CAF_CHECK(unavailable(initialize()));
  server.stop();
  CAF_CHECK(unavailable(initialize()));
}

CAF_TEST(the pause Stripe asks for is passed on within a minute) {
  const auto pause_after = [&](const std::string& value) {
    always(429, error("rate_limit_error", ""), "Retry-After: " + value + "\r\n");
    return pause_ms(initialize());
  };
  CAF_CHECK_EQUAL(pause_after("7"), 7'000);
  CAF_CHECK_EQUAL(pause_after("3600"), 60'000);
  CAF_CHECK_EQUAL(pause_after("99999999999999999999"), 60'000);
  CAF_CHECK_EQUAL(pause_after("-5"), 0);
  CAF_CHECK_EQUAL(pause_after("soon"), 0);
  CAF_CHECK_EQUAL(pause_after("Fri, 15 Jan 2027 08:00:20 GMT"), 20'000);
  CAF_CHECK_EQUAL(pause_after("Fri, 15 Jan 2027 07:00:00 GMT"), 0);
  CAF_CHECK_EQUAL(pause_after("Fri, 15 Jan 2027 09:00:00 GMT"), 60'000);
}

CAF_TEST(silence ends at the deadline of the call) {
  script = [](const scripted_request&) { return hang(); };
  settings.call_timeout = milliseconds{200};
  const auto begin = env.steady_now();
  CAF_CHECK(unavailable(initialize()));
  CAF_CHECK(unavailable(refund()));
  CAF_CHECK(env.steady_now() - begin < milliseconds{5000});
}

CAF_TEST(the deadline is of the whole call and not of each request) {
  script = [](const scripted_request& r) {
    auto reply = answer(200, r.method == "POST" ? session("open", "unpaid") : paid_session());
    reply.delay = std::chrono::milliseconds{150};
    return reply;
  };
  settings.call_timeout = milliseconds{400};
  CAF_CHECK(unavailable(refund(charge("")))); // create; retrieve; list is beyond it
  CAF_CHECK(server.requests().size() <= 3u);
}

CAF_TEST(sessions are charges in these states) {
  const auto verified = [&](const std::string& body) {
    always(200, body);
    return verify();
  };
  const auto intent = [](const std::string& status) {
    return R"("payment_intent":{"id":"pi_1","status":")" + status + R"("},)";
  };
  CAF_CHECK(is(verified(session("open", "unpaid", R"("payment_intent":null,)")), charge_status::unpaid));
  CAF_CHECK(is(verified(session("complete", "paid", intent("succeeded"))), charge_status::paid));
  CAF_CHECK(is(verified(session("complete", "no_payment_required")), charge_status::paid));
  CAF_CHECK(is(verified(session("complete", "unpaid", intent("processing"))), charge_status::unpaid));
  CAF_CHECK(
    is(verified(session("complete", "unpaid", intent("requires_payment_method"))), charge_status::declined));
  CAF_CHECK(is(verified(session("complete", "unpaid", intent("canceled"))), charge_status::declined));
  CAF_CHECK(is(verified(session("expired", "unpaid")), charge_status::expired));
  CAF_CHECK(unavailable(verified(session("reopened", "unpaid"))));
  CAF_CHECK(rejected(verified(
    R"({"id":"cs_1","status":"complete","payment_status":"paid","amount_total":5000,"currency":"eur",)"
    R"("metadata":{"fairqueue_reference":"another"}})")));
  for (const auto& line : lines_sent())
    CAF_CHECK_EQUAL(line, "GET /v1/checkout/sessions/cs_1?expand[]=payment_intent");
}

CAF_TEST(tax is beside the amount) {
  always(200, session("complete", "paid", R"("total_details":{"amount_tax":950,"amount_discount":0},)"));
  const auto state = std::get<charge_state>(verify());
  CAF_CHECK(state.money == (gateway_money{4050, "EUR"}));
  CAF_CHECK_EQUAL(state.tax, 950);
}

CAF_TEST(a session that is gone is rejected) {
  always(404, error("invalid_request_error", "resource_missing", "session"));
  const auto result = verify();
  CAF_CHECK(rejected(result));
  CAF_CHECK_EQUAL(what(result), "stripe: HTTP 404 resource_missing session");
}

CAF_TEST(without an id the first call is repeated to learn it) {
  script = [](const scripted_request& r) {
    return answer(200, r.method == "POST" ? session("open", "unpaid") : paid_session());
  };
  CAF_CHECK(is(verify(charge("")), charge_status::paid));
  CAF_CHECK(std::holds_alternative<gateway_authorization>(initialize(charge(""))));
  const auto seen = server.requests();
  CAF_REQUIRE_EQUAL(seen.size(), 3u);
  CAF_CHECK_EQUAL(seen[0].text(), seen[2].text());
  CAF_CHECK_EQUAL(seen[1].target, "/v1/checkout/sessions/cs_1?expand[]=payment_intent");
}

CAF_TEST(a charge that never arrived and is too late for a session is unknown) {
  always(400, error("invalid_request_error", "", "expires_at"));
  CAF_CHECK(is(verify(charge("")), charge_status::unknown));
  CAF_CHECK(is(expire(charge("")), charge_status::unknown));
  CAF_CHECK(rejected(refund(charge(""))));
  CAF_CHECK(rejected(initialize(charge(""))));
  always(400, error("idempotency_error", ""));
  CAF_CHECK(rejected(verify(charge(""))));
  always(503, "");
  CAF_CHECK(unavailable(expire(charge(""))));
}

CAF_TEST(an open session is closed) {
  always(200, session("expired", "unpaid"));
  CAF_CHECK(is(expire(), charge_status::expired));
  const auto seen = server.requests();
  CAF_REQUIRE_EQUAL(seen.size(), 1u);
  CAF_CHECK(seen[0].head.starts_with("POST /v1/checkout/sessions/cs_1/expire HTTP/1.1\r\n"));
  CAF_CHECK_EQUAL(seen[0].field("idempotency-key"), "");
  CAF_CHECK_EQUAL(seen[0].body, "");
}

CAF_TEST(a session that cannot be closed is looked at) {
  std::string now = paid_session();
  script = [&](const scripted_request& r) {
    return r.method == "POST" ? answer(400, error("invalid_request_error", "")) : answer(200, now);
  };
  CAF_CHECK(is(expire(), charge_status::paid));
  now = session("expired", "unpaid");
  CAF_CHECK(is(expire(), charge_status::expired));
  now = session("complete", "unpaid", R"("payment_intent":{"id":"pi_1","status":"processing"},)");
  CAF_CHECK(is(expire(), charge_status::unpaid));
  always(503, "");
  CAF_CHECK(unavailable(expire()));
}

CAF_TEST(a session is made and closed when its first call never arrived) {
  script = [](const scripted_request& r) {
    return answer(200,
                  r.target.ends_with("/expire") ? session("expired", "unpaid") : session("open", "unpaid"));
  };
  CAF_CHECK(is(expire(charge("")), charge_status::expired));
  CAF_CHECK(
    lines_sent()
    == (std::vector<std::string>{"POST /v1/checkout/sessions", "POST /v1/checkout/sessions/cs_1/expire"}));
}

CAF_TEST(a refund is looked for and then made) {
  script = [](const scripted_request& r) {
    if (r.target.starts_with("/v1/checkout")) return answer(200, paid_session());
    return answer(200, r.method == "GET" ? list_of(refund_object("succeeded", "refund-2"))
                                         : refund_object("succeeded"));
  };
  auto labelled = charge();
  labelled.metadata = {{"site", "backend"}}; // may be another one at a repeat under the same key
  CAF_CHECK(is(refund(labelled), gateway_refund_status::processed));
  const auto seen = server.requests();
  CAF_REQUIRE_EQUAL(seen.size(), 3u);
  CAF_CHECK_EQUAL(seen[1].target, "/v1/refunds?payment_intent=pi_1&limit=100");
  CAF_CHECK(seen[2].head.starts_with("POST /v1/refunds HTTP/1.1\r\n"));
  CAF_CHECK_EQUAL(seen[2].field("idempotency-key"), "refund-1");
  CAF_CHECK_EQUAL(
    seen[2].body,
    "payment_intent=pi_1&amount=2000&metadata[fairqueue_refund]=refund-1&metadata[fairqueue_reference]="
      + reference);
  auto onward = charge();
  onward.destination = "acct_1";
  refund(onward);
  CAF_CHECK(server.requests().back().body.ends_with("&reverse_transfer=true"));
  onward.application_fee = 10;
  refund(onward);
  CAF_CHECK(server.requests().back().body.ends_with("&reverse_transfer=true&refund_application_fee=true"));
}

CAF_TEST(a refund that was made before is not made again) {
  std::string status = "pending";
  script = [&](const scripted_request& r) {
    if (r.target.starts_with("/v1/checkout")) return answer(200, paid_session());
    return r.method == "GET"
             ? answer(200, list_of(refund_object("succeeded", "refund-2") + "," + refund_object(status)))
             : reset();
  };
  CAF_CHECK(is(refund(), gateway_refund_status::pending));
  status = "requires_action";
  CAF_CHECK(is(refund(), gateway_refund_status::pending));
  status = "failed";
  CAF_CHECK(is(refund(), gateway_refund_status::failed));
  status = "canceled";
  CAF_CHECK(is(refund(), gateway_refund_status::failed));
  status = "succeeded";
  CAF_CHECK(is(refund(), gateway_refund_status::processed));
  CAF_CHECK(rejected(refund(charge(), 1999)));
  for (const auto& r : server.requests()) CAF_CHECK_EQUAL(r.method, "GET");
}

CAF_TEST(a refund may fail at every step) {
  always(200, session("open", "unpaid"));
  CAF_CHECK(rejected(refund()));
  std::string fails_at = "/v1/checkout";
  int status = 503;
  script = [&](const scripted_request& r) {
    const bool here =
      fails_at == "POST" ? r.method == "POST" : r.method == "GET" && r.target.starts_with(fails_at);
    if (here) return answer(status, error("invalid_request_error", "charge_already_refunded"));
    return answer(200, r.target.starts_with("/v1/checkout") ? paid_session() : list_of(""));
  };
  for (const auto* step : {"/v1/checkout", "/v1/refunds", "POST"}) {
    fails_at = step;
    status = 503;
    CAF_CHECK(unavailable(refund()));
    status = 400;
    CAF_CHECK(rejected(refund()));
  }
}

CAF_TEST(the end of the gateway answers what is outstanding) {
  script = [](const scripted_request& r) { return r.method == "GET" ? answer(200, paid_session()) : hang(); };
  std::promise<initialize_result> first;
  gateway().initialize(charge(""), [&](initialize_result r) { first.set_value(std::move(r)); });
  CAF_CHECK(server.wait_for_requests(1));
  made.reset();
  CAF_CHECK(unavailable(first.get_future().get()));
}

CAF_TEST(a key is needed) {
  settings.secret_key.clear();
  bool refused = false;
  try {
    gateway();
  } catch (const std::invalid_argument&) { refused = true; }
  CAF_CHECK(refused);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace stripe_gateway_test
