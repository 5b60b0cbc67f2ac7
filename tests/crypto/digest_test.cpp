// SPDX-License-Identifier: Apache-2.0
// Digests against published vectors; encodings are bijections on what they accept.
#define CAF_SUITE digest
#include "caf/test/unit_test.hpp"

#include "crypto/digest.hpp"
#include "crypto/random.hpp"

#include <string>
#include <thread>

using namespace fq;

namespace {

std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

std::vector<std::uint8_t> random_vector(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  fill_random(std::as_writable_bytes(std::span{bytes}));
  return bytes;
}

} // namespace

CAF_TEST(sha256 gives the digest of FIPS 180) {
  CAF_CHECK_EQUAL(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CAF_CHECK_EQUAL(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

CAF_TEST(hmac gives the vectors of RFC 4231 prepared or unprepared) {
  const std::string key(20, '\x0b');
  const auto* expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
  CAF_CHECK_EQUAL(to_hex(hmac_sha256(view_bytes(key), "Hi There")), expected);
  const hmac_sha256_key prepared{view_bytes(key)};
  CAF_CHECK_EQUAL(to_hex(prepared(std::string_view{"Hi There"})), expected);
  CAF_CHECK_EQUAL(to_hex(prepared(std::string_view{"Hi There"})), expected);
  CAF_CHECK_EQUAL(to_hex(hmac_sha256(view_bytes("Jefe"), "what do ya want for nothing?")),
                  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

CAF_TEST(hmac with sha512 gives the vectors of RFC 4231) {
  CAF_CHECK_EQUAL(to_hex(hmac_sha512(view_bytes(std::string(20, '\x0b')), "Hi There")),
                  "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
                  "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854");
  CAF_CHECK_EQUAL(to_hex(hmac_sha512(view_bytes("Jefe"), "what do ya want for nothing?")),
                  "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                  "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737");
  CAF_CHECK_EQUAL(to_hex(hmac_sha512(view_bytes(std::string(131, '\xaa')), // longer than a block
                                     "Test Using Larger Than Block-Size Key - Hash Key First")),
                  "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
                  "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598");
}

CAF_TEST(many prepared keys on many threads never mix) {
  std::vector<std::string> keys;
  std::vector<hmac_sha256_key> prepared;
  std::vector<std::string> expected;
  for (int i = 0; i < 9; ++i) {
    keys.push_back("key number " + std::to_string(i));
    prepared.emplace_back(view_bytes(keys.back()));
    expected.push_back(to_hex(hmac_sha256(view_bytes(keys.back()), "message")));
  }
  std::array<int, 3> wrong{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::size_t round = 0; round < 500; ++round) {
        const auto i = (round * (t + 1)) % keys.size();
        if (to_hex(prepared[i](std::string_view{"message"})) != expected[i]) ++wrong[t];
      }
    });
  for (auto& t : threads) t.join();
  CAF_CHECK_EQUAL(wrong[0] + wrong[1] + wrong[2], 0);
}

CAF_TEST(an empty key is a key) {
  CAF_CHECK_EQUAL(to_hex(hmac_sha256({}, "")),
                  "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

CAF_TEST(base64url round trips every length) {
  for (std::size_t size = 0; size < 70; ++size) {
    const auto bytes = random_vector(size);
    const auto text = to_base64url(bytes);
    const auto back = from_base64url(text);
    CAF_REQUIRE(back.has_value());
    CAF_CHECK(*back == bytes);
  }
  CAF_CHECK_EQUAL(to_base64url(view_bytes("\xfb\xff\xfe")), "-__-");
}

CAF_TEST(base64url refuses everything that is not canonical) {
  for (const auto* text :
       {"A", "AAAAA", "AA==", "AAA=", "AA A", "AA\n", "AA+A", "AA/A", "AB", "AAB", "A\xc3\xa4"})
    CAF_CHECK(!from_base64url(text).has_value());
  CAF_CHECK(!from_base64url(std::string_view{"AA\0A", 4}).has_value());
  std::array<std::uint8_t, 2> small{};
  CAF_CHECK(!from_base64url("AAAA", small).has_value());
  CAF_CHECK(from_base64url("AAA", small).has_value());
}

CAF_TEST(hex round trips and refuses other text) {
  CAF_CHECK_EQUAL(text_of(*from_hex("48690A")), "Hi\n");
  CAF_CHECK_EQUAL(to_hex(view_bytes("Hi\n")), "48690a");
  for (const auto* text : {"4", "4g", "0x48", " 48"}) CAF_CHECK(!from_hex(text).has_value());
  const auto digest = sha256("abc");
  CAF_CHECK(digest_of_hex(to_hex(digest)) == digest);
  for (const auto& text : {to_hex(digest).substr(2), to_hex(digest) + "00", std::string(64, 'g')})
    CAF_CHECK(digest_of_hex(text) == sha256_digest{});
}

CAF_TEST(comparison of secrets sees content and length) {
  CAF_CHECK(constant_time_equal(std::string_view{"same"}, std::string_view{"same"}));
  CAF_CHECK(!constant_time_equal(std::string_view{"same"}, std::string_view{"sane"}));
  CAF_CHECK(!constant_time_equal(std::string_view{"same"}, std::string_view{"same "}));
}

CAF_TEST(a keyed hash depends on key and message) {
  const auto key = random_vector(32);
  const auto other_key = random_vector(32);
  CAF_CHECK(keyed_hash_128(key, "a@b.example") == keyed_hash_128(key, "a@b.example"));
  CAF_CHECK(keyed_hash_128(key, "a@b.example") != keyed_hash_128(key, "b@b.example"));
  CAF_CHECK(keyed_hash_128(key, "a@b.example") != keyed_hash_128(other_key, "a@b.example"));
}
