// SPDX-License-Identifier: Apache-2.0
// What a printed ticket costs, with logo and picture, alone and on two threads. The budget: 40 ms and 150 KB.
#include "print/pictures.hpp"
#include "tests/print/sample_tickets.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace fq;

void print_ticket(benchmark::State& state, const char* language) {
  static const auto photo = print::pictures_of(test::photo_png(1600, 800)).sizes.medium;
  static const auto sign = print::pictures_of(test::sign_png()).sizes.small;
  auto document = test::sample_ticket(language);
  document.picture = photo;
  document.logo = sign;
  for (int i = 0; i < 60; ++i) document.pages.front().terms += document.pages.front().facts[1].value + ". ";
  std::size_t bytes = 0;
  for (auto _ : state) bytes = print::event_ticket_pdf(document).size();
  state.counters["bytes"] = benchmark::Counter(static_cast<double>(bytes), benchmark::Counter::kAvgThreads);
}
BENCHMARK_CAPTURE(print_ticket, english, "en")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(print_ticket, arabic, "ar")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(print_ticket, on_two_threads, "en")->Unit(benchmark::kMillisecond)->Threads(2);

void read_picture(benchmark::State& state) {
  const auto png = test::photo_png(1600, 800);
  for (auto _ : state) benchmark::DoNotOptimize(print::pictures_of(png));
}
BENCHMARK(read_picture)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
