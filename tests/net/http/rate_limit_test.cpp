// SPDX-License-Identifier: Apache-2.0
// Token buckets: correct fields, bounded memory, heavy keys that survive a flood.
#define CAF_SUITE routes_rate_limit
#include "caf/test/unit_test.hpp"

#include "crypto/digest.hpp"
#include "net/http/rate_limit.hpp"
#include "net/service/limit_sharer.hpp"
#include "tests/net/api/requests.hpp"

#include <future>
#include <map>
#include <utility>

namespace rate_limit_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

constexpr milliseconds start{5'000'000};

uuid key(std::uint64_t n) { return {n * 0x9e3779b97f4a7c15ull, n}; }

int take_all(rate_limiter& limiter, const uuid& k, milliseconds now) {
  int taken = 0;
  while (limiter.take(k, now).allowed) ++taken;
  return taken;
}

} // namespace

CAF_TEST(a burst of the whole quota is allowed and the next one is not ) {
  rate_limiter limiter{{"join", 30, seconds{60}}, 1000, 1};
  for (int i = 0; i < 30; ++i) {
    const auto v = limiter.take(key(1), start);
    CAF_CHECK(v.allowed);
    CAF_CHECK_EQUAL(v.remaining, static_cast<std::uint32_t>(29 - i));
  }
  CAF_CHECK(!limiter.take(key(1), start).allowed);
  CAF_CHECK(limiter.take(key(2), start).allowed);
}

CAF_TEST(waiting as long as the answer says is enough and a second less is not ) {
  for (const std::uint32_t quota : {1u, 5u, 20u, 30u}) {
    rate_limiter limiter{{"x", quota, seconds{60}}, 1000, 1};
    take_all(limiter, key(1), start);
    const auto no = limiter.take(key(1), start);
    CAF_CHECK(
      !limiter.take(key(1), start + seconds{no.reset_seconds} - seconds{1} - milliseconds{1}).allowed);
    CAF_CHECK(limiter.take(key(1), start + seconds{no.reset_seconds}).allowed);
  }
}

