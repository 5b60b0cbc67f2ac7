// SPDX-License-Identifier: Apache-2.0
// The cache port: a mirror of committed state that holds only what can be rebuilt. Blocking; called only by
// the cache worker (a detached actor) and tests. Engines: memory (with faults, for simulations), Redis. Both
// pass the suite in tests/cache with the same answers.
#pragma once
#include "domain/line/mirror.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq {

/// The cache cannot be reached, did not answer in time, or refused (read-only, out of memory). Any part of
/// the call may have been applied, or may still be: a request that was sent cannot be called back.
struct cache_unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One step of a mirror. The head of a mirror in the cache names its generation and how many steps it has
/// taken; a step that does not continue exactly there is refused. So FLUSHALL, an old dump, a failover that
/// lost writes and a step torn in the middle all show at the next step. For this a number of a generation may
/// only ever mean one content: who cannot send the same step again raises the generation.
struct mirror_step {
  aggregate_id aggregate{};
  uuid queue; ///< the event's id: names the keys
  std::uint64_t generation = 0;
  std::uint64_t number = 0; ///< 0 begins the generation: whatever the cache held of this queue goes
  timestamp now; ///< the owner's clock: session life is sent as what is left of it
  mirror_delta delta;
  bool ready = true; ///< the mirror is complete after this step; false while it is being built
};

enum class step_outcome : std::uint8_t {
  applied,
  lost, ///< the head is not where this step continues: the mirror must be rebuilt under a new generation
};

/// Which keys hold the mirror in force of an aggregate: for nodes that do not own it. Its owner vouches for
/// it again and again; when it stops to (frozen, cut off, dead, or with another mirror), they have nothing to
/// go by within `vouch_life`.
struct vouched_mirror {
  aggregate_id aggregate{};
  uuid queue;
  tenant_id tenant = default_tenant;
  std::uint64_t generation = 0;
  std::uint64_t steps_taken = 0; ///< for `vouch` only: the owner had sent so many; not found again
  std::uint64_t word =
    0; ///< when it was vouched for last, by the cache's own clock: a later word has a greater one
  friend bool operator==(const vouched_mirror&, const vouched_mirror&) = default;
};

/// Parts of I15's 5 s: see `session_reader` for the sum.
inline constexpr milliseconds vouch_life{1'500};
/// A vouch that takes longer on its way to the cache comes too late: an owner cannot call its word back.
inline constexpr milliseconds vouch_delay_max{500};

struct session_question {
  vouched_mirror mirror;
  entry_id entry;
};

class cache {
public:
  virtual ~cache() = default;

  /// Applies the steps in order, pipelined; an outcome for each. Throws cache_unavailable.
  virtual std::vector<step_outcome> apply(std::span<const mirror_step> steps) = 0;

  /// What the cache holds of a queue, ordered as mirror_image says, without the sessions that are over.
  /// `found` is false if its head is another generation or step, or not ready. Throws cache_unavailable.
  struct reading {
    bool found = false;
    mirror_image image;
  };
  virtual reading read(const uuid& queue, std::uint64_t generation, std::uint64_t steps_taken) = 0;

  /// Vouches for each mirror for `vouch_life` from now, if it is complete and has taken `steps_taken` steps
  /// or more; it is lost otherwise. Building a mirror of the aggregate anew takes back what was vouched for.
  /// What reaches the cache more than `vouch_delay_max` after the call began has no effect. Throws
  /// cache_unavailable.
  virtual std::vector<step_outcome> vouch(std::span<const vouched_mirror> mirrors) = 0;
  /// What is vouched for now, for each of them. Throws cache_unavailable.
  virtual std::vector<std::optional<vouched_mirror>> find_mirrors(
    std::span<const aggregate_id> aggregates) = 0;
  /// The sessions of these entries; nothing for one that is not in its mirror. Throws cache_unavailable.
  virtual std::vector<std::optional<mirrored_session>> find_sessions(
    std::span<const session_question> questions) = 0;

  /// Throws cache_unavailable unless the cache takes writes.
  virtual void ping() = 0;
};

} // namespace fq
