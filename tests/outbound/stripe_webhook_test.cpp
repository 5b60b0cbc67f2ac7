// SPDX-License-Identifier: Apache-2.0
// Webhooks of the Stripe gateway: which signatures are valid, and the fact that each event becomes.
#define CAF_SUITE stripe_webhook
#include "caf/test/unit_test.hpp"

#include "tests/outbound/stripe_fixture.hpp"

namespace stripe_webhook_test {

using namespace fq;
using namespace fq::test;
using namespace fq::test::stripe;

namespace {

const std::string known_body =
  R"({"id":"evt_1","object":"event","type":"checkout.session.completed","data":{"object":{"id":"cs_1",)"
  R"("amount_total":5000,"currency":"eur"}}})";
const std::string known_signature = "28264cde0bdea23ed5fbd3d2ed06476d065b6ffd3a336bcd9ad9ed98efac73b5";

} // namespace

CAF_TEST_FIXTURE_SCOPE(stripe_webhook_tests, fixture)

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

CAF_TEST(events of the other mode or of a connected account are foreign) {
  const auto told = [this](const std::string& more) {
    const auto body = R"({"id":"evt_1","type":"checkout.session.completed",)" + more + R"("data":{"object":)"
                      + paid_session() + "}}";
    constexpr std::int64_t at = 1'700'000'000;
    return parse(body, "t=1700000000,v1=" + sign(body, at, "whsec_test_secret"), at);
  };
  CAF_CHECK(std::holds_alternative<gateway_event>(told("")));
  CAF_CHECK(std::holds_alternative<gateway_event>(told(R"("livemode":false,)")));
  CAF_CHECK(is(told(R"("livemode":true,)"), webhook_error::foreign_event));
  CAF_CHECK(is(told(R"("account":"acct_1",)"), webhook_error::foreign_event));
  settings.secret_key = "sk_live_secret";
  made.reset();
  CAF_CHECK(std::holds_alternative<gateway_event>(told(R"("livemode":true,)")));
  CAF_CHECK(is(told(R"("livemode":false,)"), webhook_error::foreign_event));
}

CAF_TEST(signed nonsense is an unknown event) {
  for (const auto* body : {"", "[]", "null", "not json", "{}", R"({"id":"evt_1"})",
                           R"({"type":"checkout.session.expired"})", R"({"id":"evt_1","type":7,"data":[]})"})
    CAF_CHECK(is(parse_signed(body), webhook_error::unknown_event));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace stripe_webhook_test
