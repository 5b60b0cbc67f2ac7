// SPDX-License-Identifier: Apache-2.0
// The port through which nodes have their rate limits together: buckets that all of them take out of.
// Blocking; called by one thread at a time (net/service/limit_sharer). Losing it costs nothing but the
// others' knowledge: each node goes on with its own buckets.
#pragma once
#include "store/redis/redis.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fq {

/// A use of a bucket, in the time it takes to fill up again.
struct limit_use {
  std::string bucket; ///< names it on all nodes; nothing personal
  std::int64_t used_us = 0;
  std::int64_t window_us = 0; ///< an empty bucket is full again after this long
};

/// A bucket that was emptied at many nodes at once is owed for so many windows at most.
inline constexpr std::int64_t debt_windows_max = 8;

class shared_limits {
public:
  virtual ~shared_limits() = default;

  /// Takes all of it out of the buckets: after how many microseconds each is full again, in order; at most
  /// debt_windows_max windows. Throws cache_unavailable.
  virtual std::vector<std::int64_t> use(std::span<const limit_use> uses) = 0;
};

/// Keeps a bucket as fairqueue:<space>:limit:<bucket>: the moment it is full again, in microseconds of
/// Redis's own clock, until then.
class redis_limits final : public shared_limits {
public:
  /// `env` must outlive it. `space`: of this installation. Does not connect yet.
  redis_limits(redis_options options, environment& env, std::string space);

  std::vector<std::int64_t> use(std::span<const limit_use> uses) override;

private:
  redis_connection connection_;
  std::string space_;
};

} // namespace fq
