// SPDX-License-Identifier: Apache-2.0
// Solves challenges and prints their cost in CPU, by the joins that the address has had: for bench/README.md.
#include "crypto/challenge_desk.hpp"
#include "crypto/random.hpp"

#include <cstdio>
#include <ctime>

using namespace fq;

namespace {

class bench_environment final : public environment {
public:
  timestamp wall_now() override { return from_unix_ms(1'795'000'000'000); }
  milliseconds steady_now() override { return {}; }
  void random_bytes(std::span<std::byte> out) override { fill_random(out); }
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

} // namespace

int main() {
  bench_environment env;
  challenge_desk desk{env};
  const auto now = env.wall_now();
  const uuid client{1, 1};
  const auto join = [&] {
    const auto passed = *desk.pass(now);
    desk.use(*desk.check(passed, client, 0, now), client, now);
  };
  double fan = 0;
  std::uint64_t joined = 0;
  std::printf("joins before  expected hashes  hashes  CPU ms  times a fan's\n");
  for (const std::uint64_t before : {0, 20, 100, 1'000, 10'000}) {
    for (; joined < before; ++joined) join();
    const int tries = before < 1'000 ? 100 : before < 10'000 ? 10 : 4;
    std::uint64_t hashes = 0, highest = 0;
    const auto begun = cpu_seconds();
    for (int i = 0; i < tries; ++i) {
      const auto c = *desk.open(client, 0, now);
      highest = c.highest;
      for (std::uint64_t n = 0; puzzle_of(c.salt, n) != c.challenge; ++n) ++hashes;
    }
    const auto each = (cpu_seconds() - begun) * 1'000 / tries;
    if (before == 0) fan = each;
    std::printf("%12llu %16llu %7llu %7.1f %14.1f\n", static_cast<unsigned long long>(before),
                static_cast<unsigned long long>(highest / 2),
                static_cast<unsigned long long>(hashes / static_cast<std::uint64_t>(tries)), each,
                each / fan);
  }
}
