// SPDX-License-Identifier: Apache-2.0
// The only access to the operating system's cryptographic randomness. Used by the key store and by the
// system `environment` (ids, one-time codes). All other code uses the environment, so that tests can replay.
#pragma once

#include <cstddef>
#include <span>

namespace fq {

/// Fills `out` with unpredictable bytes. Ends the process if the kernel has none. Thread-safe.
void fill_random(std::span<std::byte> out) noexcept;

} // namespace fq
