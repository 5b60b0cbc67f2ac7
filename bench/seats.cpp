// SPDX-License-Identifier: Apache-2.0
// What one operation costs on a hall of 50,000 reserved seats, as the median of single operations, and what a
// plan weighs. The budget: best seats <= 1 ms, also nearly sold out and fragmented; hold <= 50 microseconds;
// a plan <= 32 bytes a seat beside its label; a drawing <= 2 MB.
#include "domain/seats/best.hpp"
#include "domain/seats/drawing.hpp"
#include "domain/seats/hall.hpp"
#include "domain/seats/map_text.hpp"
#include "net/wire/seat_plan_codec.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <malloc.h>
#include <memory>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace {

using namespace fq;

/// 50,000 seats: 40 sections of 50 rows with 25 seats, an aisle in each row.
plan_draft stadium() {
  hall h;
  h.radius = 8'000;
  h.stage_distance = 8'000;
  h.row_depth = 45; // inside the largest plan
  h.section_gap = 0;
  h.aisles = 1;
  for (int i = 0; i < 40; ++i)
    h.sections.push_back({.code = "S" + std::to_string(i),
                          .ticket_type = "Type " + std::to_string(i % 4),
                          .rows = 50,
                          .seats = 25,
                          .accessible = 2});
  return draft_of(h);
}

