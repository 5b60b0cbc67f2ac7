// SPDX-License-Identifier: Apache-2.0
// Runs independent work on all cores.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <type_traits>
#include <vector>

namespace fq::sim {

/// Calls `work(k)` for each k below `count`, each in a process of its own; returns the results in order. A
/// process that dies is an error of the whole program. Output of a process must be flushed by line.
template <class Work>
auto in_processes(unsigned count, Work work) {
  using result = decltype(work(0u));
  static_assert(std::is_trivially_copyable_v<result>);
  std::vector<int> pipes;
  std::cout.flush();
  for (unsigned k = 0; k < count; ++k) {
    int ends[2] = {};
    if (::pipe(ends) != 0) std::abort();
    if (const auto child = ::fork(); child == 0) {
      const result told = work(k);
      std::cout.flush();
      const bool ok = ::write(ends[1], &told, sizeof told) == static_cast<ssize_t>(sizeof told);
      std::_Exit(ok ? EXIT_SUCCESS : EXIT_FAILURE);
    } else if (child < 0) {
      std::abort();
    }
    ::close(ends[1]);
    pipes.push_back(ends[0]);
  }
  std::vector<result> all;
  for (const int end : pipes) {
    result told{};
    if (::read(end, &told, sizeof told) != static_cast<ssize_t>(sizeof told)) {
      std::cerr << "a process of the simulation died" << std::endl;
      std::exit(EXIT_FAILURE);
    }
    ::close(end);
    all.push_back(told);
  }
  while (::wait(nullptr) > 0) {}
  return all;
}

} // namespace fq::sim
