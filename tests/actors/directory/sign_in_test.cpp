// SPDX-License-Identifier: Apache-2.0
// Sign-in: organizers' sessions and reserved password checks; codes, strangers and wrong guesses.
#define CAF_SUITE sign_in
#include "tests/actors/directory/globals_fixture.hpp"

#include <set>

namespace sign_in_test {

using namespace fq;
using namespace fq::test;

CAF_TEST_FIXTURE_SCOPE(sign_in_tests, globals_fixture)

CAF_TEST(a reset password ends all sign-ins and an organizer is signed out or removed) {
  const auto log_in_as = [&](const std::string& password) {
    return person(log_in{"o@example.com", password});
  };
  const auto sessions = [&](const organizer_id& who) {
    auto listed = ask<organizer_sessions_reply>(people, list_organizer_sessions{who});
    run();
    CAF_REQUIRE(listed->ok);
    return listed->value.sessions;
  };
  const auto told = [&](auto message) {
    auto done = ask<ack_reply>(people, std::move(message));
    run();
    CAF_REQUIRE(done->ok);
    return done->value.no.why;
  };
  const auto ended = [&] { return store.directory().ended_sessions.size(); };
  const auto who = person(add_organizer{"o@example.com", "secret", false}).person;
  const auto first = log_in_as("secret"), second = log_in_as("secret");
  CAF_CHECK(first.session != second.session);
  CAF_CHECK_EQUAL(sessions(who).size(), 2u);
  CAF_CHECK(told(end_organizer_session{{1, 2}, first.session}) == reason::not_found);
  CAF_CHECK(told(end_organizer_session{who, first.session}) == reason::none);
  CAF_CHECK_EQUAL(sessions(who).size(), 1u);
  CAF_CHECK(store.directory().ended_sessions == std::vector{first.session});
  const auto before = env.wall_now();
  person(add_organizer{"o@example.com", "other", true});
  CAF_CHECK(sessions(who).empty());
  CAF_CHECK_EQUAL(ended(), 2u); // until their tokens expire
  CAF_CHECK(store.directory().organizers.at(0).tokens_not_before >= before);
  reload(accounts_aggregate);
  const auto third = log_in_as("other");
  CAF_CHECK(third.not_before == store.directory().organizers.at(0).tokens_not_before);
  CAF_CHECK(told(sign_organizer_out{"o@example.com", false}) == reason::none);
  CAF_CHECK(sessions(who).empty());
  CAF_CHECK_EQUAL(ended(), 3u);
  CAF_CHECK(told(sign_organizer_out{"o@example.com", true}) == reason::none);
  CAF_CHECK(store.directory().organizers.empty());
  CAF_CHECK_EQUAL(ended(), 0u);
  CAF_CHECK(log_in_as("other").no.why == reason::invalid_credentials);
  CAF_CHECK(told(sign_organizer_out{"o@example.com", true}) == reason::not_found);
}

CAF_TEST(a code takes a solved challenge if the installation asks for one) {
  services.code_challenge = challenge_kind::proof_of_work;
  const auto request_with = [&](const solved_challenge& solved, bool may_work = true) {
    request_otp x{"fan@example.com", {1, 1}, "handle", {}, {}, language::en, solved, may_work};
    auto asked = ask<ack_reply>(people, std::move(x));
    run();
    CAF_REQUIRE(asked->ok);
    return asked->value.no.why;
  };
  CAF_CHECK(request_with({}) == reason::challenge_required);
  auto opened = ask<challenge_reply>(people, open_code_challenge{{1, 1}, challenge_way::work});
  run();
  CAF_REQUIRE(opened->ok);
  const auto& c = opened->value.opened;
  solved_challenge solved{c.salt, 0, c.signature};
  while (puzzle_of(c.salt, solved.number) != c.challenge) ++solved.number;
  CAF_CHECK(request_with(solved) == reason::none);
  CAF_CHECK(request_with(solved) == reason::challenge_required);
  CAF_CHECK(request_with({}, false) == reason::none); // a page without a script
}

CAF_TEST(a link that counts as solved goes to the address) {
  auto sent = ask<ack_reply>(
    people,
    mail_challenge{"fan@example.com", {1, 1}, "https://x.example/wait/1?solved=abc", "Derby", language::fr});
  run();
  CAF_REQUIRE(sent->ok && !sent->value.no);
  CAF_CHECK_EQUAL(mails->back().to, "fan@example.com");
  CAF_CHECK(mails->back().body.find("https://x.example/wait/1?solved=abc") != std::string::npos);
  CAF_CHECK(mails->back().subject.find("Votre lien") == 0);
}

CAF_TEST(all addresses of a mailbox are one customer if the installation says so) {
  request("a.da@gmail.com");
  const auto apart = enter("a.da@gmail.com", code()).person;
  request("ada@gmail.com");
  CAF_CHECK(enter("ada@gmail.com", code()).person != apart);
  services.customers = std::make_shared<customer_book>(true);
  reload(accounts_aggregate);
  request("ada+fan@googlemail.com");
  CAF_CHECK(enter("ada+fan@googlemail.com", code()).person == apart); // the older account
  request("new.fan@gmail.com");
  const auto fresh = enter("new.fan@gmail.com", code()).person;
  request("newfan+2@gmail.com");
  CAF_CHECK(enter("newfan+2@gmail.com", code()).person == fresh);
}

CAF_TEST(the list of sign-ins is bounded and forgets expired ones) {
  services.bounds.sessions = 3;
  const auto who = person(add_organizer{"o@example.com", "secret", false}).person;
  for (int i = 0; i < 5; ++i) person(log_in{"o@example.com", "secret"});
  CAF_CHECK_EQUAL(store.committed(accounts_aggregate)->organizer_sessions.size(), 3u);
  advance(25h);
  const auto now = person(log_in{"o@example.com", "secret"});
  const auto& rows = store.committed(accounts_aggregate)->organizer_sessions;
  CAF_REQUIRE_EQUAL(rows.size(), 1u);
  CAF_CHECK(rows[0].id == now.session && rows[0].organizer == who);
}

CAF_TEST(strangers leave password checks to a client that has signed in before) {
  services.bounds.password_calls = 4;
  person(add_organizer{"o@example.com", "secret", false});
  log_in mine{"o@example.com", "secret", {1, 1}};
  person(mine);
  std::vector<std::shared_ptr<answer<person_reply>>> strangers;
  for (int i = 0; i < 4; ++i)
    strangers.push_back(ask<person_reply>(people, log_in{"o@example.com", "x", {6, 6}}));
  auto own = ask<person_reply>(people, mine);
  run_without(services.passwords);
  run();
  CAF_CHECK(strangers.back()->unavailable());
  CAF_REQUIRE(own->ok);
  CAF_CHECK(!own->value.no);
}

CAF_TEST(a code survives a reload and ends with its life or with five wrong guesses) {
  request("a@example.com", "of a");
  const auto a = code();
  const auto wrong = wrong_code();
  request("b@example.com", "of b");
  const auto b = code();
  reload(accounts_aggregate);
  for (int i = 0; i < 5; ++i) CAF_CHECK(enter("a@example.com", wrong, "of a").no.why == reason::invalid_otp);
  CAF_CHECK(enter("a@example.com", a, "of a").no.why == reason::invalid_otp);
  advance(services.otp_life);
  CAF_CHECK(enter("b@example.com", b, "of b").no.why == reason::invalid_otp);
}

CAF_TEST(a code that is not mailed leaves the one that it was to replace) {
  request("a@example.com", "first");
  const auto first = code();
  *mail_works = false;
  CAF_CHECK(request("a@example.com", "second", {1, 1}, "first")->value.no.why == reason::unavailable);
  *mail_works = true;
  CAF_CHECK(!enter("a@example.com", first, "first").no);
  request("a@example.com", "third");
  const auto third = code();
  request("a@example.com", "fourth", {1, 1}, "third");
  CAF_CHECK(enter("a@example.com", third, "third").no.why == reason::invalid_otp);
}

CAF_TEST(a stranger neither voids the code of the owner nor guesses at it) {
  const uuid stranger{6, 6};
  request("a@example.com", "of the owner");
  const auto mine = code();
  for (int i = 0; i < 2; ++i) { // more must wait
    CAF_CHECK(!request("a@example.com", "of a stranger", stranger)->value.no);
    for (int guess = 0; guess < 5; ++guess)
      CAF_CHECK(enter("a@example.com", wrong_code(), "of a stranger").no.why == reason::invalid_otp);
  }
  CAF_CHECK(enter("a@example.com", mine, "of a stranger").no.why == reason::invalid_otp);
  CAF_CHECK(enter("b@example.com", mine, "of the owner").no.why == reason::invalid_otp);
  CAF_CHECK(!enter("a@example.com", mine, "of the owner").no);
}

CAF_TEST(wrong guesses count across codes and delay the next code of that client only) {
  const uuid stranger{6, 6};
  const auto wrong_codes = [&](int count) {
    refusal no;
    for (int i = 0; i < count && !no; ++i) {
      no = request("a@example.com", "s", stranger)->value.no;
      for (int guess = 0; guess < 5 && !no; ++guess) enter("a@example.com", wrong_code(), "s");
    }
    return no;
  };
  CAF_CHECK(!wrong_codes(2));
  const auto no = wrong_codes(1);
  CAF_CHECK(no.why == reason::rate_limited);
  CAF_CHECK_EQUAL(no.first, 60);
  CAF_CHECK(!request("b@example.com", "s", stranger)->value.no);
  CAF_CHECK(!request("a@example.com")->value.no);
  advance(60s);
  CAF_CHECK(!wrong_codes(1));
  CAF_CHECK(wrong_codes(1).first > 60); // it grows
  advance(24h);
  CAF_CHECK(!wrong_codes(1));
}

CAF_TEST(many strangers delay each other and not a browser that has signed in before) {
  request("a@example.com", "known");
  const auto first = enter("a@example.com", code(), "known");
  CAF_CHECK(!first.no && !first.had_mark);
  const uuid mark{7, first.person.lo};
  refusal no;
  for (std::uint64_t i = 0; i < 50 && !no; ++i)
    no = request("a@example.com", "s" + std::to_string(i), {6, i})->value.no;
  CAF_CHECK(no.why == reason::rate_limited);
  CAF_CHECK_EQUAL(mails->size(), 10u); // one of them to the owner, who was unknown
  CAF_CHECK(request("a@example.com", "without a mark")->value.no.why == reason::rate_limited);
  request("a@example.com", "known again", {9, 9}, {}, mark);
  const auto again = enter("a@example.com", code(), "known again");
  CAF_CHECK(!again.no && again.had_mark);
  // Its turn in the queue of mails is not its neighbours', and a network has few turns.
  std::set<uuid> turns;
  for (std::uint64_t i = 0; i < 40; ++i) {
    advance(1h);
    request("a@example.com", "m" + std::to_string(i), {9, 9}, {}, {i, mark.lo});
    turns.insert(mails->back().client);
  }
  CAF_CHECK_EQUAL(turns.size(), std::size_t{known_turns});
  CAF_CHECK(!turns.contains({9, 9}));
}

CAF_TEST(wrong codes of strangers and of a known browser do not count for each other) {
  request("a@example.com", "known");
  const uuid mark{7, enter("a@example.com", code(), "known").person.lo};
  const auto wrong_codes = [&](int count, const std::string& handle, std::uint64_t client, const uuid& own) {
    refusal no;
    for (int i = 0; i < count && !no; ++i) {
      no = request("a@example.com", handle, {6, client}, {}, own)->value.no;
      for (int guess = 0; guess < 5 && !no; ++guess) enter("a@example.com", wrong_code(), handle);
    }
    return no;
  };
  CAF_CHECK(!wrong_codes(2, "of the owner", 1, mark));
  CAF_CHECK(wrong_codes(1, "of the owner", 1, mark).why == reason::rate_limited);
  for (std::uint64_t i = 0; i < 9; ++i) CAF_CHECK(!wrong_codes(1, "of a stranger", 100 + i, {}));
  advance(16min);
  CAF_CHECK(!wrong_codes(1, "of a stranger", 200, {})); // 50 wrong codes of strangers
  CAF_CHECK(wrong_codes(1, "of a stranger", 201, {}).why == reason::rate_limited);
  CAF_CHECK(!request("a@example.com", "of the owner", {6, 1}, {}, mark)->value.no);
}

CAF_TEST(an address has few pending codes and the client with most loses its oldest) {
  services.bounds.codes_per_address = 3;
  request("a@example.com", "owner");
  const auto mine = code();
  for (int i = 0; i < 4; ++i) request("a@example.com", "s" + std::to_string(i), {6, 6});
  CAF_CHECK_EQUAL(store.committed(accounts_aggregate)->otps.size(), 3u);
  CAF_CHECK(!enter("a@example.com", code(), "s3").no);
  CAF_CHECK(!enter("a@example.com", mine, "owner").no);
}

CAF_TEST(a client that asks again with its handle voids its own earlier code) {
  request("a@example.com", "first");
  const auto first = code();
  request("a@example.com", "second", {1, 1}, "first");
  CAF_CHECK_EQUAL(store.committed(accounts_aggregate)->otps.size(), 1u);
  CAF_CHECK(enter("a@example.com", first, "first").no.why == reason::invalid_otp);
  request("b@example.com", "third", {1, 1}, "second"); // the first address was mistyped
  CAF_CHECK_EQUAL(store.committed(accounts_aggregate)->otps.size(), 1u);
  CAF_CHECK(!enter("b@example.com", code(), "third").no);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace sign_in_test
