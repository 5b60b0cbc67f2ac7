// SPDX-License-Identifier: Apache-2.0
// The cache of a simulated sale: the memory cache with faults, and the check of I11. It outlives processes,
// as Redis does.
#pragma once
#include "tests/sim/world.hpp"

#include "store/memory/memory_cache.hpp"

#include <map>

namespace fq::sim {

class watched_cache final : public cache {
public:
  explicit watched_cache(world& w);

  std::vector<step_outcome> apply(std::span<const mirror_step> steps) override;
  reading read(const uuid& queue, std::uint64_t generation, std::uint64_t steps_taken) override;
  std::vector<step_outcome> vouch(std::span<const vouched_mirror> mirrors) override {
    return inner_.vouch(mirrors);
  }
  std::vector<std::optional<vouched_mirror>> find_mirrors(std::span<const aggregate_id> aggregates) override {
    return inner_.find_mirrors(aggregates);
  }
  std::vector<session_reading> find_sessions(std::span<const session_question> questions) override {
    return inner_.find_sessions(questions);
  }
  void ping() override { inner_.ping(); }

  /// Randomly a dump to disk or an outage.
  void strike();
  /// Call it when the ledger has applied `b`.
  void applied(const batch& b);
  /// For times when an owner serves, no work is in flight and no fault is recent: the cache must equal the
  /// ledger. `now`: the owner's time.
  void check_equal(timestamp now);

private:
  cache_fault next_fault();
  void check_step(const mirror_step& step);
  void check_line(const mirror_delta& delta) const;
  void check_sessions(const mirror_delta& delta) const;

  world& world_;
  memory_cache inner_;
  milliseconds away_until_{0};
  bool was_rolled_back_ = false;
  std::map<std::uint64_t, std::uint64_t> steps_; ///< steps sent, by generation
  std::uint64_t raised_under_ = 0; ///< epoch in which the newest generation started
};

} // namespace fq::sim
