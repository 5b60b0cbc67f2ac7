// SPDX-License-Identifier: Apache-2.0
// Token buckets with bounded memory, one limiter per rule, and the 429 answer. Shared by all io threads.
// Called by the request guards (net/service/guards.hpp) and the auth routes. Callers pass steady time.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "net/http/http.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace fq::net {

/// `quota` requests per `window`; an unused quota may be spent at once. Quota 0: no limit.
struct rate_rule {
  std::string_view name; ///< in the RateLimit fields; static storage
  std::uint32_t quota = 0;
  seconds window{60};
};

struct rate_verdict {
  bool allowed = true;
  std::uint32_t remaining = 0;
  std::uint32_t reset_seconds = 0; ///< until the bucket is full; if refused, until a request is allowed
};

/// Tokens that this process took and other nodes do not know yet.
struct bucket_use {
  uuid key;
  std::int64_t tokens = 0;
};

/// Buckets live in a fixed table of small sets. A new key evicts the fullest bucket of its set, which loses
/// least. So a flood of new keys does not evict the heavily used buckets.
class rate_limiter {
public:
  /// `tracked`: number of buckets, rounded up to a power of two. `seed`: unpredictable, so that an attacker
  /// cannot aim keys at one set.
  rate_limiter(rate_rule rule, std::size_t tracked, std::uint64_t seed);

  [[nodiscard]] const rate_rule& rule() const noexcept { return rule_; }
  [[nodiscard]] bool enabled() const noexcept { return rule_.quota > 0; }

  /// Takes `tokens` if all are available. More than the quota never are.
  [[nodiscard]] rate_verdict take(const uuid& key, milliseconds now, std::uint32_t tokens = 1);
  /// Returns one token: the request does not count (a successful login).
  void give_back(const uuid& key, milliseconds now);

  // -- limits shared by nodes (net/service/limit_sharer)
  // Each node decides by its own bucket and merges the other nodes' uses afterwards.

  /// From now on uses are kept for `take_uses`. A key is listed at an eighth of the quota, which few
  /// clients reach.
  void begin_sharing() noexcept { is_shared_ = true; }
  /// Uses since the last call.
  [[nodiscard]] std::vector<bucket_use> take_uses();
  /// Merges the use of all nodes: their common bucket is full in `full_in_us` µs. That may exceed the
  /// window, because nodes can take more than the quota before they share.
  void merge(const uuid& key, std::int64_t full_in_us, milliseconds now);
  [[nodiscard]] std::int64_t token_us() const noexcept { return token_us_; }
  [[nodiscard]] std::int64_t window_us() const noexcept { return token_us_ * rule_.quota; }

  [[nodiscard]] std::size_t memory_bytes() const noexcept;

private:
  static constexpr std::size_t ways = 8;
  static constexpr std::size_t shard_count = 16;

  /// GCRA: the time when the bucket is full again, in µs of steady time. In the past: the slot is free.
  struct bucket {
    uuid key;
    std::int64_t full_at_us = 0;
    std::int32_t unshared = 0; ///< tokens taken that other nodes do not know
    bool is_listed = false; ///< in `to_share`
  };
  struct shard {
    std::mutex lock;
    std::vector<bucket> buckets;
    std::vector<uuid> to_share; ///< keys, each at most once
  };

  [[nodiscard]] std::uint64_t mix(const uuid& key) const noexcept;
  void note_use(shard& s, bucket& b, int tokens);
  bucket* look_up(shard& s, std::uint64_t hash, const uuid& key) noexcept; ///< null: no bucket for the key
  bucket& find(shard& s, std::uint64_t hash, const uuid& key, std::int64_t now_us) noexcept;

  rate_rule rule_;
  std::uint64_t seed_;
  std::int64_t token_us_;
  bool is_shared_ = false;
  std::size_t sets_per_shard_;
  std::unique_ptr<shard[]> shards_;
};

/// Adds RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11).
void add_rate_fields(response& answer, const rate_rule& rule, const rate_verdict& verdict);

/// 429 with Retry-After and the RateLimit fields.
[[nodiscard]] response too_many(const rate_rule& rule, const rate_verdict& verdict,
                                std::string_view request_id);

} // namespace fq::net
