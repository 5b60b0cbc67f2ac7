// SPDX-License-Identifier: Apache-2.0
// Challenges: what they cost, that each has one text and counts once, and when they end.
#define CAF_SUITE challenge
#include "caf/test/unit_test.hpp"

#include "domain/base/challenge.hpp"
#include "domain/base/limits.hpp"

#include <vector>

namespace challenge_test {

using namespace fq;

namespace {

const timestamp start = from_unix_ms(1'795'000'000'123);
constexpr uuid home{1, 1}, farm{2, 2};

/// Hashes that are expected until `terms` is solved.
std::uint64_t expected_hashes(const challenge_terms& terms) { return terms.highest / 2; }

/// One join after the other, each with a challenge that is opened as early as it is accepted.
std::uint64_t cost_of_joins(std::uint64_t joins, std::uint64_t of_all) {
  challenge_book book;
  std::uint64_t cost = 0;
  auto now = start;
  for (std::uint64_t n = 0; n < joins; ++n, now += milliseconds{100}) {
    const auto terms = *book.open(farm, of_all, n, now);
    // The least that is still accepted was opened when the address had used half as much.
    cost += std::max(terms.highest / 2, highest_number(0, of_all)) / 2;
    book.use(terms, farm, now);
  }
  return cost;
}

} // namespace

CAF_TEST(the first joins of an address cost the same and later ones ever more) {
  CAF_CHECK_EQUAL(highest_number(0, 0), challenge_base);
  CAF_CHECK_EQUAL(highest_number(challenge_free_joins, 0), challenge_base);
  CAF_CHECK_EQUAL(highest_number(2'000, 0), challenge_base * 100);
  CAF_CHECK_EQUAL(highest_number(0, 100'000), challenge_base * 2);
  CAF_CHECK_EQUAL(highest_number(0, 1'000'000), challenge_base * 3);
  for (std::uint64_t n = 1; n < 100'000; ++n) CAF_REQUIRE(highest_number(n, 0) >= highest_number(n - 1, 0));
  CAF_CHECK_EQUAL(highest_number(~0ull, 0), highest_number(challenge_client_joins_max, 0));
}

CAF_TEST(each of ten thousand joins of one address costs a hundred times as much as the join of a fan) {
  for (const std::uint64_t of_all : {0, 100'000, 1'000'000}) {
    challenge_book book;
    const auto one = expected_hashes(*book.open(home, of_all, 0, start));
    CAF_CHECK(cost_of_joins(10'000, of_all) / 10'000 >= 100 * one);
  }
}

CAF_TEST(a challenge has one text) {
  const challenge_terms terms{0xabc, 1'795'000'300, 17, 30'000};
  const auto salt = salt_of(terms);
  CAF_CHECK_EQUAL(salt, "0000000000000abc?expires=1795000300&n=17&max=30000&");
  CAF_CHECK(read_salt(salt) == terms);
  for (const auto* other :
       {"", "abc?expires=1795000300&n=17&max=30000&", "0000000000000abc?expires=1795000300&n=17&max=30000",
        "0000000000000abc?expires=1795000300&n=17&max=30000&1",
        "0000000000000ABC?expires=1795000300&n=17&max=30000&",
        "0000000000000abc?expires=+1795000300&n=17&max=30000&", "0000000000000abc?n=17&max=30000&",
        "0000000000000abc?expires=1795000300&n=017&max=30000&"})
    CAF_CHECK(!read_salt(other));
}

CAF_TEST(a challenge counts once) {
  challenge_book book;
  const auto first = *book.open(home, 0, 1, start), second = *book.open(home, 0, 2, start);
  CAF_CHECK(book.accepts(first, home, 0, start));
  book.use(first, home, start);
  CAF_CHECK(!book.accepts(first, home, 0, start));
  CAF_CHECK(book.accepts(second, home, 0, start));
}

CAF_TEST(a challenge ends after five minutes and its memory with it) {
  challenge_book book;
  for (std::uint64_t n = 0; n < 1'000; ++n) CAF_REQUIRE(book.open(home, 0, n, start));
  CAF_CHECK_EQUAL(book.open_count(), 1'000u);
  const auto terms = *book.open(home, 0, 7, start);
  CAF_CHECK(book.accepts(terms, home, 0, start + challenge_life - milliseconds{1'000}));
  CAF_CHECK(!book.accepts(terms, home, 0, start + challenge_life));
  const auto later = start + challenge_life;
  const auto next = *book.open(home, 0, 8, later);
  CAF_CHECK_EQUAL(book.open_count(), 1u);
  CAF_CHECK(!book.accepts(terms, home, 0, later));
  CAF_CHECK(book.accepts(next, home, 0, later));
}

CAF_TEST(a challenge that was never opened does not count) {
  challenge_book book;
  auto terms = *book.open(home, 0, 1, start);
  terms.serial = 1;
  CAF_CHECK(!book.accepts(terms, home, 0, start));
  terms.serial = ~0ull;
  CAF_CHECK(!book.accepts(terms, home, 0, start));
}

CAF_TEST(challenges that were opened early do not stay cheap) {
  challenge_book book;
  std::vector<challenge_terms> hoard;
  for (std::uint64_t n = 0; n < 200; ++n) hoard.push_back(*book.open(farm, 0, n, start));
  std::uint64_t joined = 0;
  for (const auto& terms : hoard) {
    if (!book.accepts(terms, farm, 0, start)) continue;
    book.use(terms, farm, start);
    ++joined;
  }
  CAF_CHECK(joined < 3 * challenge_free_joins);
  CAF_CHECK(book.accepts(*book.open(farm, 0, 1, start), farm, 0, start));
  CAF_CHECK(book.accepts(*book.open(home, 0, 1, start), home, 0, start));
}

CAF_TEST(an address is forgotten after a day) {
  challenge_book book;
  for (std::uint64_t n = 0; n < 100; ++n) book.use(*book.open(farm, 0, n, start), farm, start);
  CAF_CHECK(book.open(farm, 0, 0, start)->highest > challenge_base);
  const auto later = *book.open(farm, 0, 0, start + challenge_memory);
  CAF_CHECK_EQUAL(later.highest, challenge_base);
}

CAF_TEST(a crowd of other addresses does not make an address with many joins forgotten) {
  challenge_book book;
  for (std::uint64_t n = 0; n < 2'000; ++n) book.use(*book.open(farm, 0, n, start), farm, start);
  const auto price = book.open(farm, 0, 0, start)->highest;
  for (std::uint64_t n = 0; n < 2 * challenge_clients_max; ++n) {
    const uuid other{3, n};
    book.use(*book.open(other, 0, n, start), other, start);
  }
  CAF_CHECK_EQUAL(book.open(farm, 0, 0, start)->highest, price);
}

CAF_TEST(an address gets a few challenges by mail an hour) {
  challenge_book book;
  int mails = 0;
  for (int n = 0; n < 100; ++n) mails += book.may_mail(home, start) ? 1 : 0;
  CAF_CHECK_EQUAL(mails, 20);
  CAF_CHECK(book.may_mail(farm, start));
  CAF_CHECK(book.may_mail(home, start + milliseconds{60 * 60 * 1000}));
  const auto passed = *book.pass(1, start);
  CAF_CHECK_EQUAL(passed.highest, 0u);
  CAF_CHECK(book.accepts(passed, home, 1'000'000, start));
}

} // namespace challenge_test
