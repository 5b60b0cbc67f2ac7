// SPDX-License-Identifier: Apache-2.0
// The transport alone over a fake event actor, for measurements (wrk, sockets): `micro_server [port]
// [seconds]`. Prints its CPU time and memory. Not a test.
#include "tests/net/server/site.hpp"

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace {

long anonymous_kb() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::atol(line.c_str() + 8);
  return 0;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

} // namespace

int main(int argc, char** argv) {
  using namespace fq::net;
  rlimit files{20'000, 20'000};
  setrlimit(RLIMIT_NOFILE, &files);
  auto options = fake::fast_options();
  options.http.listen.port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 18080);
  options.http.in_flight_per_event = 20'000;
  fake::world world{fake::test_site(), options};
  const int run_seconds = argc > 2 ? std::atoi(argv[2]) : 60;
  for (int i = 0; i < run_seconds; ++i) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    if (argc > 3 && i == std::atoi(argv[3])) world.order(fq::timer_kind::journal);
    std::printf("cpu_s %.3f rss_anon_kb %ld connections %ld websockets %ld frames %lu\n", cpu_seconds(),
                anonymous_kb(), static_cast<long>(world.state.connections),
                static_cast<long>(world.state.websockets),
                static_cast<unsigned long>(world.state.frames_sent));
    std::fflush(stdout);
  }
}
