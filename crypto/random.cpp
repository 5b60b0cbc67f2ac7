// SPDX-License-Identifier: Apache-2.0
// Kernel randomness through libsodium, which reads getrandom(2) directly: no generator state that a fork
// could repeat.
#include "crypto/random.hpp"

#include <sodium.h>

#include <cstdlib>

namespace fq {

void fill_random(std::span<std::byte> out) noexcept {
  static const bool ready = sodium_init() >= 0;
  if (!ready) std::abort();
  if (!out.empty()) randombytes_buf(out.data(), out.size());
}

} // namespace fq
