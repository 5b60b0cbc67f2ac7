// SPDX-License-Identifier: Apache-2.0
// GCRA in fixed sets of eight: one 64-bit time per key stores how full its bucket is.
#include "net/http/rate_limit.hpp"

#include "net/http/problem.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace fq::net {
namespace {

std::int64_t to_us(milliseconds t) { return t.count() * 1000; }

std::uint32_t ceil_seconds(std::int64_t us) {
  return us <= 0 ? 0 : static_cast<std::uint32_t>((us + 999'999) / 1'000'000);
}

} // namespace

rate_limiter::rate_limiter(rate_rule rule, std::size_t tracked, std::uint64_t seed) :
    rule_(rule),
    seed_(seed),
    token_us_(rule.quota == 0 ? 0 : std::max<std::int64_t>(1, rule.window.count() * 1'000'000 / rule.quota)),
    sets_per_shard_(std::bit_ceil(std::max<std::size_t>(1, tracked / (ways * shard_count)))),
    shards_(std::make_unique<shard[]>(shard_count)) {
  if (!enabled()) return;
  for (std::size_t i = 0; i < shard_count; ++i) shards_[i].buckets.resize(sets_per_shard_ * ways);
}

std::uint64_t rate_limiter::mix(const uuid& key) const noexcept {
  std::uint64_t x = (key.hi ^ seed_) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 29) ^ key.lo ^ (seed_ >> 7)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 32)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

rate_limiter::bucket* rate_limiter::look_up(shard& s, std::uint64_t hash, const uuid& key) noexcept {
  const auto first =
    s.buckets.begin() + static_cast<std::ptrdiff_t>(((hash >> 4) & (sets_per_shard_ - 1)) * ways);
  const auto found = std::find_if(first, first + ways, [&](const bucket& b) { return b.key == key; });
  return found == first + ways ? nullptr : &*found;
}

rate_limiter::bucket& rate_limiter::find(shard& s, std::uint64_t hash, const uuid& key,
                                         std::int64_t now_us) noexcept {
  const auto first = ((hash >> 4) & (sets_per_shard_ - 1)) * ways;
  auto* fullest = &s.buckets[first];
  for (std::size_t i = first; i < first + ways; ++i) {
    auto& b = s.buckets[i];
    if (b.key == key) return b;
    if (b.full_at_us < fullest->full_at_us) fullest = &b;
  }
  *fullest = {.key = key, .full_at_us = now_us};
  return *fullest;
}

rate_verdict rate_limiter::take(const uuid& key, milliseconds now, std::uint32_t tokens) {
  if (!enabled()) return {};
  const auto now_us = to_us(now), window_us = token_us_ * rule_.quota;
  const auto hash = mix(key);
  auto& s = shards_[hash % shard_count];
  const std::lock_guard guard{s.lock};
  auto& b = find(s, hash, key, now_us);
  const auto full_at = std::max(b.full_at_us, now_us) + token_us_ * tokens;
  if (full_at - now_us > window_us)
    return {false, 0, std::max<std::uint32_t>(1, ceil_seconds(full_at - now_us - window_us))};
  note_use(s, b, static_cast<int>(tokens));
  b.full_at_us = full_at;
  return {true, static_cast<std::uint32_t>((window_us - (full_at - now_us)) / token_us_),
          ceil_seconds(full_at - now_us)};
}

void rate_limiter::give_back(const uuid& key, milliseconds now) {
  if (!enabled()) return;
  const auto hash = mix(key);
  auto& s = shards_[hash % shard_count];
  const std::lock_guard guard{s.lock};
  auto& b = find(s, hash, key, to_us(now));
  note_use(s, b, -1);
  b.full_at_us -= token_us_;
}

// -- sharing

/// Uses that are not yet shared accumulate over time. Otherwise a client that spreads its requests over the
/// nodes would escape the limit.
void rate_limiter::note_use(shard& s, bucket& b, int tokens) {
  if (!is_shared_) return;
  b.unshared += tokens;
  if (8 * static_cast<std::int64_t>(b.unshared) > rule_.quota && !std::exchange(b.is_listed, true))
    s.to_share.push_back(b.key);
}

std::vector<bucket_use> rate_limiter::take_uses() {
  std::vector<bucket_use> uses;
  if (!enabled()) return uses;
  for (std::size_t i = 0; i < shard_count; ++i) {
    auto& s = shards_[i];
    const std::lock_guard guard{s.lock};
    for (const auto& key : std::exchange(s.to_share, {})) {
      auto* b = look_up(s, mix(key), key);
      if (b == nullptr) // evicted meanwhile
        continue;
      b->is_listed = false;
      uses.push_back({key, std::exchange(b->unshared, 0)});
    }
  }
  return uses;
}

void rate_limiter::merge(const uuid& key, std::int64_t full_in_us, milliseconds now) {
  const auto hash = mix(key);
  auto& s = shards_[hash % shard_count];
  const std::lock_guard guard{s.lock};
  auto* b = look_up(s, hash, key);
  if (b != nullptr) // `full_in_us` lacks the uses here that are not shared yet
    b->full_at_us = std::max(b->full_at_us, to_us(now) + full_in_us + b->unshared * token_us_);
}

std::size_t rate_limiter::memory_bytes() const noexcept {
  return enabled() ? shard_count * sets_per_shard_ * ways * sizeof(bucket) : 0;
}

void add_rate_fields(response& answer, const rate_rule& rule, const rate_verdict& verdict) {
  const auto quoted = '"' + std::string{rule.name} + '"';
  answer.fields.emplace_back("RateLimit-Policy", quoted + ";q=" + std::to_string(rule.quota)
                                                   + ";w=" + std::to_string(rule.window.count()));
  answer.fields.emplace_back("RateLimit", quoted + ";r=" + std::to_string(verdict.remaining)
                                            + ";t=" + std::to_string(verdict.reset_seconds));
}

response too_many(const rate_rule& rule, const rate_verdict& verdict, std::string_view request_id) {
  auto answer = problem(fault::rate_limited, request_id, {}, verdict.reset_seconds);
  add_rate_fields(answer, rule, verdict);
  return answer;
}

} // namespace fq::net
