// SPDX-License-Identifier: Apache-2.0
// Challenges of an event: its owner opens them, takes each once, and none of an earlier owner.
#define CAF_SUITE challenges
#include "tests/actors/sale/event_fixture.hpp"

#include "domain/base/guesses.hpp"

namespace challenges_test {

using namespace fq;
using namespace fq::test;

namespace {

/// As the widget does.
solved_challenge solve(const opened_challenge& c) {
  for (std::uint64_t n = 0; n <= c.highest; ++n)
    if (puzzle_of(c.salt, n) == c.challenge) return {c.salt, n, c.signature};
  return {};
}

struct challenge_fixture : event_fixture {
  void start_with(challenge_kind kind) {
    start(10);
    event.challenge = kind;
    const auto earlier = store.acquire_unleased(event.aggregate, never);
    batch b{event.aggregate,          earlier->epoch, earlier->applied_seq,
            earlier->applied_seq + 1, env.wall_now(), {}};
    b.content.emplace_back(event_changed{event.status, event});
    CAF_REQUIRE(store.commit(std::span{&b, 1})[0] == commit_outcome::committed);
    replace();
  }
  void replace() {
    kill(owner);
    own();
  }
  challenge_reply open(challenge_way way = challenge_way::work) {
    auto got = ask<challenge_reply>(owner, open_challenge{event.id, event_kind::sale, {1, 1}, way});
    run();
    CAF_REQUIRE(got->ok);
    return got->value;
  }
  entry_reply join_with(std::uint64_t n, const solved_challenge& solved, bool is_trusted = false) {
    join j{event.id, customer(n)};
    j.client = {1, 1};
    j.solved = solved;
    j.is_trusted = is_trusted;
    auto got = ask<entry_reply>(owner, std::move(j));
    run();
    CAF_REQUIRE(got->ok);
    return got->value;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(challenges_tests, challenge_fixture)

CAF_TEST(a new place takes a solved challenge once) {
  start_with(challenge_kind::proof_of_work);
  CAF_CHECK(join_with(1, {}).no.why == reason::challenge_required);
  const auto opened = open();
  CAF_CHECK(opened.kind == challenge_kind::proof_of_work);
  const auto solved = solve(opened.opened);
  CAF_CHECK(join_with(1, solved).created);
  CAF_CHECK(!join_with(1, solved).no); // the place is there
  CAF_CHECK(join_with(2, solved).no.why == reason::challenge_required);
  CAF_CHECK(join_with(2, {}, true).created);
}

CAF_TEST(a challenge ends after five minutes and with its owner) {
  start_with(challenge_kind::proof_of_work);
  const auto late = solve(open().opened);
  advance(5min);
  CAF_CHECK(join_with(1, late).no.why == reason::challenge_required);
  const auto kept = solve(open().opened), used = solve(open().opened);
  CAF_CHECK(join_with(1, used).created);
  replace();
  CAF_CHECK(join_with(2, used).no.why == reason::challenge_required);
  CAF_CHECK(join_with(2, kept).no.why == reason::challenge_required);
  CAF_CHECK(join_with(2, solve(open().opened)).created);
}

CAF_TEST(captchas and mails count as solved and an address gets few mails) {
  start_with(challenge_kind::turnstile);
  CAF_CHECK(open().opened.salt.empty()); // no work is accepted instead
  CAF_CHECK(join_with(1, open(challenge_way::captcha).solved).created);
  CAF_CHECK(join_with(2, open(challenge_way::mail).solved).created);
  for (std::uint32_t n = 1; n < challenge_mails.quota; ++n) CAF_CHECK(!open(challenge_way::mail).no);
  CAF_CHECK(open(challenge_way::mail).no.why == reason::rate_limited);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace challenges_test
