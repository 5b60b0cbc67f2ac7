// SPDX-License-Identifier: Apache-2.0
// Payment events that come by NATS, against a real server: what is taken, what comes again and when, and what
// does not.
#define CAF_SUITE nats_inbox
#include "caf/test/unit_test.hpp"

#include "outbound/nats_inbox.hpp"
#include "tests/outbound/private_nats.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

namespace nats_inbox_test {

using namespace fq;
using namespace fq::test;

namespace {

nats_inbox_settings settings_for(const std::string& url) {
  nats_inbox_settings s;
  s.servers = {.url = url, .timeout = milliseconds{10'000}};
  s.stream = "stripe";
  s.subject = "stripe.backend";
  s.answer_within = milliseconds{1'000};
  return s;
}

constexpr milliseconds soon{200};

/// All that comes until `count` have, or ten seconds are over.
std::vector<inbox_message> take_in_time(nats_inbox& inbox, std::size_t count) {
  std::vector<inbox_message> all;
  for (int i = 0; i < 50 && all.size() < count; ++i) {
    auto one = inbox.take(16, soon);
    if (!one.trouble.empty()) std::this_thread::sleep_for(soon); // libnats reconnects at an unknown time
    std::ranges::move(one.messages, std::back_inserter(all));
  }
  return all;
}

} // namespace

CAF_TEST(a webhook comes as it was signed and when it is taken it does not come again) {
  const private_nats server;
  nats_inbox inbox{settings_for(server.url())};
  const auto first_look = inbox.take(16, soon);
  CAF_CHECK(first_look.messages.empty());
  CAF_CHECK_EQUAL(first_look.trouble, "");
  observer router{server.url()};
  const std::string body{"{ \"id\": \"evt_1\",\n \"\\u00e9\": 1 }"};
  router.publish("stripe.backend", body, {{"Stripe-Signature", "t=1,v1=ab"}});
  router.publish("stripe.backend", "second", {{"stripe-signature", "t=2,v1=cd"}}); // as some routers write it
  router.publish("stripe.backend", "third");
  const auto before = std::chrono::system_clock::now();
  const auto all = take_in_time(inbox, 3);
  CAF_REQUIRE_EQUAL(all.size(), 3u);
  CAF_CHECK_EQUAL(all[0].body, body);
  CAF_CHECK_EQUAL(all[0].signature, "t=1,v1=ab");
  CAF_CHECK_EQUAL(all[1].signature, "t=2,v1=cd");
  CAF_CHECK_EQUAL(all[2].signature, "");
  CAF_CHECK_EQUAL(all[0].deliveries, 1u);
  const auto age = std::chrono::duration_cast<milliseconds>(before.time_since_epoch())
                   - all[0].arrived_at.time_since_epoch();
  CAF_CHECK(age > milliseconds{-60'000} && age < milliseconds{60'000});
  for (const auto& m : all) inbox.settle(m.ticket, inbox_verdict::taken, milliseconds{0});
  std::this_thread::sleep_for(std::chrono::milliseconds{1'500}); // longer than answer_within
  CAF_CHECK(inbox.take(16, soon).messages.empty());
}

CAF_TEST(one put off comes again and one refused does not) {
  const private_nats server;
  nats_inbox inbox{settings_for(server.url())};
  CAF_CHECK(inbox.take(1, soon).messages.empty());
  observer router{server.url()};
  router.publish("stripe.backend", "later");
  router.publish("stripe.backend", "never");
  const auto both = take_in_time(inbox, 2);
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& m : both)
    inbox.settle(m.ticket, m.body == "later" ? inbox_verdict::later : inbox_verdict::never,
                 milliseconds{300});
  const auto again = take_in_time(inbox, 1);
  CAF_CHECK(std::chrono::steady_clock::now() - begin >= milliseconds{290}); // not at once
  CAF_REQUIRE_EQUAL(again.size(), 1u);
  CAF_CHECK_EQUAL(again[0].body, "later");
  CAF_CHECK_EQUAL(again[0].deliveries, 2u);
  inbox.settle(again[0].ticket, inbox_verdict::taken, milliseconds{0});
}

CAF_TEST(one that nobody settles comes again also to another who shares the consumer) {
  const private_nats server;
  observer router{server.url()};
  {
    nats_inbox first{settings_for(server.url())};
    CAF_CHECK(first.take(1, soon).messages.empty());
    router.publish("stripe.backend", "one");
    CAF_CHECK_EQUAL(take_in_time(first, 1).size(), 1u);
  } // ends with it in hand, and leaves the consumer behind
  nats_inbox second{settings_for(server.url())};
  const auto again = take_in_time(second, 1);
  CAF_REQUIRE_EQUAL(again.size(), 1u);
  CAF_CHECK_EQUAL(again[0].deliveries, 2u);
}

CAF_TEST(what arrived before us and while the server was killed is taken) {
  private_nats server;
  observer router{server.url()};
  router.add_stream("stripe", "stripe.*"); // the router's own
  router.publish("stripe.backend", "before");
  router.publish("stripe.drupal", "not ours");
  nats_inbox inbox{settings_for(server.url())};
  auto all = take_in_time(inbox, 1);
  CAF_REQUIRE_EQUAL(all.size(), 1u);
  CAF_CHECK_EQUAL(all[0].body, "before");
  server.tell("kill");
  inbox.settle(all[0].ticket, inbox_verdict::taken, milliseconds{0}); // is lost: it comes again
  std::string trouble; // comes once libnats has noticed
  for (int i = 0; i < 50 && trouble.empty(); ++i) trouble = inbox.take(16, soon).trouble;
  CAF_CHECK(!trouble.empty());
  server.tell("up");
  observer{server.url()}.publish("stripe.backend", "after");
  all = take_in_time(inbox, 2);
  CAF_CHECK(std::ranges::any_of(all, [](const auto& m) { return m.body == "after"; }));
  CAF_CHECK(std::ranges::none_of(all, [](const auto& m) { return m.body == "not ours"; }));
}

} // namespace nats_inbox_test
