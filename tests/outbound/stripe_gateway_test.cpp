// SPDX-License-Identifier: Apache-2.0
// The Stripe gateway against a scripted Stripe: what it sends to the byte, what it makes of every kind of
// answer, and its webhooks.
#define CAF_SUITE stripe_gateway
#include "caf/test/unit_test.hpp"

#include "crypto/digest.hpp"
#include "outbound/stripe_gateway.hpp"
#include "tests/outbound/gateway_answers.hpp"
#include "tests/outbound/real_environment.hpp"
#include "tests/outbound/scripted_server.hpp"

#include <future>
#include <stdexcept>

using namespace fq;
using namespace fq::test;

namespace {

const std::string reference = "fq_018f0000-0000-7000-8000-000000000001";

/// As Stripe shows a session; `more`: members that end with a comma.
std::string session(const std::string& status, const std::string& payment_status,
                    const std::string& more = "") {
  return R"({"id":"cs_1","object":"checkout.session",)" + more + R"("status":")" + status
         + R"(","payment_status":")" + payment_status
         + R"(","amount_total":5000,"currency":"eur","metadata":{"fairqueue_reference":")" + reference
         + R"("},"url":"https://checkout.stripe.com/c/cs_1"})";
}
std::string paid_session() {
  return session("complete", "paid", R"("payment_intent":{"id":"pi_1","status":"succeeded"},)");
}
std::string refund_object(const std::string& status, const std::string& refund_id = "refund-1",
                          int amount = 2000) {
  return R"({"id":"re_1","object":"refund","amount":)" + std::to_string(amount)
         + R"(,"currency":"eur","status":")" + status + R"(","metadata":{"fairqueue_refund":")" + refund_id
         + R"(","fairqueue_reference":")" + reference + R"("}})";
}
std::string list_of(const std::string& items) { return R"({"object":"list","data":[)" + items + "]}"; }
std::string error(const std::string& type, const std::string& code, const std::string& parameter = "") {
  return R"({"error":{"type":")" + type + R"(","code":")" + code + R"(","param":")" + parameter
         + R"(","message":"Invalid API Key provided: sk_test_secret for fan@example.com"}})";
}

struct fixture {
  real_environment env;
  std::function<scripted_answer(const scripted_request&)> script;
  scripted_server server{[this](const scripted_request& r) { return script(r); }};
  stripe_gateway::settings settings = make_settings();
  std::unique_ptr<stripe_gateway> made;

  stripe_gateway::settings make_settings() {
    stripe_gateway::settings s;
    s.secret_key = "sk_test_secret";
    s.webhook_secrets = {"whsec_test_secret"};
    s.success_url = "https://tickets.example/thanks";
    s.cancel_url = "https://tickets.example/back";
    s.url = server.url();
    s.call_timeout = milliseconds{5000};
    return s;
  }
  stripe_gateway& gateway() {
    if (!made) made = std::make_unique<stripe_gateway>(settings, env);
    return *made;
  }
  static gateway_charge charge(const std::string& gateway_id = "cs_1") {
    gateway_charge c;
    c.reference = reference;
    c.gateway_id = gateway_id;
    c.money = {5000, "EUR"};
    c.title = "Two tickets";
    return c;
  }
  initialize_result initialize(const gateway_charge& c = charge("")) {
    return answered<initialize_result>([&](auto done) { gateway().initialize(c, std::move(done)); });
  }
  verify_result verify(const gateway_charge& c = charge()) {
    return answered<verify_result>([&](auto done) { gateway().verify(c, std::move(done)); });
  }
  verify_result expire(const gateway_charge& c = charge()) {
    return answered<verify_result>([&](auto done) { gateway().expire(c, std::move(done)); });
  }
  refund_result refund(const gateway_charge& c = charge(), std::int64_t amount = 2000) {
    return answered<refund_result>([&](auto done) {
      gateway().refund({c, "refund-1", amount}, std::move(done));
    });
  }
  webhook_result parse(const std::string& body, const std::string& signature, std::int64_t now_s) {
    return gateway().parse_webhook(body, signature, from_unix_ms(now_s * 1000));
  }
  static std::string sign(const std::string& body, std::int64_t at,
                          const std::string& secret = "whsec_test_secret") {
    return to_hex(hmac_sha256(view_bytes(secret), std::to_string(at) + "." + body));
  }
  webhook_result parse_signed(const std::string& body) {
    return parse(body, "t=1700000000,v1=" + sign(body, 1'700'000'000), 1'700'000'000);
  }
  /// Always the same answer.
  void always(int status, const std::string& body,
              const std::string& fields = "Content-Type: application/json\r\n") {
    script = [=](const scripted_request&) { return answer(status, body, fields); };
  }
  std::vector<std::string> lines_sent() {
    std::vector<std::string> out;
    for (const auto& r : server.requests()) out.push_back(r.method + " " + r.target);
    return out;
  }
};

const std::string known_body =
  R"({"id":"evt_1","object":"event","type":"checkout.session.completed","data":{"object":{"id":"cs_1",)"
  R"("amount_total":5000,"currency":"eur"}}})";
const std::string known_signature = "28264cde0bdea23ed5fbd3d2ed06476d065b6ffd3a336bcd9ad9ed98efac73b5";

} // namespace

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
      + "&payment_intent_data[metadata][fairqueue_reference]=" + reference
      + "&success_url=https%3A%2F%2Ftickets.example%2Fo%2F1%3Fx%3D1%26y%3D2&cancel_url=https%3A%2F%2Ftickets."
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
      + "&success_url=https%3A%2F%2Ftickets.example%2Fthanks&cancel_url=https%3A%2F%2Ftickets.example%"
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
  CAF_CHECK(is(refund(), gateway_refund_status::processed));
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

