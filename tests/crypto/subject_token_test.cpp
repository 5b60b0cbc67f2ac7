// SPDX-License-Identifier: Apache-2.0
// Subject tokens and keys that are not base64url: cjose would end the process.
#define CAF_SUITE crypto_subject_token
#include "caf/test/unit_test.hpp"

#include "crypto/digest.hpp"
#include "crypto/subject_token.hpp"

#include <string>
#include <vector>

namespace subject_token_test {

using namespace fq;

namespace {

constexpr std::string_view jwk =
  R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
  R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})";

std::string part(std::string_view json) { return to_base64url(view_bytes(json)); }

} // namespace

CAF_TEST(a signature of an impossible length is refused) {
  const auto now = from_unix_ms(1'795'000'000'000);
  const auto signed_part =
    part(R"({"alg":"ES256"})") + '.' + part(R"({"sub":"ann","aud":"fairqueue","exp":1795000300})") + '.';
  const std::vector<std::string> signatures{
    "", "A", "AAAAA", "A=", "??", std::string(86, 'A'), std::string(85, 'A')};
  for (const auto& signature : signatures)
    CAF_CHECK(!verify_subject_token(signed_part + signature, jwk, now));
}

CAF_TEST(a key with numbers of an impossible length is no key) {
  CAF_CHECK_EQUAL(subject_key_problem(jwk), "");
  for (const std::string number : {"", "A", "AAAAA", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEUA="}) {
    CAF_CHECK(
      !subject_key_problem(R"({"kty":"EC","crv":"P-256","x":")" + number + R"(","y":"AAAA"})").empty());
    CAF_CHECK(
      !subject_key_problem(R"({"kty":"RSA","n":")" + std::string(344, 'A') + R"(","e":")" + number + "\"}")
         .empty());
  }
}

} // namespace subject_token_test
