// SPDX-License-Identifier: Apache-2.0
// The only source of time, randomness and ids. main (or a simulation) creates one environment and passes it
// down.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <cstddef>
#include <span>

namespace fq {

class environment {
public:
  virtual ~environment() = default;

  /// Wall clock, UTC. May jump. Used for token expiry and as the ledger time when an aggregate is loaded.
  virtual timestamp wall_now() = 0;

  /// Monotonic time since an arbitrary start. Never jumps; all timeouts and intervals use it.
  virtual milliseconds steady_now() = 0;

  /// Fills `out` with unpredictable bytes (reproducible in a simulation). Thread-safe.
  virtual void random_bytes(std::span<std::byte> out) = 0;

  std::uint64_t random_u64() {
    std::uint64_t x = 0;
    random_bytes(std::as_writable_bytes(std::span{&x, 1}));
    return x;
  }

  /// Makes a fresh UUIDv7 that leads to its owner: its random bits contain the aggregate number.
  uuid make_id(timestamp now, aggregate_id owner) { return make_uuid(now, owner, random_u64()); }
};

} // namespace fq
