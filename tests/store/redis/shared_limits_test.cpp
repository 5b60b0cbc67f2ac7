// SPDX-License-Identifier: Apache-2.0
// Rate limit buckets shared by nodes, in a real Redis.
#define CAF_SUITE cache_shared_limits
#include "store/redis/limits.hpp"
#include "store/redis/shared_limits.hpp"
#include "tests/store/redis/engines.hpp"

#include <chrono>

using namespace fq;
using namespace fq::test;

namespace {

constexpr std::int64_t second_us = 1'000'000;

struct two_nodes {
  std::int64_t use(redis_limits& node, std::int64_t used_us, const std::string& bucket = "join:a") {
    const limit_use one{bucket, used_us, 60 * second_us};
    return node.use({&one, 1}).at(0);
  }
  /// Whether it is `wanted` less the time since the test began.
  [[nodiscard]] bool is_about(std::int64_t found, std::int64_t wanted) const {
    const auto passed =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
    const std::int64_t clocks_differ_us = 10'000;
    return found <= wanted && found >= wanted - passed.count() - clocks_differ_us;
  }

  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  skipping_environment env;
  std::string space = to_string(fresh_queue());
  redis_limits here{{.address = parse_redis_url(shared_redis_url())}, env, space};
  redis_limits there{{.address = parse_redis_url(shared_redis_url())}, env, space};
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(shared_limits_tests, two_nodes)

CAF_TEST(what one node takes the other sees) {
  CAF_CHECK(is_about(use(here, 10 * second_us), 10 * second_us));
  CAF_CHECK(is_about(use(there, 5 * second_us), 15 * second_us));
  CAF_CHECK(is_about(use(there, 0, "join:b"), 0) || use(there, 0, "join:b") == 0);
}

CAF_TEST(what is taken beyond the quota is owed and not for ever) {
  CAF_CHECK(is_about(use(here, 100 * second_us), 100 * second_us));
  CAF_CHECK(is_about(use(there, 5'000 * second_us), redis_bounds::debt_windows_max * 60 * second_us));
}

CAF_TEST(a bucket fills up by redis own clock and goes when it is full) {
  use(here, 50 * second_us);
  redis_operator eye{shared_redis_url()};
  const auto key = "fairqueue:" + space + ":limit:join:a";
  const auto life = eye.integer({"PTTL", key});
  CAF_CHECK(is_about(life * 1'000, 50 * second_us));
}

CAF_TEST(many at once are answered in order) {
  std::vector<limit_use> uses;
  for (std::int64_t i = 0; i < 1'200; ++i)
    uses.push_back({"x:" + std::to_string(i), (1 + i % 50) * second_us, 60 * second_us});
  const auto found = here.use(uses);
  CAF_REQUIRE_EQUAL(found.size(), uses.size());
  for (std::size_t i = 0; i < uses.size(); ++i)
    CAF_CHECK(found[i] <= uses[i].used_us && found[i] > uses[i].used_us - second_us);
}

CAF_TEST_FIXTURE_SCOPE_END()
