// SPDX-License-Identifier: Apache-2.0
// Lets nodes have their rate limits together: every now and then it tells the others what was taken out of
// buckets here, and these buckets what the others took. No request waits for it. Each node may keep an eighth
// of a client's quota to itself; what a client manages to take at several nodes within an interval it owes
// afterwards. While the cache is away each node limits by itself.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/environment.hpp"
#include "net/http/rate_limit.hpp"
#include "store/redis/shared_limits.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace fq::net {

inline constexpr milliseconds limit_sharing_interval{250};

class limit_sharer {
public:
  /// `limiters` and `env` must outlive it. `key`: the same on all nodes; the cache knows clients as hashes
  /// under it.
  limit_sharer(std::vector<rate_limiter*> limiters, std::unique_ptr<shared_limits> store,
               const secret_key& key, environment& env);
  ~limit_sharer();
  limit_sharer(const limit_sharer&) = delete;
  limit_sharer& operator=(const limit_sharer&) = delete;

  /// Shares every `limit_sharing_interval` on a thread of its own from now on.
  void start();
  /// Shares once. Not while the thread runs.
  void share();

private:
  void run();
  [[nodiscard]] std::string bucket_of(const rate_limiter& limiter, const uuid& key) const;

  std::vector<rate_limiter*> limiters_;
  std::unique_ptr<shared_limits> store_;
  secret_key key_;
  environment& env_;
  std::mutex lock_;
  std::condition_variable ending_;
  bool is_over_ = false; ///< guarded
  std::thread thread_;
};

} // namespace fq::net
