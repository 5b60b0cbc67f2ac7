// SPDX-License-Identifier: Apache-2.0
// Where time, randomness and ids come from: one environment, made in main (or by a simulation) and handed
// down. Nothing else in the project asks a clock or a random source.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <cstddef>
#include <span>

namespace fq {

class environment {
public:
  virtual ~environment() = default;

  /// Wall clock, UTC. May jump; used for token expiry and as ledger time when an aggregate is loaded.
  virtual timestamp wall_now() = 0;

  /// Monotonic time since an arbitrary start. Never jumps; everything that waits is measured by it.
  virtual milliseconds steady_now() = 0;

  /// Fills with unpredictable bytes (reproducible ones in a simulation). Thread-safe.
  virtual void random_bytes(std::span<std::byte> out) = 0;

  std::uint64_t random_u64() {
    std::uint64_t x = 0;
    random_bytes(std::as_writable_bytes(std::span{&x, 1}));
    return x;
  }

  /// A fresh UUIDv7 that leads to its owner: the aggregate number sits in the random bits.
  uuid make_id(timestamp now, aggregate_id owner) { return make_uuid(now, owner, random_u64()); }
};

} // namespace fq
