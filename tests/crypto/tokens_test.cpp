// SPDX-License-Identifier: Apache-2.0
// Bearer tokens: what we issue verifies as its own kind; everything else has a named refusal. Forged tokens
// are signed here with plain HMAC, so that a wrong claim is refused for the claim and not for its signature.
#define CAF_SUITE tokens
#include "caf/test/unit_test.hpp"

#include "crypto/tokens.hpp"
#include "tests/crypto/temp_folder.hpp"

#include <string>
#include <thread>
#include <vector>

using namespace fq;

namespace {

const uuid subject{0x0190'0000'0000'7abcull, 0x8000'0004'0000'002aull};
const timestamp now = from_unix_ms(1'800'000'000'123);

struct fixture {
  fq::test::temp_folder folder;
  key_store keys = key_store::open(folder.path(), now);
  token_issuer issuer{keys};
  token_verifier verifier{keys};

  std::string customer_token() const {
    return issuer.issue(token_kind::customer, subject, now, seconds{3600});
  }

  std::string header(const std::string& alg, const std::string& typ, const std::string& kid) const {
    return R"({"alg":")" + alg + R"(","typ":")" + typ + R"(","kid":")" + kid + R"("})";
  }
  std::string customer_header() const { return header("HS256", "fq-customer", keys.customer.front().kid); }

  static std::string sign_with(const signing_key& key, const std::string& header,
                               const std::string& payload) {
    const auto body = to_base64url(view_bytes(header)) + "." + to_base64url(view_bytes(payload));
    return body + "." + to_base64url(hmac_sha256(key.secret.bytes(), body));
  }
  token_error customer_with(const std::string& payload) const {
    return verifier.verify(sign_with(keys.customer.front(), customer_header(), payload), now).error;
  }
  token_error with_header(const std::string& header) const {
    return verifier.verify(sign_with(keys.customer.front(), header, good_payload()), now).error;
  }
  static std::string good_payload() {
    return R"({"iss":"fairqueue","aud":"fq-customer","sub":")" + to_string(subject)
           + R"(","iat":1800000000,"exp":1800003600})";
  }
  static std::string with(const std::string& from, const std::string& to) {
    auto text = good_payload();
    return text.replace(text.find(from), from.size(), to);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(token_tests, fixture)

CAF_TEST(a token verifies as the kind it was issued for) {
  for (const auto kind : all_token_kinds) {
    const auto result = verifier.verify(issuer.issue(kind, subject, now, seconds{60}), now);
    CAF_REQUIRE(static_cast<bool>(result));
    CAF_CHECK(result.claims.kind == kind);
    CAF_CHECK(result.claims.subject == subject);
    CAF_CHECK_EQUAL(unix_ms(result.claims.issued_at), 1'800'000'000'000);
    CAF_CHECK_EQUAL(unix_ms(result.claims.expires_at), 1'800'000'060'000);
  }
}

CAF_TEST(a token of an organizer may name its sign-in and no other kind may) {
  const uuid session{7, 0x8000'0000'0000'0007};
  const auto verified = [&](token_kind kind) {
    return verifier.verify(issuer.issue(kind, subject, now, seconds{60}, session), now);
  };
  CAF_CHECK(verified(token_kind::organizer).error == token_error::none);
  CAF_CHECK(verified(token_kind::organizer).claims.session == session);
  for (const auto kind : {token_kind::customer, token_kind::ticket, token_kind::operate, token_kind::guest})
    CAF_CHECK(verified(kind).error == token_error::bad_claims);
  CAF_CHECK(verifier.verify(customer_token(), now).claims.session.is_nil());
}

CAF_TEST(our form of token signed elsewhere verifies in any order of claims) {
  CAF_CHECK(customer_with(good_payload()) == token_error::none);
  CAF_CHECK(customer_with(R"({"exp":1800003600,"sub":")" + to_string(subject)
                          + R"(","iat":1800000000,"aud":"fq-customer","iss":"fairqueue"})")
            == token_error::none);
}

