// SPDX-License-Identifier: Apache-2.0
#include "net/service/limit_sharer.hpp"

#include <array>
#include <cstring>
#include <utility>

namespace fq::net {

limit_sharer::limit_sharer(std::vector<rate_limiter*> limiters, std::unique_ptr<shared_limits> store,
                           const secret_key& key, environment& env) :
    limiters_(std::move(limiters)), store_(std::move(store)), key_(key), env_(env) {
  for (auto* limiter : limiters_) limiter->begin_sharing();
}

limit_sharer::~limit_sharer() {
  {
    const std::lock_guard guard{lock_};
    is_over_ = true;
  }
  ending_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void limit_sharer::start() {
  thread_ = std::thread{[this] { run(); }};
}

void limit_sharer::run() {
  std::unique_lock guard{lock_};
  while (!ending_.wait_for(guard, limit_sharing_interval, [this] { return is_over_; })) {
    guard.unlock();
    share();
    guard.lock();
  }
}

/// Uses that an unreachable cache misses are not sent again: they matter for seconds only.
void limit_sharer::share() {
  std::vector<std::pair<rate_limiter*, uuid>> buckets;
  std::vector<limit_use> uses;
  for (auto* limiter : limiters_)
    for (const auto& use : limiter->take_uses()) {
      buckets.emplace_back(limiter, use.key);
      uses.push_back({bucket_of(*limiter, use.key), use.tokens * limiter->token_us(), limiter->window_us()});
    }
  if (uses.empty()) return;
  try {
    const auto full_in_us = store_->use(uses);
    const auto now = env_.steady_now();
    for (std::size_t i = 0; i < buckets.size(); ++i)
      buckets[i].first->merge(buckets[i].second, full_in_us[i], now);
  } catch (const cache_unavailable&) {}
}

std::string limit_sharer::bucket_of(const rate_limiter& limiter, const uuid& key) const {
  const std::string name{limiter.rule().name};
  const auto hash = keyed_hash_128(key_.bytes(), name + to_string(key));
  return name + ':' + to_string(uuid{hash[0], hash[1]});
}

} // namespace fq::net
