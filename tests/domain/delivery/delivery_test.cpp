// SPDX-License-Identifier: Apache-2.0
// Recipients of events, retries of deliveries, and giving up.
#define CAF_SUITE domain_delivery
#include "domain/delivery/delivery.hpp"
#include "domain/delivery/outbox.hpp"

#include "caf/test/unit_test.hpp"

#include <random>

namespace delivery_test {

using namespace fq;

namespace {

constexpr timestamp noon = from_unix_ms(1'795'262'400'000);

delivery_row row(channel way, timestamp expires_at = never) {
  return {.target = {1, 1},
          .notice = {2, 2},
          .way = way,
          .tenant = default_tenant,
          .holder = {},
          .topic = "order.completed",
          .payload = "{}",
          .created_at = noon,
          .expires_at = expires_at,
          .state = delivery_state::pending,
          .due_at = noon,
          .attempts = 0,
          .status = 0,
          .reason = {},
          .ended_at = never};
}

} // namespace

CAF_TEST(names are read as they are written) {
  for (const auto c : all_channels)
    CAF_CHECK(parse_platform(to_string(c)) == (c == channel::webhook ? std::nullopt : std::optional{c}));
  for (const auto s : {delivery_state::pending, delivery_state::delivered, delivery_state::expired,
                       delivery_state::failed, delivery_state::dropped})
    CAF_CHECK(parse_delivery_state(to_string(s)) == s);
  CAF_CHECK(!parse_platform("pigeon"));
  CAF_CHECK(!parse_delivery_state("Pending"));
}

CAF_TEST(a token has the form of its service) {
  const auto many = [](std::size_t count, char c) { return std::string(count, c); };
  const auto is_good = [](channel way, const std::string& token) {
    return wrong_with_token(way, token).empty();
  };
  for (const auto& token : {many(64, 'a'), many(66, '0'), many(160, 'F'), many(200, '9'),
                            many(31, '0') + "123456789aAbBcCdDeEfF0123456789ab"})
    CAF_CHECK(is_good(channel::apns, token));
  for (const auto& token :
       {many(0, 'a'), many(62, 'a'), many(65, 'a'), many(202, 'a'), many(64, '.'), many(64, 'g'),
        many(62, 'a') + "/a", many(63, 'a') + " ", many(62, 'a') + "\xc3\xa4"})
    CAF_CHECK(!is_good(channel::apns, token));
  for (const std::string token : {"a", "-", "bobs-phone_2", "AZaz09"})
    CAF_CHECK(is_good(channel::ntfy, token));
  CAF_CHECK(is_good(channel::ntfy, many(64, 'x')));
  for (const std::string token : {"", ".", "..", "a.b", "a/b", "a b", "a?b", "\xc3\xa4"})
    CAF_CHECK(!is_good(channel::ntfy, token));
  CAF_CHECK(!is_good(channel::ntfy, many(65, 'x')));
  for (const std::string token : {"x", "dQw4:APA91b-_x", "!\"~"}) CAF_CHECK(is_good(channel::fcm, token));
  CAF_CHECK(is_good(channel::fcm, many(device_token_bytes_max, 'x')));
  for (const std::string token : {"", "a b", " ", "a\x7f", "a\n", "\xc3\xa4"})
    CAF_CHECK(!is_good(channel::fcm, token));
  CAF_CHECK(!is_good(channel::fcm, many(device_token_bytes_max + 1, 'x')));
}

CAF_TEST(endpoints are told everything but mail and devices what concerns a person) {
  for (const auto t : told_topics) CAF_CHECK(goes_to(channel::webhook, t));
  CAF_CHECK(!goes_to(channel::webhook, topic::mail_send));
  CAF_CHECK(goes_to(channel::fcm, topic::turn_granted));
  CAF_CHECK(!goes_to(channel::fcm, topic::order_placed));
  CAF_CHECK(!goes_to(channel::apns, topic::mail_send));
}

CAF_TEST(an endpoint takes the topics it names whole) {
  webhook_endpoint_row e;
  CAF_CHECK(wants(e, "order.completed"));
  CAF_CHECK(!wants(e, topic::user_updated)); // only for endpoints that name this topic
  e.topics = "order.completed queue.expired";
  CAF_CHECK(wants(e, "order.completed"));
  CAF_CHECK(wants(e, "queue.expired"));
  CAF_CHECK(!wants(e, "order"));
  CAF_CHECK(!wants(e, "queue.expire"));
  e.is_enabled = false;
  CAF_CHECK(!wants(e, "order.completed"));
}

CAF_TEST(every change of an endpoint makes it later) {
  webhook_endpoint_row e;
  e.created_at = e.updated_at = noon;
  mark_changed(e, noon); // in the same millisecond
  CAF_CHECK(e.replaces == noon);
  CAF_CHECK(e.updated_at == noon + milliseconds{1});
  mark_changed(e, noon - seconds{5}); // by a clock that is behind
  CAF_CHECK(e.replaces == noon + milliseconds{1});
  CAF_CHECK(e.updated_at == noon + milliseconds{2});
  mark_changed(e, noon + seconds{5});
  CAF_CHECK(e.updated_at == noon + seconds{5});
}

CAF_TEST(a secret is replaced when the one before it has ended or is ended) {
  webhook_endpoint_row e;
  CAF_CHECK(rotate_secret(e, false, noon));
  CAF_CHECK_EQUAL(e.secret_no, 2u);
  CAF_CHECK(e.previous_until == noon + secret_overlap);
  const auto before = e;
  CAF_CHECK(!rotate_secret(e, false, noon + secret_overlap - milliseconds{1}));
  CAF_CHECK(e == before);
  CAF_CHECK(rotate_secret(e, true, noon + seconds{1})); // leaked: both old secrets stop signing
  CAF_CHECK_EQUAL(e.secret_no, 3u);
  CAF_CHECK(!is_set(e.previous_until));
  CAF_CHECK(rotate_secret(e, false, noon + seconds{2}));
  CAF_CHECK(rotate_secret(e, false, noon + seconds{2} + secret_overlap));
  CAF_CHECK_EQUAL(e.secret_no, 5u);
}

CAF_TEST(words are split at blanks) {
  using words = std::vector<std::string_view>;
  CAF_CHECK(words_of("").empty());
  CAF_CHECK((words_of("order.completed") == words{"order.completed"}));
  CAF_CHECK((words_of("order.completed queue.expired") == words{"order.completed", "queue.expired"}));
}

CAF_TEST(webhooks are tried for three days and a push until it is worth nothing) {
  std::mt19937_64 random{7};
  for (const auto way : {channel::webhook, channel::fcm, channel::apns, channel::ntfy}) {
    for (int i = 0; i < 200; ++i) {
      auto r = row(way);
      auto now = noon;
      while (r.state == delivery_state::pending) {
        after_try(r, delivery_outcome::again, std::nullopt, now, random());
        if (r.state != delivery_state::pending) break;
        CAF_CHECK(r.due_at >= now);
        now = r.due_at;
        CAF_REQUIRE(r.attempts < 10'000);
      }
      CAF_CHECK(now < noon + rules_of(way).life);
      CAF_CHECK(r.state == (way == channel::webhook ? delivery_state::failed : delivery_state::expired));
      if (way == channel::webhook)
        CAF_CHECK(r.attempts >= 18 && r.attempts <= 40 && now > noon + milliseconds{60ll * 3'600'000});
    }
  }
}

CAF_TEST(what has an end of its own is not tried after it) {
  auto r = row(channel::fcm, noon + seconds{10});
  CAF_CHECK(!has_expired(r, noon + seconds{9}));
  CAF_CHECK(has_expired(r, noon + seconds{10}));
  after_try(r, delivery_outcome::again, seconds{30}, noon, 0);
  CAF_CHECK(r.state == delivery_state::expired);
  CAF_CHECK(r.ended_at == noon);
}

CAF_TEST(a pause that was asked for is kept and full jitter spreads the others) {
  auto r = row(channel::webhook);
  after_try(r, delivery_outcome::again, seconds{90}, noon, ~0ull);
  CAF_CHECK(r.due_at == noon + seconds{90});
  milliseconds least{1'000'000}, most{0};
  std::mt19937_64 random{7};
  for (int i = 0; i < 500; ++i) {
    auto one = row(channel::fcm);
    after_try(one, delivery_outcome::again, std::nullopt, noon, random());
    least = std::min(least, one.due_at - noon);
    most = std::max(most, one.due_at - noon);
  }
  CAF_CHECK(least < milliseconds{50} && most > milliseconds{950} && most <= seconds{1});
}

CAF_TEST(a target that cannot be reached is left alone for longer and longer and for a minute at most) {
  std::vector<std::int64_t> pauses;
  for (std::uint32_t strikes = 1; strikes <= 6; ++strikes)
    pauses.push_back(pause_after(strikes).count() / 1'000);
  CAF_CHECK((pauses == std::vector<std::int64_t>{5, 10, 20, 40, 60, 60}));
  CAF_CHECK(pause_after(~0u) == seconds{60});
}

CAF_TEST(tenants have equal shares and the next one finds room) {
  CAF_CHECK_EQUAL(share_of_tenant(32, 1), 24u);
  CAF_CHECK_EQUAL(share_of_tenant(32, 2), 12u);
  CAF_CHECK_EQUAL(share_of_tenant(32, 500), 1u);
  CAF_CHECK_EQUAL(share_of_tenant(1, 1), 1u);
  CAF_CHECK_EQUAL(share_of_tenant(32, 0), 24u);
  for (std::size_t all = 2; all <= 100; ++all)
    for (std::size_t tenants = 1; tenants <= all * 3 / 4; ++tenants)
      CAF_CHECK(tenants * share_of_tenant(all, tenants) < all);
}

CAF_TEST(a contact is told once a day and a tenant cannot have many told by making new endpoints) {
  contact_limit limit;
  webhook_endpoint_row e;
  e.tenant = tenant_id{7};
  const auto made = [&](std::uint64_t n) {
    e.id = {n, n};
    return e;
  };
  CAF_CHECK(limit.take(made(1), noon));
  CAF_CHECK(!limit.take(made(1), noon + seconds{24 * 3'600 - 1}));
  for (std::uint64_t n = 2; n <= endpoints_per_tenant_max; ++n)
    CAF_CHECK(limit.take(made(n), noon + seconds{60}));
  CAF_CHECK(!limit.take(made(999), noon + seconds{61}));
  auto others = made(1'000);
  others.tenant = tenant_id{8};
  CAF_CHECK(limit.take(others, noon + seconds{61}));
  CAF_CHECK(limit.take(made(1), noon + seconds{24 * 3'600}));
  CAF_CHECK(!limit.take(made(999), noon + seconds{24 * 3'600}));
  CAF_CHECK(limit.take(made(999), noon + seconds{24 * 3'600 + 60}));
}

CAF_TEST(every other outcome ends it) {
  for (const auto& [outcome, state] : {std::pair{delivery_outcome::delivered, delivery_state::delivered},
                                       {delivery_outcome::refused, delivery_state::failed},
                                       {delivery_outcome::gone, delivery_state::dropped}}) {
    auto r = row(channel::apns);
    after_try(r, outcome, seconds{30}, noon + seconds{1}, 0);
    CAF_CHECK(r.state == state);
    CAF_CHECK(r.ended_at == noon + seconds{1});
    CAF_CHECK_EQUAL(r.attempts, 1u);
  }
}

CAF_TEST(a refusal of what was sent says nothing of the target) {
  for (const auto status : {0, 301, 408, 429, 500, 503}) CAF_CHECK(is_about_target(status, false));
  for (const auto status : {400, 401, 404, 413, 422}) {
    CAF_CHECK(!is_about_target(status, false));
    CAF_CHECK(is_about_target(status, true));
  }
}

} // namespace delivery_test
