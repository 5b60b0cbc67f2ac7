// SPDX-License-Identifier: Apache-2.0
// Challenges are solved as ALTCHA's widget does it, and a solution counts at its own desk only.
#define CAF_SUITE challenge_desk
#include "caf/test/unit_test.hpp"

#include "crypto/challenge_desk.hpp"

#include <cstring>
#include <random>

using namespace fq;

namespace {

class seeded_environment final : public environment {
public:
  timestamp wall_now() override { return from_unix_ms(1'795'000'000'000); }
  milliseconds steady_now() override { return {}; }
  void random_bytes(std::span<std::byte> out) override {
    for (auto& b : out) b = static_cast<std::byte>(bits_());
  }

private:
  std::mt19937_64 bits_{7};
};

constexpr uuid client{1, 1};

std::optional<solved_challenge> solve(const opened_challenge& c, std::uint64_t& hashes) {
  for (std::uint64_t n = 0; n <= c.highest; ++n, ++hashes)
    if (puzzle_of(c.salt, n) == c.challenge) return solved_challenge{c.salt, n, c.signature};
  return std::nullopt;
}

} // namespace

CAF_TEST(a challenge is the hash of salt and number as in the protocol of ALTCHA) {
  // printf 'abc?expires=1&5' | sha256sum
  CAF_CHECK_EQUAL(puzzle_of("abc?expires=1&", 5),
                  "d14a5cfc0ea8a7ee9ff07cccf41593a62621c051a85f16a1a6ee0348d9c36146");
}

CAF_TEST(a solution counts until it is used and its work is what was expected) {
  seeded_environment env;
  challenge_desk desk{env};
  const auto now = env.wall_now();
  std::uint64_t hashes = 0;
  for (int i = 0; i < 20; ++i) {
    const auto opened = *desk.open(client, 0, now);
    const auto solved = solve(opened, hashes);
    CAF_REQUIRE(solved);
    const auto terms = desk.check(*solved, client, 0, now);
    CAF_REQUIRE(terms);
    desk.use(*terms, client, now);
    CAF_CHECK(!desk.check(*solved, client, 0, now));
  }
  const auto mean = hashes / 20;
  CAF_CHECK(mean > 15'000 / 2 && mean < 15'000 * 2);
}

CAF_TEST(nothing but the right number and signature counts) {
  seeded_environment env;
  challenge_desk desk{env};
  const auto now = env.wall_now();
  std::uint64_t hashes = 0;
  const auto solved = *solve(*desk.open(client, 0, now), hashes);
  auto wrong = solved;
  ++wrong.number;
  CAF_CHECK(!desk.check(wrong, client, 0, now));
  wrong = solved;
  wrong.signature[0] = wrong.signature[0] == '0' ? '1' : '0';
  CAF_CHECK(!desk.check(wrong, client, 0, now));
  wrong = solved;
  wrong.salt += "1"; // a digit moved from the number
  CAF_CHECK(!desk.check(wrong, client, 0, now));
  CAF_CHECK(!desk.check({}, client, 0, now));
  CAF_CHECK(desk.check(solved, client, 0, now));
}

CAF_TEST(another desk knows neither key nor challenge) {
  seeded_environment env;
  challenge_desk desk{env}, other{env};
  const auto now = env.wall_now();
  const auto passed = *desk.pass(now);
  CAF_REQUIRE(other.pass(now));
  CAF_CHECK(!other.check(passed, client, 0, now));
  CAF_CHECK(desk.check(passed, client, 0, now));
}
