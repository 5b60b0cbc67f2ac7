// SPDX-License-Identifier: Apache-2.0
// The Paystack gateway against a scripted Paystack: what it sends to the byte, what it makes of every kind of
// answer, and its webhooks.
#define CAF_SUITE paystack_gateway
#include "caf/test/unit_test.hpp"

#include "crypto/digest.hpp"
#include "outbound/paystack_gateway.hpp"
#include "tests/outbound/gateway_answers.hpp"
#include "tests/outbound/real_environment.hpp"
#include "tests/outbound/scripted_server.hpp"

#include <future>
#include <stdexcept>

namespace paystack_gateway_test {

using namespace fq;
using namespace fq::test;

namespace {

const std::string reference = "fq-018f0000-0000-7000-8000-000000000001";

std::string accepted(const std::string& data) {
  return R"({"status":true,"message":"fine","data":)" + data + "}";
}
std::string refused(const std::string& message, const std::string& code = "") {
  return R"({"status":false,"message":")" + message + R"(","type":"validation_error")"
         + (code.empty() ? "" : R"(,"code":")" + code + '"') + "}";
}
std::string authorization() {
  return accepted(
    R"({"authorization_url":"https://checkout.paystack.com/abc","access_code":"abc","reference":")"
    + reference + R"("})");
}
std::string transaction(const std::string& status, const std::string& more = "") {
  return accepted(R"({"id":4099260516,"status":")" + status + R"(","reference":")" + reference
                  + R"(","amount":500000,"requested_amount":500000,"currency":"NGN")" + more + "}");
}
std::string refund_object(const std::string& status, const std::string& refund_id = "refund-1",
                          int amount = 200'000) {
  return R"({"id":15581137,"transaction":4099260516,"amount":)" + std::to_string(amount)
         + R"(,"currency":"NGN","status":")" + status + R"(","merchant_note":"fairqueue refund )" + refund_id
         + R"("})";
}

struct fixture {
  real_environment env;
  std::function<scripted_answer(const scripted_request&)> script;
  scripted_server server{[this](const scripted_request& r) { return script(r); }};
  paystack_gateway::settings settings = make_settings();
  std::unique_ptr<paystack_gateway> made;

  paystack_gateway::settings make_settings() {
    paystack_gateway::settings s;
    s.secret_keys = {"sk_test_paystack"};
    s.fallback_email = "fans@tickets.example";
    s.url = server.url();
    s.call_timeout = milliseconds{5000};
    return s;
  }
  paystack_gateway& gateway() {
    if (!made) made = std::make_unique<paystack_gateway>(settings, env);
    return *made;
  }
  static gateway_charge charge() {
    gateway_charge c;
    c.reference = reference;
    c.money = {500'000, "NGN"};
    return c;
  }
  initialize_result initialize(const gateway_charge& c = charge()) {
    return answered<initialize_result>([&](auto done) { gateway().initialize(c, std::move(done)); });
  }
  verify_result verify() {
    return answered<verify_result>([&](auto done) { gateway().verify(charge(), std::move(done)); });
  }
  verify_result expire() {
    return answered<verify_result>([&](auto done) { gateway().expire(charge(), std::move(done)); });
  }
  refund_result refund(std::int64_t amount = 200'000) {
    return answered<refund_result>([&](auto done) {
      gateway().refund({charge(), "refund-1", amount}, std::move(done));
    });
  }
  webhook_result parse(const std::string& body, const std::string& signature) {
    return gateway().parse_webhook(body, signature, env.wall_now());
  }
  static std::string sign(const std::string& body, const std::string& key = "sk_test_paystack") {
    return to_hex(hmac_sha512(view_bytes(key), body));
  }
  webhook_result parse_signed(const std::string& body) { return parse(body, sign(body)); }
  void always(int status, const std::string& body,
              const std::string& fields = "Content-Type: application/json\r\n") {
    script = [=](const scripted_request&) { return answer(status, body, fields); };
  }
  /// A transaction that was paid, with these refunds; `post`: the answer to a new one.
  void paid_with(const std::string& refunds, scripted_answer post) {
    script = [=](const scripted_request& r) {
      if (r.method == "POST") return post;
      return answer(200,
                    r.target.starts_with("/refund") ? accepted("[" + refunds + "]") : transaction("success"));
    };
  }
};

const std::string known_body =
  R"({"event":"charge.success","data":{"id":1,"reference":"FQ-1","amount":500000,"currency":"NGN",)"
  R"("status":"success"}})";
const std::string known_signature = "8727fedf4006d72a036ca9d3ac3df3c50793e6fab04615a68c9ab754c443434211c5d83b"
                                    "e46b3f879a0984a26d5e64787f9ee21ce96ec114ea64c18082e4cec6";

} // namespace

