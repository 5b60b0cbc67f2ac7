// SPDX-License-Identifier: Apache-2.0
#include "app/system_environment.hpp"

#include "crypto/random.hpp"

namespace fq {

timestamp system_environment::wall_now() {
  return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

milliseconds system_environment::steady_now() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

void system_environment::random_bytes(std::span<std::byte> out) { fill_random(out); }

} // namespace fq
