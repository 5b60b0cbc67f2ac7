// SPDX-License-Identifier: Apache-2.0
// The join benchmark: distinct customers join over a fixed number of keep-alive connections, closed loop.
// Uses bare sockets and epoll without allocation per request, so that it measures the server and not itself.
#pragma once

#include "load/base/metrics.hpp"
#include "load/base/options.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fq::load {

struct join_bench_result {
  bool reached = false;
  bool timed_out = false;
  std::string failure;
  std::uint64_t joined = 0; // answers 200 and 201
  std::uint64_t retries = 0; // dropped connections, 429, 503
  std::map<int, std::uint64_t> others; // refusals by status
  std::uint64_t duplicate_numbers = 0;
  double elapsed_s = 0;
  double joins_per_s = 0;
  double client_cpu_us = 0; // per join
  percentiles latency;
};

join_bench_result run_join_bench(const load_options& options, const std::vector<std::string>& tokens,
                                 const std::function<void(std::uint64_t joined, double elapsed_s)>& show);

} // namespace fq::load
