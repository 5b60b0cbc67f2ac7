// SPDX-License-Identifier: Apache-2.0
// The one door to the operating system's cryptographic randomness. Called by the key store when it creates
// keys and by the system `environment` (ids, one-time codes); everybody else asks the environment, so that
// tests can replay.
#pragma once

#include <cstddef>
#include <span>

namespace fq {

/// Fills `out` with unpredictable bytes. Ends the process when the kernel has none: there is no safe way on.
/// Safe on any thread.
void fill_random(std::span<std::byte> out) noexcept;

} // namespace fq
