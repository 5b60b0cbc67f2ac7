// SPDX-License-Identifier: Apache-2.0
// What a printed ticket costs, with logo and picture, alone and on two threads, and what a picture costs in
// each format and size. The budget of a ticket: 40 ms and 150 KB.
#include "print/pictures.hpp"
#include "tests/print/sample_tickets.hpp"

#include <benchmark/benchmark.h>

#include <turbojpeg.h>
#include <webp/encode.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

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

/// As photo_png: noise over colours, three bytes a pixel.
std::vector<std::uint8_t> photo(int width, int height) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  std::minstd_rand random{1};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int colour = 0; colour < 3; ++colour) {
        const double wave = std::sin(x * 0.013 * (colour + 1)) * std::cos(y * 0.017 * (3 - colour));
        pixels.push_back(
          static_cast<std::uint8_t>(128 + 90 * wave + static_cast<double>(random() % 30) - 15));
      }
  return pixels;
}

std::string jpeg_of(int width, int height) {
  const auto pixels = photo(width, height);
  auto* encoder = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  tjCompress2(encoder, pixels.data(), width, 0, height, TJPF_RGB, &bytes, &size, TJSAMP_420, 60, 0);
  std::string out(reinterpret_cast<const char*>(bytes), size);
  tjFree(bytes);
  tjDestroy(encoder);
  return out;
}

std::string webp_of(int width, int height) {
  const auto pixels = photo(width, height);
  std::uint8_t* bytes = nullptr;
  const auto size = WebPEncodeRGB(pixels.data(), width, height, width * 3, 60, &bytes);
  std::string out(reinterpret_cast<const char*>(bytes), size);
  WebPFree(bytes);
  return out;
}

/// Decodes a file and makes its three sizes.
void read_picture(benchmark::State& state, std::string (*make)(int, int)) {
  const auto file = make(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  state.counters["bytes"] = static_cast<double>(file.size());
  if (print::pictures_of(file).wrong != print::picture_fault::none) state.SkipWithError("not read");
  for (auto _ : state) benchmark::DoNotOptimize(print::pictures_of(file));
}
void sizes(benchmark::internal::Benchmark* each) {
  each->Args({400, 200})->Args({1'600, 800})->Args({4'000, 3'000})->Args({4'000, 4'000});
  each->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(read_picture, png, test::photo_png)->Apply(sizes);
BENCHMARK_CAPTURE(read_picture, jpeg, jpeg_of)->Apply(sizes);
BENCHMARK_CAPTURE(read_picture, webp, webp_of)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