std::shared_ptr<const seat_plan> the_plan() {
  static const auto plan = make_plan(stadium()).plan;
  if (!plan || plan->seats().size() != 50'000) throw std::logic_error{"the hall has not 50,000 seats"};
  return plan;
}

seat_map fresh_map() { return {the_plan(), std::vector<std::uint8_t>{0, 1, 2, 3}, 0}; }

/// Each seat is sold with this probability.
seat_map sold_map(unsigned percent) {
  auto map = fresh_map();
  std::mt19937_64 dice{7};
  for (seat_number n = 0; n < map.size(); ++n)
    if (dice() % 100 < percent) std::ignore = map.sell(claim_id{1, n + 1}, std::vector<seat_number>{n});
  return map;
}

/// All runs of free seats have four seats or one.
seat_map combed_map() {
  auto map = fresh_map();
  for (seat_number n = 0; n < map.size(); ++n)
    if (n % 5 == 0 || n % 25 == 13) std::ignore = map.sell(claim_id{1, n + 1}, std::vector<seat_number>{n});
  return map;
}

/// Runs `operation` once an iteration and reports the median and the 99th percentile; the loop's own mean
/// would hide both.
template <class F>
void measure(benchmark::State& state, F operation) {
  std::vector<double> microseconds;
  for (auto _ : state) {
    const auto before = std::chrono::steady_clock::now();
    operation();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
    state.SetIterationTime(took.count());
    microseconds.push_back(took.count() * 1e6);
  }
  std::ranges::sort(microseconds);
  state.counters["median_us"] = microseconds[microseconds.size() / 2];
  state.counters["p99_us"] = microseconds[microseconds.size() * 99 / 100];
}

void measure_best(benchmark::State& state, const seat_map& map, const best_wish& wish,
                  const seat_rules& rules) {
  const auto chosen = best(map, wish, rules);
  state.counters["found"] = static_cast<double>(chosen.size());
  measure(state, [&] { benchmark::DoNotOptimize(best(map, wish, rules)); });
}

void best_of_fresh(benchmark::State& state) { measure_best(state, fresh_map(), {.count = 4}, {}); }
void best_of_90_percent_sold(benchmark::State& state) { measure_best(state, sold_map(90), {.count = 4}, {}); }
void best_of_97_percent_sold(benchmark::State& state) { measure_best(state, sold_map(97), {.count = 4}, {}); }
/// Looks at every row in vain.
void best_that_always_leaves_a_single(benchmark::State& state) {
  measure_best(state, combed_map(), {.count = 3}, {});
}
/// Looks at every pair of rows in vain: a part of three always leaves a single.
void best_that_fits_in_no_two_rows(benchmark::State& state) {
  measure_best(state, combed_map(), {.count = 7}, {.may_split = true});
}
void best_of_a_large_group_in_two_rows(benchmark::State& state) {
  measure_best(state, sold_map(30), {.count = 20}, {.singles = single_rule::when_needed, .may_split = true});
}
void best_accessible(benchmark::State& state) {
  measure_best(state, sold_map(80), {.count = 2, .accessible = 1}, {});
}

/// A whole sale in groups of 1 to 5: what each search took until nothing was left.
void best_until_sold_out(benchmark::State& state) {
  auto map = fresh_map();
  std::mt19937_64 dice{7};
  std::uint64_t claims = 0;
  measure(state, [&] {
    const auto chosen = best(map, {.count = 1 + static_cast<std::uint32_t>(dice() % 5)}, {});
    if (!chosen.empty()) std::ignore = map.hold(claim_id{1, ++claims}, chosen);
    if (map.counts_of(0).free + map.counts_of(1).free + map.counts_of(2).free + map.counts_of(3).free < 500)
      map = fresh_map();
  });
}

void hold_four(benchmark::State& state) {
  auto map = fresh_map();
  std::mt19937_64 dice{7};
  std::uint64_t claims = 0;
  measure(state, [&] {
    const auto n = static_cast<seat_number>(dice() % (map.size() - 4));
    const seat_number list[] = {n, n + 1, n + 2, n + 3};
    if (map.hold(claim_id{1, ++claims}, list) && claims % 8'000 == 0) map = fresh_map();
  });
}

void find_four_names(benchmark::State& state) {
  const auto& plan = *the_plan();
  std::mt19937_64 dice{7};
  std::vector<std::string> names;
  for (int i = 0; i < 4'096; ++i) names.push_back(plan.name_of(static_cast<seat_number>(dice() % 50'000)));
  std::size_t i = 0;
  measure(state, [&] {
    for (int k = 0; k < 4; ++k) benchmark::DoNotOptimize(plan.find(names[i++ & 4'095]));
  });
}

void whole_map(benchmark::State& state) {
  const auto map = sold_map(50);
  std::string out;
  measure(state, [&] {
    out.clear();
    append_seat_map(out, map, true);
  });
  state.counters["bytes"] = static_cast<double>(out.size());
}

void changes_of_100_claims(benchmark::State& state) {
  auto map = fresh_map();
  const auto since = map.version();
  for (seat_number n = 0; n < 100; ++n)
    std::ignore = map.hold(claim_id{1, n + 1}, std::vector<seat_number>{n * 300, n * 300 + 1});
  std::string out;
  measure(state, [&] {
    out.clear();
    append_seat_changes(out, map, since, true);
  });
  state.counters["bytes"] = static_cast<double>(out.size());
}

void drawing(benchmark::State& state) {
  std::string out;
  measure(state, [&] { out = draw(*the_plan()); });
  state.counters["bytes"] = static_cast<double>(out.size());
}

void read_json(benchmark::State& state) {
  const auto text = net::json_of(*the_plan());
  state.counters["bytes"] = static_cast<double>(text.size());
  measure(state, [&] { benchmark::DoNotOptimize(net::plan_of_json(text)); });
}

void read_csv(benchmark::State& state) {
  const auto text = net::csv_of(*the_plan());
  state.counters["bytes"] = static_cast<double>(text.size());
  measure(state, [&] { benchmark::DoNotOptimize(net::plan_of_csv(text)); });
}

/// Bytes in use on the heap for a plan and for a map of it, the allocator's own overhead included.
void bytes_per_seat(benchmark::State& state) {
  const auto in_use = [] {
    const auto m = mallinfo2();
    return static_cast<double>(m.uordblks + m.hblkhd);
  };
  const auto draft = stadium();
  for (auto _ : state) {
    const auto before = in_use();
    auto plan = std::make_shared<const seat_plan>(draft);
    const auto between = in_use();
    const seat_map map{plan, std::vector<std::uint8_t>{0, 1, 2, 3}, 0};
    state.counters["plan"] = (between - before) / 50'000;
    state.counters["map"] = (in_use() - between) / 50'000;
  }
}

} // namespace

BENCHMARK(best_of_fresh)->UseManualTime()->Iterations(1'000);
BENCHMARK(best_of_90_percent_sold)->UseManualTime()->Iterations(1'000);
BENCHMARK(best_of_97_percent_sold)->UseManualTime()->Iterations(1'000);
BENCHMARK(best_that_always_leaves_a_single)->UseManualTime()->Iterations(1'000);
BENCHMARK(best_that_fits_in_no_two_rows)->UseManualTime()->Iterations(1'000);
BENCHMARK(best_of_a_large_group_in_two_rows)->UseManualTime()->Iterations(1'000);
BENCHMARK(best_accessible)->UseManualTime()->Iterations(1'000);
BENCHMARK(best_until_sold_out)->UseManualTime()->Iterations(40'000);
BENCHMARK(hold_four)->UseManualTime()->Iterations(100'000);
BENCHMARK(find_four_names)->UseManualTime()->Iterations(100'000);
BENCHMARK(whole_map)->UseManualTime()->Iterations(1'000);
BENCHMARK(changes_of_100_claims)->UseManualTime()->Iterations(10'000);
BENCHMARK(drawing)->UseManualTime()->Iterations(50);
BENCHMARK(read_json)->UseManualTime()->Iterations(10);
BENCHMARK(read_csv)->UseManualTime()->Iterations(10);
BENCHMARK(bytes_per_seat)->Iterations(1);
BENCHMARK_MAIN();
