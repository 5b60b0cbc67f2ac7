// SPDX-License-Identifier: Apache-2.0
// Pauses after wrong guesses, mails to one address, and the map that forgets the oldest.
#define CAF_SUITE domain_guesses
#include "domain/base/guesses.hpp"
#include "domain/base/recent_map.hpp"

#include "caf/test/unit_test.hpp"

namespace guesses_test {

using namespace fq;

namespace {

constexpr timestamp start = from_unix_ms(1'800'000'000'000);
constexpr guess_rule rule{3, milliseconds{1'000}, milliseconds{5'000}};

guess_count after(std::uint32_t wrong, timestamp at = start) { return {wrong, at}; }

} // namespace

CAF_TEST(pauses double from the free guesses on up to the longest) {
  CAF_CHECK_EQUAL(guess_pause(after(2), rule, start).count(), 0);
  CAF_CHECK_EQUAL(guess_pause(after(3), rule, start).count(), 1'000);
  CAF_CHECK_EQUAL(guess_pause(after(4), rule, start).count(), 2'000);
  CAF_CHECK_EQUAL(guess_pause(after(6), rule, start).count(), 5'000);
  CAF_CHECK_EQUAL(guess_pause(after(4'000'000'000), rule, start).count(), 5'000);
  CAF_CHECK_EQUAL(guess_pause(after(4), rule, start + milliseconds{1'500}).count(), 500);
  CAF_CHECK_EQUAL(guess_pause(after(4), rule, start + milliseconds{2'000}).count(), 0);
}

CAF_TEST(wrong guesses are forgotten after a day without one) {
  std::optional<guess_count> count;
  for (std::uint32_t i = 0; i < 4; ++i)
    count = with_wrong_guess(count, start + i * (guess_memory - seconds{1}));
  CAF_CHECK_EQUAL(count->wrong, 4u);
  CAF_CHECK_EQUAL(with_wrong_guess(count, count->last + guess_memory).wrong, 1u);
  CAF_CHECK_EQUAL(
    guess_pause(*count, {3, guess_memory * 2, guess_memory * 2}, count->last + guess_memory).count(), 0);
}

CAF_TEST(strangers have about two hundred guesses a day at one address) {
  std::optional<guess_count> count;
  std::uint32_t guesses = 0;
  for (auto now = start; now < start + guess_memory; now += seconds{1}) {
    if (count && guess_pause(*count, stranger_guesses, now).count() > 0) continue;
    for (int i = 0; i < 5; ++i, ++guesses) count = with_wrong_guess(count, now); // of one code
  }
  CAF_CHECK(guesses > 100 && guesses < 250);
}

CAF_TEST(an address gets a quota of mails at once and then one by one) {
  const mail_rule mails{3, milliseconds{3'000}};
  timestamp full_at = never;
  const auto wait = [&](timestamp now) {
    const auto verdict = next_mail(full_at, mails, now);
    if (verdict.wait.count() == 0) full_at = verdict.full_at;
    return verdict.wait.count();
  };
  for (int i = 0; i < 3; ++i) CAF_CHECK_EQUAL(wait(start), 0);
  CAF_CHECK_EQUAL(wait(start), 1'000);
  CAF_CHECK_EQUAL(wait(start + milliseconds{1'000}), 0);
  CAF_CHECK_EQUAL(wait(start + milliseconds{1'000}), 1'000);
  for (int i = 0; i < 3; ++i) CAF_CHECK_EQUAL(wait(start + seconds{60}), 0);
}

CAF_TEST(a recent map forgets the entry that was written longest ago) {
  recent_map<int, int> map{2};
  map.put(1, 10);
  map.put(2, 20);
  map.put(1, 11);
  map.put(3, 30);
  CAF_CHECK_EQUAL(map.size(), 2u);
  CAF_CHECK(map.find(2) == nullptr);
  CAF_CHECK_EQUAL(*map.find(1), 11);
  map.erase(1);
  map.erase(1);
  CAF_CHECK(map.find(1) == nullptr && map.size() == 1);
}

} // namespace guesses_test