CAF_TEST(the known signature is right within five minutes of its time) {
  constexpr std::int64_t at = 1'700'000'000;
  const auto header = "t=1700000000,v1=" + known_signature;
  for (const auto now : {at - 300, at, at + 300})
    CAF_CHECK(is(parse(known_body, header, now), webhook_error::unknown_event));
  for (const auto now : {at - 301, at + 301, at - 600, std::int64_t{0}})
    CAF_CHECK(is(parse(known_body, header, now), webhook_error::bad_signature));
  CAF_CHECK(is(gateway().parse_webhook(known_body, header, from_unix_ms(at * 1000 + 300'999)),
               webhook_error::unknown_event));
}

CAF_TEST(any secret may have signed and any v1 may be right) {
  settings.webhook_secrets = {"", "whsec_new", "whsec_test_secret"};
  constexpr std::int64_t at = 1'700'000'000;
  const auto wrong = std::string(64, '0');
  const auto good = [&](const std::string& header) {
    return is(parse(known_body, header, at), webhook_error::unknown_event);
  };
  CAF_CHECK(good("t=1700000000,v1=" + known_signature));
  CAF_CHECK(good("t=1700000000,v1=" + wrong + ",v1=" + known_signature));
  CAF_CHECK(good("t=1700000000,v1=" + known_signature + ",v1=" + wrong + ",v0=" + wrong));
  CAF_CHECK(good("t=1700000000,v1=" + sign(known_body, at, "whsec_new")));
  CAF_CHECK(!good("t=1700000000,v1=" + sign(known_body, at, "whsec_old")));
  CAF_CHECK(
    !good("t=1700000000,v1=" + sign(known_body, at, ""))); // an empty secret in the settings signs nothing
}

CAF_TEST(every other signature is refused) {
  constexpr std::int64_t at = 1'700'000'000;
  std::string upper = known_signature;
  for (auto& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto bad = [&](const std::string& header) {
    return is(parse(known_body, header, at), webhook_error::bad_signature);
  };
  const std::vector<std::string> headers{
    "",
    ",",
    "t=1700000000",
    "v1=" + known_signature,
    "t=1700000000,v0=" + known_signature,
    "t=1700000000,v1=" + upper,
    "t=1700000000,v1=" + known_signature.substr(1),
    "t=1700000000,v1=" + known_signature + "0",
    "t=1700000000,v1=",
    "t=,v1=" + known_signature,
    "t=1700000001,v1=" + known_signature,
    "t=01700000000,v1=" + known_signature,
    "t=1700000000x,v1=" + known_signature,
    "t=-1700000000,v1=" + known_signature,
    "t=99999999999999999999,v1=" + known_signature,
    "t=1700000000, v1=" + known_signature,
    "t=1700000000;v1=" + known_signature,
    known_signature,
  };
  for (const auto& header : headers) CAF_CHECK(bad(header));
  CAF_CHECK(
    is(parse(known_body + " ", "t=1700000000,v1=" + known_signature, at), webhook_error::bad_signature));
  CAF_CHECK(is(parse("\xef\xbb\xbf" + known_body, "t=1700000000,v1=" + known_signature, at),
               webhook_error::bad_signature));
  settings.webhook_secrets.clear();
  made.reset();
  CAF_CHECK(bad("t=1700000000,v1=" + known_signature));
}

CAF_TEST(session events are facts about the charge) {
  const auto event = [&](const std::string& type, const std::string& object) {
    return parse_signed(R"({"id":"evt_7","object":"event","type":")" + type + R"(","data":{"object":)"
                        + object + "}}");
  };
  const auto kind = [](const webhook_result& r) { return std::get<gateway_event>(r).kind; };
  const auto paid = event("checkout.session.completed",
                          session("complete", "paid", R"("total_details":{"amount_tax":950},)"));
  CAF_REQUIRE(std::holds_alternative<gateway_event>(paid));
  const auto& fact = std::get<gateway_event>(paid);
  CAF_CHECK(fact.kind == gateway_event_kind::charge_succeeded);
  CAF_CHECK_EQUAL(fact.id, "evt_7");
  CAF_CHECK_EQUAL(fact.reference, reference);
  CAF_CHECK(fact.money == (gateway_money{4050, "EUR"}));
  CAF_CHECK_EQUAL(fact.tax, 950);
  CAF_CHECK(kind(event("checkout.session.completed", session("complete", "no_payment_required")))
            == gateway_event_kind::charge_succeeded);
  CAF_CHECK(
    is(event("checkout.session.completed", session("complete", "unpaid")), webhook_error::unknown_event));
  CAF_CHECK(kind(event("checkout.session.async_payment_succeeded", session("complete", "paid")))
            == gateway_event_kind::charge_succeeded);
  CAF_CHECK(kind(event("checkout.session.async_payment_failed", session("complete", "unpaid")))
            == gateway_event_kind::charge_failed);
  CAF_CHECK(kind(event("checkout.session.expired", session("expired", "unpaid")))
            == gateway_event_kind::charge_failed);
  CAF_CHECK(is(event("checkout.session.expired", R"({"metadata":{}})"), webhook_error::foreign_event));
  CAF_CHECK(
    is(event("checkout.session.expired", R"({"client_reference_id":"x"})"), webhook_error::foreign_event));
  for (const auto* type : {"payment_intent.succeeded", "charge.succeeded", "customer.created", "", "refund"})
    CAF_CHECK(is(event(type, paid_session()), webhook_error::unknown_event));
}

CAF_TEST(refund events are facts about our refund) {
  const auto event = [&](const std::string& type, const std::string& object) {
    return parse_signed(R"({"id":"evt_8","type":")" + type + R"(","data":{"object":)" + object + "}}");
  };
  for (const auto* type : {"refund.created", "refund.updated", "refund.failed", "charge.refund.updated"}) {
    const auto processed = event(type, refund_object("succeeded"));
    CAF_REQUIRE(std::holds_alternative<gateway_event>(processed));
    const auto& fact = std::get<gateway_event>(processed);
    CAF_CHECK(fact.kind == gateway_event_kind::refund_processed);
    CAF_CHECK_EQUAL(fact.refund_id, "refund-1");
    CAF_CHECK_EQUAL(fact.reference, reference);
    CAF_CHECK(fact.money == (gateway_money{2000, "EUR"}));
    for (const auto* status : {"failed", "canceled"}) {
      const auto failed = event(type, refund_object(status));
      CAF_REQUIRE(std::holds_alternative<gateway_event>(failed));
      CAF_CHECK(std::get<gateway_event>(failed).kind == gateway_event_kind::refund_failed);
    }
    CAF_CHECK(is(event(type, refund_object("pending")), webhook_error::unknown_event));
    CAF_CHECK(is(event(type, R"({"status":"succeeded","metadata":{}})"), webhook_error::foreign_event));
  }
}

CAF_TEST(signed nonsense is an unknown event) {
  for (const auto* body : {"", "[]", "null", "not json", "{}", R"({"id":"evt_1"})",
                           R"({"type":"checkout.session.expired"})", R"({"id":"evt_1","type":7,"data":[]})"})
    CAF_CHECK(is(parse_signed(body), webhook_error::unknown_event));
}

CAF_TEST_FIXTURE_SCOPE_END()
