// SPDX-License-Identifier: Apache-2.0
// Session tokens: made again identically, revoked by a new admission number, and refused in every other form.
#define CAF_SUITE session_token
#include "caf/test/unit_test.hpp"

#include "crypto/session_token.hpp"

using namespace fq;

namespace {

secret_key key_of(std::uint8_t fill) {
  std::array<std::uint8_t, secret_key::size> bytes;
  bytes.fill(fill);
  return secret_key{bytes};
}

const uuid entry{0x0190'0000'0000'7abcull, 0x8000'0004'0000'002aull};

} // namespace

CAF_TEST(the same admission gives the same token of the stated size) {
  const session_keys keys{key_of(1)};
  const auto token = make_session_token(keys, entry, 1);
  CAF_CHECK_EQUAL(token.size(), session_token_size);
  CAF_CHECK_EQUAL(token, make_session_token(session_keys{key_of(1)}, entry, 1));
  CAF_CHECK(session_token_entry(token) == entry);
  CAF_CHECK(session_token_matches(keys, token, entry, 1));
}

CAF_TEST(another admission another entry or another key does not match) {
  const session_keys keys{key_of(1)};
  const auto token = make_session_token(keys, entry, 1);
  CAF_CHECK(!session_token_matches(keys, token, entry, 2));
  CAF_CHECK(!session_token_matches(keys, token, uuid{entry.hi, entry.lo + 1}, 1));
  for (std::uint8_t other = 2; other < 200; ++other) // some of them share the name of key 1
    CAF_CHECK(!session_token_matches(session_keys{key_of(other)}, token, entry, 1));
}

CAF_TEST(an older key is accepted and no longer signs) {
  const auto old_token = make_session_token(session_keys{key_of(1)}, entry, 1);
  for (std::uint8_t current = 2; current < 200; ++current) {
    const session_keys rotated{std::vector{key_of(current), key_of(1)}};
    CAF_CHECK(session_token_matches(rotated, old_token, entry, 1));
    CAF_CHECK(make_session_token(rotated, entry, 1) != old_token);
  }
}

CAF_TEST(every single changed character is refused) {
  const session_keys keys{key_of(1)};
  const auto token = make_session_token(keys, entry, 7);
  for (std::size_t i = 0; i < token.size(); ++i)
    for (const char c : {'A', 'b', '0', '-', '.', '='}) {
      auto changed = token;
      if (changed[i] == c) continue;
      changed[i] = c;
      CAF_CHECK(!session_token_matches(keys, changed, entry, 7));
    }
}

CAF_TEST(text of another form names no entry) {
  const auto token = make_session_token(session_keys{key_of(1)}, entry, 1);
  auto upper = token;
  upper[14] = '7';
  upper[15] = 'A';
  for (const auto& text : {std::string{}, token + "A", token.substr(1), token.substr(0, 59), upper,
                           token.substr(0, 36) + "." + std::string(23, '+'),
                           token.substr(0, 36) + ":" + token.substr(37), std::string(60, 'a')})
    CAF_CHECK(!session_token_entry(text).has_value());
}