CAF_TEST_FIXTURE_SCOPE(paystack_tests, fixture)

CAF_TEST(a transaction is initialized with exactly this body) {
  always(200, authorization());
  auto c = charge();
  c.customer_email = "fan@example.com";
  c.success_url = "https://tickets.example/o/1";
  c.cancel_url = "https://tickets.example/back";
  c.destination = "ACCT_1";
  c.application_fee = 15'000;
  c.metadata = {{"site", "arena"}, {"order_id", "7"}};
  const auto result = initialize(c);
  CAF_REQUIRE(std::holds_alternative<gateway_authorization>(result));
  CAF_CHECK_EQUAL(std::get<gateway_authorization>(result).url, "https://checkout.paystack.com/abc");
  CAF_CHECK_EQUAL(std::get<gateway_authorization>(result).gateway_id, "");
  const auto seen = server.requests();
  CAF_REQUIRE_EQUAL(seen.size(), 1u);
  CAF_CHECK(seen[0].head.starts_with("POST /transaction/initialize HTTP/1.1\r\n"));
  CAF_CHECK_EQUAL(seen[0].field("authorization"), "Bearer sk_test_paystack");
  CAF_CHECK_EQUAL(seen[0].field("content-type"), "application/json");
  CAF_CHECK_EQUAL(seen[0].body, R"({"email":"fan@example.com","amount":500000,"currency":"NGN","reference":")"
                                  + reference
                                  + R"(","callback_url":"https://tickets.example/o/1","subaccount":"ACCT_1",)"
                                    R"("transaction_charge":"15000","metadata":{"fairqueue_reference":")"
                                  + reference
                                  + R"(","cancel_action":"https://tickets.example/back",)"
                                    R"("site":"arena","order_id":"7"}})");
}

CAF_TEST(a bare charge takes what the settings say) {
  always(200, authorization());
  settings.callback_url = "https://tickets.example/thanks";
  CAF_CHECK(std::holds_alternative<gateway_authorization>(initialize()));
  const auto seen = server.requests();
  CAF_CHECK_EQUAL(
    seen[0].body,
    R"({"email":"fans@tickets.example","amount":500000,"currency":"NGN","reference":")" + reference
      + R"(","callback_url":"https://tickets.example/thanks","metadata":{"fairqueue_reference":")" + reference
      + R"("}})");
  settings.fallback_email.clear();
  made.reset();
  CAF_CHECK(rejected(initialize()));
  CAF_CHECK_EQUAL(server.requests().size(), 1u);
}

CAF_TEST(a reference that was taken before is rejected by name) {
  always(400, refused("Duplicate Transaction Reference", "duplicate_reference"));
  auto result = initialize();
  CAF_CHECK(rejected(result));
  CAF_CHECK_EQUAL(what(result), "duplicate_reference");
  always(400, refused("Duplicate Transaction Reference"));
  result = initialize();
  CAF_CHECK(rejected(result));
  CAF_CHECK_EQUAL(what(result), "duplicate_reference");
}

CAF_TEST(refusals are rejected and name the code only) {
  always(400, refused("Invalid Email Address fan@example.com", "invalid_params"));
  auto result = initialize();
  CAF_CHECK(rejected(result));
  CAF_CHECK_EQUAL(what(result), "paystack: HTTP 400 invalid_params");
  always(403, refused("Currency not supported by merchant", "unsupported_currency"));
  result = initialize();
  CAF_CHECK(rejected(result));
  CAF_CHECK_EQUAL(what(result), "paystack: HTTP 403 unsupported_currency");
  always(403, refused("Currency not supported by merchant"));
  CAF_CHECK(rejected(initialize()));
  always(200, refused("No"));
  CAF_CHECK(rejected(initialize()));
  always(422, "<html>no</html>"); // a proxy, not Paystack
  CAF_CHECK(unavailable(initialize()));
}