CAF_TEST(time is checked with sixty seconds of tolerance and a clock that went back ends nothing) {
  const auto token = customer_token();
  const auto at = [&](std::int64_t unix_s) {
    return verifier.verify(token, timestamp{seconds{unix_s}}).error;
  };
  CAF_CHECK(at(1'800'000'000 - 3600) == token_error::none);
  CAF_CHECK(at(1'800'003'600 + 59) == token_error::none);
  CAF_CHECK(at(1'800'003'600 + 60) == token_error::expired);
}

CAF_TEST(a header that is not exactly ours is refused) {
  const auto& kid = keys.customer.front().kid;
  for (const auto& header :
       {header("none", "fq-customer", kid), header("HS512", "fq-customer", kid),
        header("RS256", "fq-customer", kid), header("hs256", "fq-customer", kid), header("HS256", "JWT", kid),
        header("HS256", "fq-organizer", kid), header("HS256", "fq-customer", keys.organizer.front().kid),
        header("HS256", "fq-customer", "x"), std::string{"{}"},
        R"({"alg":"HS256","typ":"fq-customer","kid":")" + kid + R"(","crit":["exp"]})",
        R"({"alg":"HS256","alg":"HS256","typ":"fq-customer","kid":")" + kid + R"("})"})
    CAF_CHECK(with_header(header) == token_error::unknown_header);
}

CAF_TEST(a token under the key or the audience of another kind is refused) {
  CAF_CHECK(verifier.verify(sign_with(keys.organizer.front(), customer_header(), good_payload()), now).error
            == token_error::bad_signature);
  CAF_CHECK(verifier
              .verify(sign_with(keys.organizer.front(),
                                header("HS256", "fq-organizer", keys.organizer.front().kid), good_payload()),
                      now)
              .error
            == token_error::bad_claims);
}

CAF_TEST(claims that are not exactly ours are refused) {
  CAF_CHECK(customer_with(with("fairqueue", "someone")) == token_error::bad_claims);
  CAF_CHECK(customer_with(with("fq-customer", "fq-organizer")) == token_error::bad_claims);
  CAF_CHECK(customer_with(with(to_string(subject), "alice")) == token_error::bad_claims);
  CAF_CHECK(customer_with(with("1800003600", "1800000000")) == token_error::bad_claims);
  for (const auto& payload : {
         std::string{},
         std::string{"{}"},
         std::string{"[]"},
         good_payload() + " ",
         good_payload().insert(0, 1, ' '),
         good_payload() + "}",
         with(R"("exp":1800003600)", R"("exp":"1800003600")"),
         with("1800003600", "1800003600.5"),
         with("1800003600", "-1"),
         with("1800003600", "01800003600"),
         with("1800003600", "1e12"),
         with("1800003600", "99999999999999999999"),
         with(R"(,"exp":1800003600)", ""),
         with(R"("iat":1800000000,)", ""),
         with(R"("iss":"fairqueue",)", ""),
         with(R"("exp":)", R"("exp":1800003600,"exp":)"),
         with(R"("iss":)", R"("iss":"fairqueue","iss":)"),
         with(R"("iss":)", R"("admin":"yes","iss":)"),
         with(R"("iat")", R"("\u0069at")"),
         with("fairqueue", "fair\\u0071ueue"),
         with(R"(":"fairq)", R"(": "fairq)"),
         with(R"("iss":"fairqueue")", R"("iss":"")"),
         good_payload().substr(0, 40),
       }) {
    const auto error = customer_with(payload);
    CAF_CHECK(error == token_error::malformed || error == token_error::bad_claims);
  }
}

CAF_TEST(text that is no token is malformed) {
  const auto token = customer_token();
  for (const auto& text :
       {std::string{}, std::string{"."}, std::string{".."}, std::string{"a.b.c"}, token + ".", token + "A",
        token + "=", std::string{"."}.append(token), token.substr(0, token.size() - 1), token + "." + token,
        token.substr(0, token.rfind('.') + 1), std::string(300, '.')})
    CAF_CHECK(!verifier.verify(text, now));
  CAF_CHECK(verifier.verify(std::string(token_bytes_max + 1, 'a'), now).error == token_error::too_long);
}

CAF_TEST(every single changed character is refused) {
  const auto token = customer_token();
  for (std::size_t i = 0; i < token.size(); ++i) {
    auto changed = token;
    changed[i] = changed[i] == 'A' ? 'Q' : 'A';
    CAF_CHECK(!verifier.verify(changed, now));
  }
}

CAF_TEST(keys of another installation sign nothing here) {
  const fq::test::temp_folder elsewhere;
  const token_issuer stranger{key_store::open(elsewhere.path(), now)};
  CAF_CHECK(verifier.verify(stranger.issue(token_kind::customer, subject, now, seconds{60}), now).error
            == token_error::unknown_header);
}

CAF_TEST(a guest token does not pass as a customer token although their keys are related) {
  const auto token = issuer.issue(token_kind::guest, subject, now, seconds{60});
  const auto point = token.find('.');
  const auto customers = customer_token();
  const auto disguised = customers.substr(0, customers.find('.')) + token.substr(point);
  CAF_CHECK(verifier.verify(disguised, now).error != token_error::none);
  rotate_key(folder.path(), "customer", now, now, {}, older_keys::end);
  verifier.renew(key_store::open(folder.path(), now));
  CAF_CHECK(verifier.verify(token, now).error == token_error::unknown_header);
}

CAF_TEST(tokens verify under every valid key and under no ended one) {
  for (const auto kind : all_token_kinds) {
    if (kind == token_kind::guest) continue; // of keys that are derived from the customers'
    const auto name = to_string(kind);
    const auto old = issuer.issue(kind, subject, now, seconds{3600});
    rotate_key(folder.path(), name, now, now + key_delay, {}, older_keys::verify);
    const auto both = key_store::open(folder.path(), now);
    verifier.renew(both);
    issuer.renew(both);
    CAF_CHECK_EQUAL(issuer.issue(kind, subject, now, seconds{3600}), old); // the new key only verifies
    const token_issuer of_later{key_store::open(folder.path(), now + key_delay)};
    const auto fresh = of_later.issue(kind, subject, now, seconds{3600});
    CAF_CHECK(fresh != old);
    CAF_CHECK(static_cast<bool>(verifier.verify(fresh, now)));
    CAF_CHECK(static_cast<bool>(verifier.verify(old, now)));
    rotate_key(folder.path(), name, now, now, {}, older_keys::end);
    verifier.renew(key_store::open(folder.path(), now));
    CAF_CHECK(verifier.verify(old, now).error == token_error::unknown_header);
    CAF_CHECK(verifier.verify(fresh, now).error == token_error::unknown_header);
  }
}

CAF_TEST(threads share an issuer and a verifier) {
  std::array<int, 4> verified{};
  std::vector<std::thread> threads;
  for (auto& count : verified)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) count += verifier.verify(customer_token(), now) ? 1 : 0;
    });
  for (auto& t : threads) t.join();
  for (const auto count : verified) CAF_CHECK_EQUAL(count, 500);
}

CAF_TEST_FIXTURE_SCOPE_END()
