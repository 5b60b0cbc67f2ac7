// SPDX-License-Identifier: Apache-2.0
// Shares rate limits between nodes: every 250 ms it publishes the local uses of buckets and merges those of
// other nodes. Requests never wait for it. A node may keep up to an eighth of a client's quota unshared.
// What a client takes above its quota at several nodes is deducted afterwards. Without the cache each node
// limits alone.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/environment.hpp"
#include "net/http/rate_limit.hpp"
#include "net/service/limits.hpp"
#include "store/redis/shared_limits.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace fq::net {

class limit_sharer {
public:
  /// `limiters` and `env` must outlive this. `key`: the same on all nodes; the cache sees clients only as
  /// hashes under it.
  limit_sharer(std::vector<rate_limiter*> limiters, std::unique_ptr<shared_limits> store,
               const secret_key& key, environment& env);
  ~limit_sharer();

  /// Starts a thread that shares every `limit_sharing_interval`.
  void start();
  /// Shares once. Do not call while the thread runs.
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
  bool is_over_ = false; ///< guarded by lock_
  std::thread thread_;
};

} // namespace fq::net