CAF_TEST(what is not an answer is unavailable) {
  for (const int status : {401, 403}) {
    always(status, refused("Invalid key sk_test_paystack", "invalid_Key"));
    const auto result = verify();
    CAF_CHECK(unavailable(result));
    CAF_CHECK(what(result).find("key") != std::string::npos);
    CAF_CHECK(what(result).find("sk_") == std::string::npos);
    CAF_CHECK(unavailable(initialize()));
  }
  for (const int status : {302, 408, 429, 500, 502, 504}) {
    always(status, "<html>busy</html>");
    CAF_CHECK(unavailable(initialize()));
    CAF_CHECK(unavailable(verify()));
    CAF_CHECK(unavailable(refund()));
  }
  for (const auto& nonsense : std::vector<std::string>{
         "", "<html>welcome</html>", R"({"status":true,"data")", "[]", "{}", accepted("{}"), accepted("[]"),
         accepted(R"({"authorization_url":"https://x"})"),
         accepted(R"({"status":"success","reference":"another","amount":1})")}) {
    always(200, nonsense);
    CAF_CHECK(unavailable(initialize()));
    CAF_CHECK(unavailable(verify()));
    CAF_CHECK(unavailable(refund()));
  }
  always(429, "", "Retry-After: 9\r\n");
  CAF_CHECK_EQUAL(pause_ms(verify()), 9'000);
  script = [](const scripted_request&) { return hang(); };
  settings.call_timeout = milliseconds{150};
  made.reset();
  CAF_CHECK(unavailable(verify()));
  server.stop();
  CAF_CHECK(unavailable(initialize()));
}

CAF_TEST(transactions are charges in these states) {
  const auto verified = [&](const std::string& status, const std::string& more = "") {
    always(200, transaction(status, more));
    return verify();
  };
  CAF_CHECK(is(verified("success"), charge_status::paid));
  CAF_CHECK(is(verified("failed"), charge_status::declined));
  CAF_CHECK(is(verified("reversed", R"(,"paid_at":null)"), charge_status::declined));
  CAF_CHECK(is(verified("reversed", R"(,"paid_at":"2026-11-22T10:00:00.000Z")"), charge_status::paid));
  for (const auto* open : {"abandoned", "ongoing", "pending", "processing", "queued"})
    CAF_CHECK(is(verified(open), charge_status::unpaid));
  CAF_CHECK(unavailable(verified("levitating")));
  for (const auto& r : server.requests()) {
    const auto line = r.method + " " + r.target;
    CAF_CHECK_EQUAL(line, "GET /transaction/verify/" + reference);
  }
}

CAF_TEST(what was captured counts when paid and what was asked before) {
  const auto money = [&](const std::string& status) {
    always(200, accepted(R"({"id":1,"status":")" + status + R"(","reference":")" + reference
                         + R"(","amount":400000,"requested_amount":500000,"currency":"NGN"})"));
    return std::get<charge_state>(verify()).money;
  };
  CAF_CHECK(money("success") == (gateway_money{400'000, "NGN"}));
  CAF_CHECK(money("abandoned") == (gateway_money{500'000, "NGN"}));
  always(200, accepted(R"({"id":1,"status":"success","reference":")" + reference + R"(","amount":400000})"));
  CAF_CHECK(unavailable(verify())); // money of no currency pays nothing
}

CAF_TEST(only Paystack itself says that a reference is unknown) {
  for (const int status : {200, 400, 404}) {
    always(status, refused("Transaction reference not found", "transaction_not_found"));
    CAF_CHECK(is(verify(), charge_status::unknown));
    always(status, refused("Transaction reference not found"));
    CAF_CHECK(is(verify(), charge_status::unknown));
  }
  CAF_CHECK(is(expire(), charge_status::unknown));
  CAF_CHECK(rejected(refund()));
  always(404, "<html>wrong address</html>");
  CAF_CHECK(unavailable(verify()));
  always(400, refused("Something else"));
  CAF_CHECK(rejected(verify()));
}

CAF_TEST(expire only looks) {
  always(200, transaction("abandoned"));
  CAF_CHECK(is(expire(), charge_status::unpaid));
  always(200, transaction("success"));
  CAF_CHECK(is(expire(), charge_status::paid));
  for (const auto& r : server.requests()) CAF_CHECK_EQUAL(r.method, "GET");
}

CAF_TEST(a refund is looked for and then made once) {
  paid_with(refund_object("processed", "refund-2"), answer(200, accepted(refund_object("pending"))));
  CAF_CHECK(is(refund(), gateway_refund_status::pending));
  const auto seen = server.requests();
  CAF_REQUIRE_EQUAL(seen.size(), 3u);
  CAF_CHECK_EQUAL(seen[0].target, "/transaction/verify/" + reference);
  CAF_CHECK_EQUAL(seen[1].target, "/refund?transaction=4099260516&perPage=100&page=1");
  CAF_CHECK(seen[2].head.starts_with("POST /refund HTTP/1.1\r\n"));
  CAF_CHECK_EQUAL(seen[2].body, R"({"transaction":")" + reference
                                  + R"(","amount":200000,"merchant_note":"fairqueue refund refund-1"})");
}

CAF_TEST(a refund that was made before is not made again) {
  const auto found = [&](const std::string& status) {
    paid_with(refund_object("processed", "refund-11") + "," + refund_object(status), reset());
    return refund();
  };
  CAF_CHECK(is(found("pending"), gateway_refund_status::pending));
  CAF_CHECK(is(found("processing"), gateway_refund_status::pending));
  CAF_CHECK(is(found("needs-attention"), gateway_refund_status::pending));
  CAF_CHECK(is(found("processed"), gateway_refund_status::processed));
  CAF_CHECK(is(found("failed"), gateway_refund_status::failed));
  CAF_CHECK(rejected(refund(199'999)));
  for (const auto& r : server.requests()) CAF_CHECK_EQUAL(r.method, "GET");
}

CAF_TEST(the list of refunds is read to its end) {
  std::string full;
  for (int i = 0; i < 100; ++i)
    full += (i == 0 ? "" : ",") + refund_object("processed", "other-" + std::to_string(i));
  int pages = 3;
  script = [&](const scripted_request& r) {
    if (r.target.starts_with("/transaction")) return answer(200, transaction("success"));
    if (r.method == "POST") return answer(200, accepted(refund_object("pending")));
    const auto page = std::stoi(r.target.substr(r.target.rfind('=') + 1));
    return answer(200, accepted("[" + (page < pages ? full : refund_object("processed")) + "]"));
  };
  CAF_CHECK(is(refund(), gateway_refund_status::processed));
  CAF_CHECK_EQUAL(server.requests().size(), 4u);
  pages = 1000; // a list that ignores what is asked must not lead to a second refund
  CAF_CHECK(unavailable(refund()));
  for (const auto& r : server.requests()) CAF_CHECK_EQUAL(r.method, "GET");
}

CAF_TEST(a lost answer to a refund is not sent again and asks for a pause) {
  paid_with("", reset());
  auto result = refund();
  CAF_CHECK(unavailable(result));
  CAF_CHECK_EQUAL(pause_ms(result), 60'000);
  int posts = 0;
  for (const auto& r : server.requests()) posts += r.method == "POST" ? 1 : 0;
  CAF_CHECK_EQUAL(posts, 1);
  paid_with("", answer(502, "<html>"));
  result = refund();
  CAF_CHECK(unavailable(result));
  CAF_CHECK_EQUAL(pause_ms(result), 60'000);
  paid_with("", answer(400, refused("Transaction has been fully reversed", "transaction_reversed")));
  result = refund();
  CAF_CHECK(rejected(result));
  CAF_CHECK_EQUAL(what(result), "paystack: HTTP 400 transaction_reversed");
}

CAF_TEST(nothing is refunded that was not paid) {
  for (const auto* status : {"abandoned", "failed", "pending"}) {
    always(200, transaction(status));
    CAF_CHECK(rejected(refund()));
  }
  CAF_CHECK_EQUAL(server.requests().size(), 3u);
}

CAF_TEST(the end of the gateway answers what is outstanding) {
  script = [](const scripted_request&) { return hang(); };
  std::promise<verify_result> first;
  gateway().verify(charge(), [&](verify_result r) { first.set_value(std::move(r)); });
  CAF_CHECK(server.wait_for_requests(1));
  made.reset();
  CAF_CHECK(unavailable(first.get_future().get()));
}

CAF_TEST(a key is needed) {
  settings.secret_keys = {""};
  bool refused_to_start = false;
  try {
    gateway();
  } catch (const std::invalid_argument&) { refused_to_start = true; }
  CAF_CHECK(refused_to_start);
}

CAF_TEST(the known webhook is a report to be verified) {
  const auto result = parse(known_body, known_signature);
  CAF_REQUIRE(std::holds_alternative<gateway_event>(result));
  const auto& event = std::get<gateway_event>(result);
  CAF_CHECK(event.kind == gateway_event_kind::charge_reported);
  CAF_CHECK_EQUAL(event.id, "charge.success:1");
  CAF_CHECK_EQUAL(event.reference, "FQ-1");
  CAF_CHECK(event.money == (gateway_money{500'000, "NGN"}));
}

CAF_TEST(any key may have signed) {
  settings.secret_keys = {"sk_new", "", "sk_test_paystack"};
  CAF_CHECK(std::holds_alternative<gateway_event>(parse(known_body, known_signature)));
  CAF_CHECK(std::holds_alternative<gateway_event>(parse(known_body, sign(known_body, "sk_new"))));
  CAF_CHECK(is(parse(known_body, sign(known_body, "sk_old")), webhook_error::bad_signature));
  CAF_CHECK(is(parse(known_body, sign(known_body, "")), webhook_error::bad_signature));
}

CAF_TEST(every other signature is refused) {
  std::string upper = known_signature, last = known_signature;
  for (auto& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  last.back() = last.back() == '0' ? '1' : '0';
  for (const auto& signature :
       std::vector<std::string>{"", upper, last, known_signature.substr(1), known_signature.substr(0, 127),
                                known_signature + "0", " " + known_signature, std::string(128, '0'), "none"})
    CAF_CHECK(is(parse(known_body, signature), webhook_error::bad_signature));
  CAF_CHECK(is(parse(known_body + "\n", known_signature), webhook_error::bad_signature));
  CAF_CHECK(is(parse("\xef\xbb\xbf" + known_body, known_signature), webhook_error::bad_signature));
}

CAF_TEST(refund webhooks name the transaction and our refund only if the note is there) {
  const std::string bare =
    R"({"event":"refund.processed","data":{"status":"processed","transaction_reference":")" + reference
    + R"(","refund_reference":"TRF_1","amount":"200000","currency":"NGN"}})";
  auto result = parse_signed(bare);
  CAF_REQUIRE(std::holds_alternative<gateway_event>(result));
  auto event = std::get<gateway_event>(result);
  CAF_CHECK(event.kind == gateway_event_kind::refund_processed);
  CAF_CHECK_EQUAL(event.reference, reference);
  CAF_CHECK_EQUAL(event.refund_id, "");
  CAF_CHECK(event.money == (gateway_money{200'000, "NGN"}));
  CAF_CHECK(event.id.starts_with("refund.processed:"));
  CAF_CHECK(std::get<gateway_event>(parse_signed(bare)).id == event.id);
  CAF_CHECK(std::get<gateway_event>(parse_signed(bare + " ")).id != event.id);
  result =
    parse_signed(R"({"event":"refund.failed","data":{"id":7,"transaction":{"reference":")" + reference
                 + R"("},"amount":200000,"currency":"NGN","merchant_note":"fairqueue refund refund-1"}})");
  CAF_REQUIRE(std::holds_alternative<gateway_event>(result));
  event = std::get<gateway_event>(result);
  CAF_CHECK(event.kind == gateway_event_kind::refund_failed);
  CAF_CHECK_EQUAL(event.id, "refund.failed:7");
  CAF_CHECK_EQUAL(event.refund_id, "refund-1");
  CAF_CHECK_EQUAL(event.reference, reference);
  result =
    parse_signed(R"({"event":"refund.failed","data":{"id":"r7","transaction_reference":"x","amount":1,)"
                 R"("merchant_note":"by hand"}})");
  event = std::get<gateway_event>(result);
  CAF_CHECK_EQUAL(event.id, "refund.failed:r7");
  CAF_CHECK_EQUAL(event.refund_id, "");
}

CAF_TEST(other events and signed nonsense are unknown) {
  for (const auto* body :
       {"", "[]", "null", "not json", "{}", R"({"event":"charge.success"})",
        R"({"event":"charge.success","data":[]})", R"({"event":"charge.success","data":{"reference":"r"}})",
        R"({"event":"charge.success","data":{"reference":"","amount":1}})",
        R"({"event":"charge.success","data":{"reference":"r","amount":1.5}})",
        R"({"event":"charge.success","data":{"reference":"r","amount":"12x"}})",
        R"({"event":"charge.failed","data":{"reference":"r","amount":1}})",
        R"({"event":"refund.pending","data":{"transaction_reference":"r","amount":1}})",
        R"({"event":"transfer.success","data":{"reference":"r","amount":1}})"})
    CAF_CHECK(is(parse_signed(body), webhook_error::unknown_event));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace paystack_gateway_test
