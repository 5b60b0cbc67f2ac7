// SPDX-License-Identifier: Apache-2.0
// Signatures of webhooks against the vector of Standard Webhooks' own libraries, and derived secrets.
#define CAF_SUITE webhook_signature
#include "caf/test/unit_test.hpp"

#include "crypto/webhook_signature.hpp"

#include <set>

using namespace fq;

namespace {

// Of the test suites at github.com/standard-webhooks.
const std::string known_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr auto known_id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
constexpr std::int64_t known_time = 1614265330;
constexpr auto known_body = R"({"test": 2432232314})";
constexpr auto known_signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

std::optional<std::string> sign(const std::vector<std::string>& secrets) {
  return sign_webhook(secrets, known_id, known_time, known_body);
}

secret_key key_of(std::uint8_t byte) {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(byte);
  return secret_key{bytes};
}

} // namespace

CAF_TEST(a signature is the one that every library of standard webhooks makes) {
  CAF_CHECK_EQUAL(sign({known_secret}).value_or(""), known_signature);
  CAF_CHECK_NOT_EQUAL(sign_webhook({known_secret}, known_id, known_time + 1, known_body).value_or(""),
                      known_signature);
  CAF_CHECK_NOT_EQUAL(sign_webhook({known_secret}, "msg_other", known_time, known_body).value_or(""),
                      known_signature);
  CAF_CHECK_NOT_EQUAL(sign_webhook({known_secret}, known_id, known_time, "{}").value_or(""), known_signature);
}

CAF_TEST(each secret signs in its turn) {
  const auto other = webhook_secret(key_of(1), uuid{1, 2}, 1);
  const auto alone = sign({other}).value_or("");
  CAF_CHECK_NOT_EQUAL(alone, known_signature);
  CAF_CHECK_EQUAL(sign({other, known_secret}).value_or(""), alone + " " + known_signature);
  CAF_CHECK_EQUAL(sign({known_secret, other}).value_or(""), known_signature + (" " + alone));
}

CAF_TEST(what is no secret signs nothing) {
  CAF_CHECK(!sign({}));
  const auto shown = [](const std::string& secret) { return sign({secret}).has_value(); };
  CAF_CHECK(shown("whsec_" + std::string(86, 'A') + "==")); // 64 bytes
  for (const std::string& secret :
       {std::string{}, std::string{"whsec_"}, std::string{"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
        std::string{"WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
        std::string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS"},
        std::string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa=="}, // too short
        std::string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"},
        std::string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_"},
        std::string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS\xff"},
        std::string{"whsec_MfKQ 9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, "whsec_" + std::string(87, 'A') + "=",
        "whsec_" + std::string(100'000, 'A')})
    CAF_CHECK(!shown(secret));
  CAF_CHECK(!sign({known_secret, "whsec_"})); // not even by the good one: a receiver may know only the other
}

CAF_TEST(a derived secret follows from key endpoint and generation alone) {
  const uuid endpoint{0x0123456789abcdef, 0xfedcba9876543210};
  // HMAC-SHA256 with 32 bytes of 0x0b, by node's crypto.
  CAF_CHECK_EQUAL(webhook_secret(key_of(0x0b), endpoint, 7),
                  "whsec_XheyaSK68cdTImXqQNZ8W9Km8E/2QbvTvt5dOxhh7H0=");
  std::set<std::string> all;
  for (const std::uint8_t key : {1, 2})
    for (const uuid& id : {uuid{1, 2}, uuid{2, 1}, uuid{0, 0}})
      for (const std::uint32_t generation : {0u, 1u, 256u, 0xffff'ffffu})
        all.insert(webhook_secret(key_of(key), id, generation));
  CAF_CHECK_EQUAL(all.size(), 24u);
  for (const auto& secret : all) CAF_CHECK(sign({secret}).has_value());
}