CAF_TEST(over a long time the rate is the quota) {
  rate_limiter limiter{{"x", 60, seconds{60}}, 1000, 1};
  int taken = 0;
  for (int ms = 0; ms < 600'000; ms += 100) taken += limiter.take(key(1), start + milliseconds{ms}).allowed;
  CAF_CHECK(taken >= 60 + 598 && taken <= 60 + 600);
}

CAF_TEST(several tokens are taken all or not at all) {
  rate_limiter limiter{{"print", 10, seconds{60}}, 1000, 1};
  CAF_CHECK(limiter.take(key(1), start, 8).allowed);
  CAF_CHECK(!limiter.take(key(1), start, 3).allowed);
  CAF_CHECK(limiter.take(key(1), start, 2).allowed);
  CAF_CHECK(!limiter.take(key(1), start).allowed);
}

CAF_TEST(a token given back can be taken again) {
  rate_limiter limiter{{"login", 2, seconds{60}}, 1000, 1};
  for (int i = 0; i < 10; ++i) {
    CAF_CHECK(limiter.take(key(1), start).allowed);
    limiter.give_back(key(1), start);
  }
  CAF_CHECK_EQUAL(take_all(limiter, key(1), start), 2);
}

CAF_TEST(giving back never makes more than the quota) {
  rate_limiter limiter{{"login", 2, seconds{60}}, 1000, 1};
  for (int i = 0; i < 10; ++i) limiter.give_back(key(1), start);
  CAF_CHECK_EQUAL(take_all(limiter, key(1), start), 2);
}

CAF_TEST(quota zero is no limit and no memory) {
  rate_limiter limiter{{"x", 0, seconds{60}}, 1'000'000, 1};
  for (int i = 0; i < 100'000; ++i) CAF_REQUIRE(limiter.take(key(1), start).allowed);
  CAF_CHECK_EQUAL(limiter.memory_bytes(), 0u);
}

CAF_TEST(a million keys take no more memory and heavy keys survive them) {
  rate_limiter limiter{{"x", 10, seconds{60}}, 100'000, 42};
  const auto before = limiter.memory_bytes();
  CAF_CHECK(before <= 4u * 1024 * 1024);
  std::vector<uuid> heavy;
  for (std::uint64_t i = 0; i < 100; ++i) {
    heavy.push_back(key(1'000'000'000 + i));
    take_all(limiter, heavy.back(), start);
  }
  for (std::uint64_t i = 0; i < 1'000'000; ++i) CAF_REQUIRE(limiter.take(key(i), start).allowed);
  CAF_CHECK_EQUAL(limiter.memory_bytes(), before);
  int refused = 0;
  for (const auto& k : heavy) refused += !limiter.take(k, start).allowed;
  CAF_CHECK_EQUAL(refused, 100);
}

CAF_TEST(fields of the draft) {
  response answer = too_many({"join", 30, seconds{60}}, {false, 0, 2}, "id");
  CAF_CHECK_EQUAL(answer.status, 429u);
  CAF_CHECK_EQUAL(made::code_of(answer), "rate_limited");
  CAF_CHECK_EQUAL(field_of(answer, "Retry-After"), "2");
  CAF_CHECK_EQUAL(field_of(answer, "RateLimit-Policy"), "\"join\";q=30;w=60");
  CAF_CHECK_EQUAL(field_of(answer, "RateLimit"), "\"join\";r=0;t=2");
}

// -- several nodes ------------------------------------------------------------------------------------------

namespace {

/// The shared buckets of a test. Without a clock: they never refill.
using buckets = std::map<std::string, std::int64_t>;

class fake_limits final : public shared_limits {
public:
  fake_limits(buckets& all, std::promise<void>* first) : all_(all), first_(first) {}
  std::vector<std::int64_t> use(std::span<const limit_use> uses) override {
    if (all_.contains("away")) throw cache_unavailable("away");
    std::vector<std::int64_t> result;
    for (const auto& u : uses) {
      auto& bucket = all_[u.bucket];
      bucket += u.used_us;
      result.push_back(bucket);
    }
    if (first_) std::exchange(first_, nullptr)->set_value();
    return result;
  }

private:
  buckets& all_;
  std::promise<void>* first_; ///< told of the first use; may be null
};

struct still_environment final : environment {
  timestamp wall_now() override { return from_unix_ms(1'800'000'000'000); }
  milliseconds steady_now() override { return now; }
  void random_bytes(std::span<std::byte> out) override { std::ranges::fill(out, std::byte{7}); }
  milliseconds now = start;
};

/// A node with one limit of 80 per minute.
struct limiting_node {
  explicit limiting_node(buckets& all, std::promise<void>* first_share = nullptr) :
      sharer{{&limiter}, std::make_unique<fake_limits>(all, first_share), secret_key{}, env} {}
  bool take(std::uint64_t k = 1) { return limiter.take(key(k), start).allowed; }
  int take_all() { return rate_limit_test::take_all(limiter, key(1), start); }

  still_environment env;
  rate_limiter limiter{{"join", 80, seconds{60}}, 1000, 1};
  limit_sharer sharer;
};

} // namespace

CAF_TEST(nodes have one limit together) {
  buckets all;
  limiting_node a{all}, b{all}, c{all};
  int taken = 0;
  for (int i = 0; i < 40; ++i)
    for (auto* n : {&a, &b, &c}) {
      taken += n->take();
      n->sharer.share();
    }
  CAF_CHECK(taken >= 80 && taken <= 80 * (8 + 3) / 8);
}

CAF_TEST(an eighth of a quota at a time is told) {
  buckets all;
  limiting_node a{all};
  for (int i = 0; i < 10; ++i) a.take();
  a.sharer.share();
  CAF_CHECK(all.empty()); // clients far from their limit are not shared
  a.take();
  a.sharer.share();
  CAF_REQUIRE_EQUAL(all.size(), 1u);
  CAF_CHECK_EQUAL(all.begin()->second, 11 * a.limiter.token_us()); // including tokens not reported before
  CAF_CHECK(all.begin()->first.find(to_string(key(1))) == std::string::npos); // the key is hashed
}

CAF_TEST(requests spread thinly over nodes and time count together) {
  // 80 per minute at each of two nodes: a bucket is never more than one token empty at either.
  buckets all;
  limiting_node a{all}, b{all};
  int taken = 0;
  auto last = start;
  for (auto now = start; now < start + seconds{600}; now += milliseconds{750}) {
    for (auto* n : {&a, &b}) {
      taken += n->limiter.take(key(1), now).allowed;
      n->env.now = now;
      n->sharer.share();
    }
    for (auto& [name, full_in] : all)
      full_in = std::max<std::int64_t>(0, full_in - (now - last).count() * 1'000); // refilled over time
    last = now;
  }
  CAF_CHECK(taken <= 80 * 10 + 80 * (8 + 2) / 8);
  CAF_CHECK(taken >= 80 * 10 - 80);
}

CAF_TEST(what was taken at both nodes before they knew is owed) {
  buckets all;
  limiting_node a{all}, b{all};
  CAF_CHECK_EQUAL(a.take_all() + b.take_all(), 160);
  a.sharer.share();
  b.sharer.share();
  const auto no = b.limiter.take(key(1), start + seconds{60});
  CAF_CHECK(!no.allowed);
  // correct all the same
  CAF_CHECK(b.limiter.take(key(1), start + seconds{60} + seconds{no.reset_seconds}).allowed);
}

CAF_TEST(what was given back before it was told is nobody elses business) {
  buckets all;
  limiting_node a{all};
  for (int i = 0; i < 40; ++i) {
    a.take();
    a.limiter.give_back(key(1), start);
    a.sharer.share();
  }
  CAF_CHECK(all.empty());
}

CAF_TEST(without the shared buckets each node limits by itself) {
  buckets all{{"away", 0}};
  limiting_node a{all};
  for (int i = 0; i < 20; ++i) a.take();
  a.sharer.share();
  CAF_CHECK_EQUAL(a.take_all(), 60);
}

CAF_TEST(a sharer shares by itself and ends when it is told) {
  buckets all;
  std::promise<void> shared;
  {
    limiting_node a{all, &shared};
    for (int i = 0; i < 20; ++i) a.take();
    a.sharer.start();
    shared.get_future().wait();
  }
  CAF_CHECK_EQUAL(all.size(), 1u);
}

} // namespace rate_limit_test
