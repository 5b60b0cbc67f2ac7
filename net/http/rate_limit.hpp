// SPDX-License-Identifier: Apache-2.0
// Token buckets with bounded memory, one limiter per rule, and the answer at the limit. Shared by all io
// threads. Called by the request guards (net/service/guards.hpp) and the auth routes. Knows no clock: callers
// pass steady time.
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

/// `quota` requests a `window`, all of it at once if unused. Quota 0: no limit.
struct rate_rule {
  std::string_view name; ///< in the RateLimit fields; static storage
  std::uint32_t quota = 0;
  seconds window{60};
};

struct rate_verdict {
  bool allowed = true;
  std::uint32_t remaining = 0;
  std::uint32_t reset_seconds =
    0; ///< allowed: until the bucket is full again; refused: until the next request is allowed
};

/// What this process has taken out of a bucket and other nodes do not know yet.
struct bucket_use {
  uuid key;
  std::int64_t tokens = 0;
};

/// Buckets live in a fixed table of small sets; a new key takes the place of the fullest bucket of its set,
/// which is the one that loses least by being forgotten, so an attacker's flood of fresh keys does not wash
/// out the heavy ones.
class rate_limiter {
public:
  /// `tracked`: buckets kept, rounded up to a power of two. `seed`: unpredictable, so that nobody can aim
  /// keys at one set.
  rate_limiter(rate_rule rule, std::size_t tracked, std::uint64_t seed);

  [[nodiscard]] const rate_rule& rule() const noexcept { return rule_; }
  [[nodiscard]] bool enabled() const noexcept { return rule_.quota > 0; }

  /// Takes one token if there is one.
  [[nodiscard]] rate_verdict take(const uuid& key, milliseconds now);
  /// Gives one back: the request did not count after all (a login that succeeded).
  void give_back(const uuid& key, milliseconds now);

  // -- nodes with one limit together (net/service/limit_sharer); each decides by its own bucket, which learns
  // of the others' uses afterwards

  /// From now on uses are kept for `take_uses`: an eighth of a quota at a time, which few clients ever use.
  void begin_sharing() noexcept { is_shared_ = true; }
  /// What is new since the last call.
  [[nodiscard]] std::vector<bucket_use> take_uses();
  /// All nodes together have emptied the bucket so far that it is full again in `full_in_us`, which may be
  /// more than the window: what was taken beyond the quota before anybody knew is owed.
  void merge(const uuid& key, std::int64_t full_in_us, milliseconds now);
  [[nodiscard]] std::int64_t token_us() const noexcept { return token_us_; }
  [[nodiscard]] std::int64_t window_us() const noexcept { return token_us_ * rule_.quota; }

  [[nodiscard]] std::size_t memory_bytes() const noexcept;

private:
  static constexpr std::size_t ways = 8;
  static constexpr std::size_t shard_count = 16;

  /// GCRA: when the bucket will be full again, in microseconds of steady time. Free when in the past.
  struct bucket {
    uuid key;
    std::int64_t full_at_us = 0;
    std::int32_t unshared = 0; ///< tokens taken that other nodes do not know of
    bool is_listed = false; ///< in `to_share`
  };
  struct shard {
    std::mutex lock;
    std::vector<bucket> buckets;
    std::vector<uuid> to_share; ///< keys; each at most once
  };

  [[nodiscard]] std::uint64_t mix(const uuid& key) const noexcept;
  void note_use(shard& s, bucket& b, int tokens);
  bucket* look_up(shard& s, std::uint64_t hash, const uuid& key) noexcept; ///< null: not kept
  bucket& find(shard& s, std::uint64_t hash, const uuid& key, std::int64_t now_us) noexcept;

  rate_rule rule_;
  std::uint64_t seed_;
  std::int64_t token_us_;
  bool is_shared_ = false;
  std::size_t sets_per_shard_;
  std::unique_ptr<shard[]> shards_;
};

/// RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11).
void add_rate_fields(response& answer, const rate_rule& rule, const rate_verdict& verdict);

/// 429 with Retry-After and the RateLimit fields.
[[nodiscard]] response too_many(const rate_rule& rule, const rate_verdict& verdict,
                                std::string_view request_id);

} // namespace fq::net
