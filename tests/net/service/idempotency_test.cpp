// SPDX-License-Identifier: Apache-2.0
// Idempotency-Key: syntax, scope of the hashes, keys in use.
#define CAF_SUITE routes_idempotency
#include "caf/test/unit_test.hpp"

#include "net/service/idempotency.hpp"
#include "tests/net/api/requests.hpp"

namespace idempotency_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

const uuid ada{1, 1}, bob{2, 2};

idempotency_header read(const uuid& who, std::string path, std::string body, text_fields fields) {
  const made_request made{method::post, std::move(path), std::move(body), std::move(fields)};
  return read_idempotency(made.rq, who);
}

idempotency_ref ref(const uuid& who, std::string path, std::string body, std::string key) {
  return read(who, std::move(path), std::move(body), {{"Idempotency-Key", std::move(key)}}).ref;
}

} // namespace

CAF_TEST(forms of a key) {
  CAF_CHECK_EQUAL(parse_idempotency_key("abc-123").value_or(""), "abc-123");
  CAF_CHECK_EQUAL(parse_idempotency_key("\"abc-123\"").value_or(""), "abc-123");
  CAF_CHECK_EQUAL(parse_idempotency_key(R"("a\"b\\c")").value_or(""), R"(a"b\c)");
  CAF_CHECK_EQUAL(parse_idempotency_key(std::string(255, 'x')).value_or("").size(), 255u);
  CAF_CHECK_EQUAL(parse_idempotency_key('"' + std::string(255, 'x') + '"').value_or("").size(), 255u);
  for (const auto& wrong :
       {std::string{}, std::string{"\"\""}, std::string{"\""}, std::string{"\"abc"}, std::string{"\"a\"b\""},
        std::string{"\"a\";x=1"}, std::string{"a b"}, std::string{"\"a b\""}, std::string{"\"a\\x\""},
        std::string{"\"a\\\""}, std::string{"a\tb"}, std::string{"\x7f"}, std::string{"\xc3\xa4"},
        std::string(256, 'x')})
    CAF_CHECK(!parse_idempotency_key(wrong));
}

CAF_TEST(no field is no key and a bad or repeated one is a problem) {
  CAF_CHECK(!read(ada, "/x", "", {}).ref.given);
  CAF_CHECK(!read(ada, "/x", "", {}).no);
  const auto bad = read(ada, "/x", "", {{"idempotency-key", "a b"}});
  CAF_REQUIRE(bad.no);
  CAF_CHECK_EQUAL(bad.no->status, 400u);
  CAF_CHECK_EQUAL(made::code_of(*bad.no), "invalid_idempotency_key");
  CAF_CHECK(read(ada, "/x", "", {{"Idempotency-Key", "a"}, {"Idempotency-Key", "a"}}).no);
  CAF_CHECK(read(ada, "/x", "", {{"Idempotency-Key", ""}}).no);
}

CAF_TEST(the hashes tell principals routes keys and bodies apart) {
  const auto base = ref(ada, "/claims/1/payments", "{}", "k");
  CAF_CHECK(base.given);
  CAF_CHECK(ref(ada, "/claims/1/payments", "{}", "\"k\"").key == base.key);
  CAF_CHECK(ref(bob, "/claims/1/payments", "{}", "k").key != base.key);
  CAF_CHECK(ref(ada, "/claims/2/payments", "{}", "k").key != base.key);
  CAF_CHECK(ref(ada, "/claims/1/payments", "{}", "K").key != base.key);
  CAF_CHECK(ref(ada, "/claims/1/payments", "{ }", "k").key == base.key);
  CAF_CHECK(ref(ada, "/claims/1/payments", "{ }", "k").body != base.body);
  CAF_CHECK(join_key_of(base) != 0);
  CAF_CHECK_EQUAL(join_key_of({}), 0u);
}

CAF_TEST(a key at work refuses its twin until it is done) {
  keys_in_flight keys;
  const auto k = ref(ada, "/x", "", "k"), other = ref(ada, "/x", "", "l");
  {
    keys_in_flight::hold first, second, third;
    CAF_CHECK(!keys.enter(k, "i", first));
    const auto no = keys.enter(k, "i", second);
    CAF_REQUIRE(no);
    CAF_CHECK_EQUAL(no->status, 409u);
    CAF_CHECK_EQUAL(made::code_of(*no), "idempotency_in_progress");
    CAF_CHECK(!keys.enter(other, "i", third));
  }
  keys_in_flight::hold again;
  CAF_CHECK(!keys.enter(k, "i", again));
}

CAF_TEST(the number of keys at work is bounded) {
  keys_in_flight keys;
  std::vector<keys_in_flight::hold> holds(keys_in_flight_max);
  for (std::size_t i = 0; i < keys_in_flight_max; ++i)
    CAF_REQUIRE(!keys.enter({true, {i, i}, {}}, "i", holds[i]));
  keys_in_flight::hold one_more;
  const auto no = keys.enter({true, {77, 1}, {}}, "i", one_more);
  CAF_REQUIRE(no);
  CAF_CHECK_EQUAL(no->status, 503u);
  CAF_CHECK(!keys.enter({}, "i", one_more));
}

} // namespace idempotency_test
