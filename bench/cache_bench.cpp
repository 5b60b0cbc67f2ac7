// SPDX-License-Identifier: Apache-2.0
// What mirroring costs: joins and sessions a second in steps of 1,000, a rebuild, a read, and the CPU time of
// this process. eval "$(scripts/services start --redis)"; build/release/bench/bench_cache; scripts/services
// stop
#include "store/redis/redis_cache.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

#include <sys/resource.h>

namespace {

using namespace fq;
using clock = std::chrono::steady_clock;

constexpr aggregate_id sale{16};
constexpr std::size_t step_size = 1'000;
constexpr std::size_t joins = 1'000'000;
constexpr std::size_t sessions = 200'000;
const timestamp noon = from_unix_ms(1'795'262'400'000);

class process_environment final : public environment {
public:
  timestamp wall_now() override {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  }
  milliseconds steady_now() override {
    return std::chrono::duration_cast<milliseconds>(clock::now().time_since_epoch());
  }
  void random_bytes(std::span<std::byte>) override { throw std::logic_error("not random"); }
};

std::chrono::duration<double> cpu_time() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return std::chrono::duration<double>{seconds_of(u.ru_utime) + seconds_of(u.ru_stime)};
}

void report(const char* what, std::size_t elements, const std::function<void()>& work) {
  const auto cpu = cpu_time();
  const auto began = clock::now();
  work();
  const std::chrono::duration<double> took = clock::now() - began;
  const auto n = static_cast<double>(elements);
  std::printf("%-44s %9.0f/s %8.3f us of client CPU each\n", what, n / took.count(),
              (cpu_time() - cpu).count() * 1e6 / n);
}

mirrored_session session(std::uint64_t n) {
  const auto joined_at = noon + milliseconds{static_cast<std::int64_t>(n)};
  return {queue_number{n}, 1, make_uuid(noon, accounts_aggregate, n * 7), joined_at, noon + seconds{1'200}};
}

std::vector<queue_number> numbers(std::uint64_t from, std::size_t count) {
  std::vector<queue_number> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = queue_number{from + i};
  return result;
}

/// The steps of one queue, made beforehand.
class mirror {
public:
  explicit mirror(std::uint64_t n) : queue_(make_uuid(noon, sale, n)) { add({}); }
  void add(mirror_delta delta) {
    steps_.push_back({sale, queue_, 1, steps_.size(), noon, std::move(delta), true});
  }

  /// `together`: steps in one call.
  void apply(cache& store, std::size_t together) {
    for (std::size_t i = 0; i < steps_.size(); i += together)
      for (const auto outcome :
           store.apply(std::span{steps_}.subspan(i, std::min(together, steps_.size() - i))))
        if (outcome != step_outcome::applied) throw std::runtime_error("a step was lost");
  }
  void read(cache& store) const {
    if (!store.read(queue_, 1, steps_.size()).found) throw std::runtime_error("the mirror is not found");
  }

private:
  uuid queue_;
  std::vector<mirror_step> steps_;
};

mirror joining(std::uint64_t queue) {
  mirror m{queue};
  for (std::size_t i = 0; i < joins; i += step_size) {
    mirror_delta d;
    d.joined = numbers(i + 1, step_size);
    m.add(std::move(d));
  }
  return m;
}

void run(cache& store) {
  auto first = joining(1), second = joining(2);
  report("joins, a step of 1,000 a call", joins, [&] { first.apply(store, 1); });
  report("joins, 20 steps of 1,000 a call", joins, [&] { second.apply(store, 20); });

  mirror rebuilt{3};
  mirror_delta all;
  all.joined = numbers(1, joins);
  rebuilt.add(std::move(all));
  report("a rebuild: one step of 1,000,000", joins, [&] { rebuilt.apply(store, 1); });
  report("reading it", joins, [&] { rebuilt.read(store); });

  mirror admitting{4};
  for (std::size_t i = 0; i < sessions; i += step_size) {
    mirror_delta d;
    for (std::size_t n = i; n < i + step_size; ++n) d.sessions.push_back(session(n + 1));
    admitting.add(std::move(d));
  }
  report("sessions, 20 steps of 1,000 a call", sessions, [&] { admitting.apply(store, 20); });
  report("reading them", sessions, [&] { admitting.read(store); });
}

} // namespace

int main() {
  const char* url = std::getenv("FAIRQUEUE_TEST_REDIS");
  if (url == nullptr) {
    std::fputs("bench_cache: FAIRQUEUE_TEST_REDIS names no server\n", stderr);
    return 2;
  }
  process_environment env;
  redis_cache store{{.address = parse_redis_url(url)}, env, "test"};
  run(store);
}
