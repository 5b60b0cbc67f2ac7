// SPDX-License-Identifier: Apache-2.0
// The cache in Redis or Valkey. Keys of a queue, with <q> = fairqueue:{<queue>} and <g> = <q>:<generation>:
//   <q>:head - hash: generation, steps (taken), part (received chunks of the next step), ready (1 or 0)
//   <g>:waiting - sorted set: queue number, scored by its rank
//   <g>:active - sorted set: entry id, scored by the session's end in Unix ms
//   <g>:session:<entry id> - string: "<admission_no> <number> <end in Unix ms> <subject>"; expires at the end
//   <g>:inventory - hash: ticket type -> "<total> <held> <sold>"
// The braces put all keys of a queue into one slot of a cluster. The vouch of the owner, valid for 1.5 s:
//   fairqueue:<space>:mirror:<aggregate> - string: "<generation> <time in Unix us> <tenant> <queue>"
// Each chunk of a step is one script that checks the head first. So a step is applied in order and at most
// once, even if a server lost data or an old connection delivers late.
#pragma once
#include "store/port/cache.hpp"
#include "store/port/mirror_chunks.hpp"
#include "store/redis/redis.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace fq {

class redis_cache final : public cache {
public:
  /// `env` must outlive the cache. `space`: identifies the installation, because aggregate numbers repeat in
  /// every ledger. Does not connect yet.
  redis_cache(redis_options options, environment& env, std::string space);

  std::vector<step_outcome> apply(std::span<const mirror_step> steps) override;
  reading read(const uuid& queue, std::uint64_t generation, std::uint64_t steps_taken) override;
  std::vector<step_outcome> vouch(std::span<const vouched_mirror> mirrors) override;
  std::vector<std::optional<vouched_mirror>> find_mirrors(std::span<const aggregate_id> aggregates) override;
  std::vector<session_reading> find_sessions(std::span<const session_question> questions) override;
  void ping() override;

private:
  struct script {
    std::string_view source;
    std::string sha; ///< empty until the server has returned it
  };
  struct window;

  void load(script& s);
  void append(window& w, std::size_t index, const mirror_step& step, const mirror_chunk& chunk) const;
  void run(window& w, std::vector<step_outcome>& outcomes);
  void clear(const mirror_step& step);
  template <std::size_t N>
  std::vector<std::int64_t> call(script& s, std::span<const std::array<std::string, N>> calls);
  [[nodiscard]] std::string vouched_key(aggregate_id aggregate) const;

  redis_connection connection_;
  std::string space_;
  script apply_, clear_, vouch_;
};

} // namespace fq
