// SPDX-License-Identifier: Apache-2.0
// What one operation costs on a line of 1,000,000 waiting entries, as the median of single operations, and
// what an entry weighs. The budget: join, leave, rank and admit <= 2 microseconds each, <= 110 bytes an
// entry, 1 ms for the owner's part in a comparison of the mirror.
#include "domain/line/mirror.hpp"
#include "domain/line/queue.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace fq;

constexpr std::uint64_t waiting = 1'000'000;
const timestamp start = from_unix_ms(1'795'000'000'000);

/// A customer's id as it really looks: random, so the index is met at a random place.
uuid subject(std::uint64_t n) {
  std::mt19937_64 bits{n};
  return make_uuid(start, accounts_aggregate, bits());
}

std::unique_ptr<queue_line> full_line() {
  auto line = std::make_unique<queue_line>();
  changes out;
  for (std::uint64_t n = 1; n <= waiting; ++n) {
    line->join(subject(n), n, start + milliseconds{n / 30}, out);
    out.clear();
  }
  return line;
}

/// Runs `operation` once an iteration and reports the median and the 99th percentile; the loop's own mean
/// would hide both.
template <class F>
void measure(benchmark::State& state, F operation) {
  std::vector<double> nanoseconds;
  nanoseconds.reserve(1 << 20);
  for (auto _ : state) {
    const auto before = std::chrono::steady_clock::now();
    operation();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
    state.SetIterationTime(took.count());
    nanoseconds.push_back(took.count() * 1e9);
  }
  std::ranges::sort(nanoseconds);
  state.counters["median_ns"] = nanoseconds[nanoseconds.size() / 2];
  state.counters["p99_ns"] = nanoseconds[nanoseconds.size() * 99 / 100];
}

void clock_alone(benchmark::State& state) {
  measure(state, [] {});
}

void join(benchmark::State& state) {
  const auto line = full_line();
  auto n = waiting;
  changes out;
  std::vector<uuid> fresh;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(state.max_iterations); ++i)
    fresh.push_back(subject(++n));
  std::size_t i = 0;
  measure(state, [&] {
    out.clear();
    benchmark::DoNotOptimize(line->join(fresh[i++], n, start + seconds{60}, out));
  });
}

void leave(benchmark::State& state) {
  const auto line = full_line();
  std::vector<std::uint64_t> numbers(waiting);
  for (std::uint64_t i = 0; i < waiting; ++i) numbers[i] = i + 1;
  std::ranges::shuffle(numbers, std::mt19937_64{1});
  changes out;
  std::size_t i = 0;
  measure(state, [&] {
    out.clear();
    benchmark::DoNotOptimize(
      line->move(queue_number{numbers[i++]}, entry_trigger::leave, start + seconds{60}, out));
  });
}

/// As a poll does: from the subject to the position.
void rank(benchmark::State& state) {
  const auto line = full_line();
  std::mt19937_64 dice{2};
  std::vector<uuid> who;
  for (int i = 0; i < (1 << 16); ++i) who.push_back(subject(dice() % waiting + 1));
  std::size_t i = 0;
  measure(state, [&] { benchmark::DoNotOptimize(line->position(*line->find(who[i++ & 0xffff]))); });
}

void admit(benchmark::State& state) {
  const auto line = full_line();
  const queue_settings settings;
  changes out;
  auto now = start + seconds{60};
  std::uint64_t n = 0;
  measure(state, [&] {
    out.clear();
    if (++n % 1000 == 0) now += milliseconds{1};
    benchmark::DoNotOptimize(line->admit(
      1, [&] { return line->first(0); }, now, settings, out));
  });
}

/// What the owner does for a comparison of its mirror, with 100,000 sessions beside the waiting.
void expect_mirror(benchmark::State& state) {
  const auto line = full_line();
  queue_settings settings;
  changes out;
  for (int i = 0; i < 100; ++i)
    line->admit(
      1000, [&] { return line->first(0); }, start + seconds{i}, settings, out);
  measure(state, [&] { benchmark::DoNotOptimize(expected_of(*line, {})); });
}

/// Bytes in use on the heap before and after 1,000,000 joins, the allocator's own overhead included.
void bytes_per_entry(benchmark::State& state) {
  double bytes = 0;
  for (auto _ : state) {
    const auto in_use = [] {
      const auto m = mallinfo2();
      return m.uordblks + m.hblkhd;
    };
    const auto before = in_use();
    const auto line = full_line();
    bytes = static_cast<double>(in_use() - before) / static_cast<double>(waiting);
    benchmark::DoNotOptimize(line->counts());
  }
  state.counters["bytes"] = bytes;
}

} // namespace

BENCHMARK(clock_alone)->UseManualTime()->Iterations(200'000);
BENCHMARK(join)->UseManualTime()->Iterations(200'000);
BENCHMARK(leave)->UseManualTime()->Iterations(200'000);
BENCHMARK(rank)->UseManualTime()->Iterations(200'000);
BENCHMARK(admit)->UseManualTime()->Iterations(200'000);
BENCHMARK(expect_mirror)->UseManualTime()->Iterations(200);
BENCHMARK(bytes_per_entry)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
