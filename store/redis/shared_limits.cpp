// SPDX-License-Identifier: Apache-2.0
#include "store/redis/shared_limits.hpp"

#include "store/redis/limits.hpp"

#include <algorithm>
#include <utility>

namespace fq {
namespace {

constexpr std::string_view use_source = R"lua(#!lua
-- KEYS: bucket. ARGV: used, and most that may be owed, both in microseconds. Answers after how many of
-- them the bucket is full again.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local full_at = math.max(tonumber(redis.pcall('GET', KEYS[1]) or now) or now, now)
full_at = math.min(math.max(full_at + ARGV[1], now), now + ARGV[2])
if full_at > now then
  redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil((full_at - now) / 1000))
else
  redis.call('UNLINK', KEYS[1])
end
return full_at - now
)lua";

} // namespace

redis_limits::redis_limits(redis_options options, environment& env, std::string space) :
    connection_(std::move(options), env), space_(std::move(space)) {}

std::vector<std::int64_t> redis_limits::use(std::span<const limit_use> uses) {
  std::vector<std::int64_t> result;
  result.reserve(uses.size());
  while (!uses.empty()) {
    const auto some = uses.first(std::min(uses.size(), redis_bounds::limit_calls_max));
    uses = uses.subspan(some.size());
    redis_pipeline calls;
    for (const auto& u : some) { // EVAL, not EVALSHA: a lost script must not cause a repeated use
      calls.begin(6);
      for (const auto word : {std::string_view{"EVAL"}, use_source, std::string_view{"1"}}) calls.add(word);
      calls.add("fairqueue:" + space_ + ":limit:" + u.bucket);
      calls.add(u.used_us);
      calls.add(redis_bounds::debt_windows_max * u.window_us);
    }
    const auto replies = connection_.run(calls);
    for (std::size_t i = 0; i < replies.size(); ++i) result.push_back(replies.at(i).integer());
  }
  return result;
}

} // namespace fq
