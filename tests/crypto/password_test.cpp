// SPDX-License-Identifier: Apache-2.0
// Passwords: the right one and no other; an unknown user costs as much as a known one.
#define CAF_SUITE password
#include "caf/test/unit_test.hpp"

#include "crypto/password.hpp"

#include <stdexcept>

using namespace fq;

CAF_TEST(only the password itself verifies) {
  const auto stored = hash_password("correct horse");
  CAF_CHECK_EQUAL(stored.substr(0, 10), "$argon2id$");
  CAF_CHECK(verify_password(stored, "correct horse"));
  CAF_CHECK(!verify_password(stored, "correct horse "));
  CAF_CHECK(!verify_password("not a hash", "correct horse"));
}

CAF_TEST(the same password is stored differently every time) {
  CAF_CHECK(hash_password("x") != hash_password("x"));
}

CAF_TEST(too long passwords are refused before any work) {
  const std::string long_one(password_bytes_max + 1, 'a');
  bool refused = false;
  try {
    static_cast<void>(hash_password(long_one));
  } catch (const std::invalid_argument&) { refused = true; }
  CAF_CHECK(refused);
  CAF_CHECK(!verify_password("x", long_one));
}

CAF_TEST(an unknown user is refused at the same cost) {
  CAF_CHECK(!verify_absent_user("anything"));
  CAF_CHECK(absent_user_costs_the_same());
}
