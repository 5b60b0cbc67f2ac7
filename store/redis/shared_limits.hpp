// SPDX-License-Identifier: Apache-2.0
// Port for rate limits that all nodes share: common token buckets. Blocking; called by one thread at a time
// (net/service/limit_sharer). Without it each node continues with its own buckets.
#pragma once
#include "store/redis/redis.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fq {

/// Use of a bucket, expressed as the time that the bucket needs to refill it.
struct limit_use {
  std::string bucket; ///< same name on all nodes; contains no personal data
  std::int64_t used_us = 0;
  std::int64_t window_us = 0; ///< time in which an empty bucket refills
};

class shared_limits {
public:
  virtual ~shared_limits() = default;

  /// Takes the uses out of the buckets. Returns, in order, the microseconds until each is full again, at most
  /// redis_bounds::debt_windows_max windows. Throws cache_unavailable.
  virtual std::vector<std::int64_t> use(std::span<const limit_use> uses) = 0;
};

/// Stores a bucket as fairqueue:<space>:limit:<bucket>: the time when it is full again, in microseconds of
/// Redis' clock. The key expires then.
class redis_limits final : public shared_limits {
public:
  /// `env` must outlive it. `space`: identifies the installation. Does not connect yet.
  redis_limits(redis_options options, environment& env, std::string space);

  std::vector<std::int64_t> use(std::span<const limit_use> uses) override;

private:
  redis_connection connection_;
  std::string space_;
};

} // namespace fq
