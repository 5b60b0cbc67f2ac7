// SPDX-License-Identifier: Apache-2.0
// The cache port: a mirror of committed state. Everything in it can be rebuilt. Blocking; called only by the
// cache worker (a detached actor) and tests. Engines: memory (with faults, for simulations) and Redis. Both
// pass the suite in tests/cache with the same answers.
#pragma once
#include "domain/line/mirror.hpp"
#include "store/port/limits.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq {

/// The cache cannot be reached, did not answer in time, or refused (read-only, out of memory). Any part of
/// the call may have been applied or may still be applied, because a sent request cannot be recalled.
struct cache_unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One step of a mirror. The head of a mirror in the cache stores its generation and step count; a step that
/// does not continue exactly there is refused. So FLUSHALL, an old dump, a failover that lost writes and a
/// torn step are detected at the next step.
/// A step number of a generation must always have the same content. An owner that cannot repeat the same
/// step must raise the generation.
struct mirror_step {
  aggregate_id aggregate{};
  uuid queue; ///< the event's id, part of the keys
  std::uint64_t generation = 0;
  std::uint64_t number = 0; ///< 0 starts the generation and deletes the queue's earlier content
  timestamp now; ///< the owner's clock; the remaining life of sessions is sent, not their end
  mirror_delta delta;
  bool ready = true; ///< false while the mirror is being built; true: complete after this step
  line_ranks ranks = {}; ///< the same in all steps of a generation
};

enum class step_outcome : std::uint8_t {
  applied,
  lost, ///< the step does not continue at the head: rebuild the mirror under a new generation
};

/// Names the keys of an aggregate's current mirror, for nodes that do not own the aggregate. The owner renews
/// this vouch periodically. If the owner stops (frozen, cut off, dead, or with another mirror), the vouch
/// expires within `vouch_life`.
struct vouched_mirror {
  aggregate_id aggregate{};
  uuid queue;
  tenant_id tenant = default_tenant;
  std::uint64_t generation = 0;
  std::uint64_t steps_taken = 0; ///< for `vouch` only: steps that the owner has sent; not set by find_mirrors
  std::uint64_t word = 0; ///< time of the last vouch by the cache's clock; increases with every vouch
  [[nodiscard]] bool is_same_mirror(const vouched_mirror& other) const {
    return queue == other.queue && generation == other.generation;
  }
  friend bool operator==(const vouched_mirror&, const vouched_mirror&) = default;
};

struct session_question {
  vouched_mirror mirror;
  entry_id entry;
};

struct session_reading {
  std::uint64_t word = 0; ///< that of the current vouch for the mirror; 0: it is not vouched for any more
  std::optional<mirrored_session> session; ///< empty: not in the mirror
};

class cache {
public:
  virtual ~cache() = default;

  /// Applies the steps in order, pipelined; returns one outcome per step. Throws cache_unavailable.
  virtual std::vector<step_outcome> apply(std::span<const mirror_step> steps) = 0;

  /// The cached content of a queue, the line by rank, without expired sessions. `found` is false if
  /// the head has another generation or step count, or is not ready. Throws cache_unavailable.
  struct reading {
    bool found = false;
    mirror_image image;
  };
  virtual reading read(const uuid& queue, std::uint64_t generation, std::uint64_t steps_taken) = 0;

  /// Vouches for each mirror for `vouch_life` from now. `lost` if the mirror is incomplete or has taken
  /// fewer than `steps_taken` steps. A rebuild of the mirror withdraws its vouch. A vouch that reaches the
  /// cache more than `vouch_delay_max` after the call began has no effect. Throws cache_unavailable.
  virtual std::vector<step_outcome> vouch(std::span<const vouched_mirror> mirrors) = 0;
  /// Returns the current vouch of each aggregate. Throws cache_unavailable.
  virtual std::vector<std::optional<vouched_mirror>> find_mirrors(
    std::span<const aggregate_id> aggregates) = 0;
  /// Reads the session of each entry, and then whether its mirror is still vouched for. Throws
  /// cache_unavailable.
  virtual std::vector<session_reading> find_sessions(std::span<const session_question> questions) = 0;

  /// Throws cache_unavailable unless the cache accepts writes.
  virtual void ping() = 0;
};

} // namespace fq
