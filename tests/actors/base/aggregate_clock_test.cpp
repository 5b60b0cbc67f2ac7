// SPDX-License-Identifier: Apache-2.0
// An aggregate's clock: where it starts, what stops it, and that it never goes back.
#define CAF_SUITE aggregate_clock
#include "actors/base/aggregate_clock.hpp"
#include "tests/actors/base/fixture.hpp"

#include <ostream>

namespace aggregate_clock_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr timestamp noon = from_unix_ms(1'800'000'000'000);

struct manual_environment final : environment {
  timestamp wall_now() override { return noon + steady; }
  milliseconds steady_now() override { return steady; }
  void random_bytes(std::span<std::byte>) override {}
  milliseconds steady{0};
};

} // namespace

CAF_TEST(an owner starts at the time of the one before it) {
  struct row {
    const char* what;
    milliseconds committed, lag, starts; ///< relative to the ledger's clock
  };
  for (const auto& r : {row{"no outage", -1s, 0s, 0s}, row{"an outage of a minute", -90s, 60s, -60s},
                        row{"an outage of a minute, and a commit since", -30s, 60s, -30s},
                        row{"a ledger whose clock went back", 10s, 0s, 10s},
                        row{"a ledger whose clock went an hour ahead, and an outage", -62min, 61min, -61min},
                        row{"a server that was off for a day", -24h, 24h, -90min}}) {
    manual_environment env;
    aggregate_clock clock(env);
    clock.start(noon, noon + r.committed, r.lag);
    CAF_CHECK_EQUAL((std::pair{std::string{r.what}, clock.now() - noon}),
                    (std::pair{std::string{r.what}, r.starts}));
  }
}

CAF_TEST(a pause is a lag until it is given up) {
  manual_environment env;
  aggregate_clock clock(env);
  clock.start(noon, never);
  env.steady += 5s;
  clock.pause();
  env.steady += 60s;
  CAF_CHECK(clock.now() == noon + 5s);
  clock.resume();
  env.steady += 1s;
  CAF_CHECK(clock.now() == noon + 6s);
  clock.catch_up();
  CAF_CHECK(clock.now() == noon + 66s);
  clock.catch_up();
  CAF_CHECK(clock.now() == noon + 66s);
}

CAF_TEST(a second load in one process does not go back) {
  manual_environment env;
  aggregate_clock clock(env);
  clock.start(noon, never);
  env.steady += 10s;
  clock.start(noon + 10s, noon + 2s, 3s); // the time since the last renewal counts as a lag
  CAF_CHECK(clock.now() == noon + 10s);
}

} // namespace aggregate_clock_test
