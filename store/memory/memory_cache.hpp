// SPDX-License-Identifier: Apache-2.0
// The cache in memory, with injectable faults: reference for the Redis engine and cache of simulations.
// Deliberately simple. One thread at a time.
#pragma once
#include "domain/base/environment.hpp"
#include "store/port/cache.hpp"
#include "store/port/mirror_chunks.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>

namespace fq {

enum class cache_call : std::uint8_t { apply, read, vouch, find, ping };

/// Fault of one call.
struct cache_fault {
  enum class kind : std::uint8_t {
    none,
    unavailable, ///< throws; nothing applied
    unanswered, ///< applied, then throws
    torn, ///< applies the first `chunks` chunks of all steps of the call, then throws
    flush, ///< all data is lost before the call
    rollback, ///< before the call the cache reverts to the last save(), like an old dump or a failover that
              ///< lost writes
  };
  kind what = kind::none;
  std::size_t chunks = 0;
};

struct memory_cache_options {
  /// Called before every call, with the steps of apply; empty: no faults. Deterministic if the function is.
  std::function<cache_fault(cache_call, std::span<const mirror_step>)> on_call{};
  std::size_t chunk_size_max = mirror_chunk_max; ///< small values let short steps tear too
};

class memory_cache final : public cache {
public:
  /// `env` must outlive the cache: sessions end by its steady clock.
  explicit memory_cache(environment& env, memory_cache_options options = {});

  std::vector<step_outcome> apply(std::span<const mirror_step> steps) override;
  reading read(const uuid& queue, std::uint64_t generation, std::uint64_t steps_taken) override;
  std::vector<step_outcome> vouch(std::span<const vouched_mirror> mirrors) override;
  std::vector<std::optional<vouched_mirror>> find_mirrors(std::span<const aggregate_id> aggregates) override;
  std::vector<session_reading> find_sessions(std::span<const session_question> questions) override;
  void ping() override;

  // -- for tests

  /// Loses all data except the saved copy.
  void flush() {
    queues_.clear();
    vouched_.clear();
  }
  /// Keeps a copy, like a dump to disk.
  void save() {
    saved_ = queues_;
    saved_vouched_ = vouched_;
  }
  /// Restores the copy, or nothing if there is none. Sessions that ended since then stay ended.
  void restore() {
    queues_ = saved_;
    vouched_ = saved_vouched_;
  }
  /// Remaining life of a session; empty if ended or unknown.
  [[nodiscard]] std::optional<milliseconds> session_life(const uuid& queue, queue_number number) const;

private:
  struct kept_session {
    mirrored_session session;
    milliseconds ends; ///< steady time
  };
  struct kept_vouch {
    vouched_mirror mirror;
    milliseconds ends; ///< steady time
  };
  struct mirror {
    std::uint64_t generation = 0, steps = 0, part = 0;
    bool ready = false;
    std::map<line_rank, queue_number> waiting;
    std::map<queue_number, kept_session> sessions;
    std::map<ticket_type_id, mirrored_stock> stock;
  };

  cache_fault next_fault(cache_call call, std::span<const mirror_step> steps = {});
  [[nodiscard]] std::optional<vouched_mirror> vouch_of(aggregate_id aggregate) const;
  step_outcome apply(const mirror_step& step, std::size_t& chunks_left);
  /// The mirror if its head matches and it is complete.
  [[nodiscard]] const mirror* complete(const uuid& queue, std::uint64_t generation,
                                       std::uint64_t steps_taken) const;
  mirror* continued_by(const mirror_step& step, const mirror_chunk& chunk);
  void apply(const mirror_chunk& chunk, const mirror_step& step, mirror& m) const;
  void keep(const mirrored_session& session, const mirror_step& step, mirror& m) const;

  environment& env_;
  memory_cache_options options_;
  std::map<uuid, mirror> queues_, saved_;
  std::map<aggregate_id, kept_vouch> vouched_, saved_vouched_;
  std::uint64_t words_ = 0;
};

} // namespace fq
