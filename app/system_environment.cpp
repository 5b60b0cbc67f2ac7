// SPDX-License-Identifier: Apache-2.0
#include "app/system_environment.hpp"

#include "app/limits.hpp"
#include "crypto/random.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace fq {

timestamp system_environment::wall_now() {
  return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

milliseconds system_environment::steady_now() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

/// A thread reads the bytes of 64 ids with one system call, and erases each after its use. The process never
/// goes on after a fork: a child would give the same bytes again.
void system_environment::random_bytes(std::span<std::byte> out) {
  thread_local std::array<std::byte, random_bytes_ahead> ahead;
  thread_local std::size_t left = 0;
  if (out.size() > sizeof(std::uint64_t)) return fill_random(out);
  if (left < out.size()) {
    fill_random(ahead);
    left = ahead.size();
  }
  left -= out.size();
  const auto given = std::span{ahead}.subspan(left, out.size());
  std::ranges::copy(given, out.begin());
  std::ranges::fill(given, std::byte{});
}

} // namespace fq
