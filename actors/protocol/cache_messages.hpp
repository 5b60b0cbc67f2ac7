// SPDX-License-Identifier: Apache-2.0
// Cache: event actor <-> cache worker; session reader. Always in the same process, except the reports for
// `fairqueue admin verify`.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "store/port/cache.hpp"
#include "store/port/limits.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <memory>
#include <string>
#include <vector>

namespace fq {

/// From an event actor, after commit: the next step of its mirror. Answered only on failure, by mirror_lost.
struct take_mirror_step {
  std::shared_ptr<const mirror_step> step;
};

/// From an event actor, periodically: vouches that its mirror is complete; every step was sent before.
/// Answered only on failure, by mirror_lost.
struct vouch_for_mirror {
  std::shared_ptr<const vouched_mirror> mirror;
  milliseconds said_at{0}; ///< steady time; the cache worker drops the message if it waited too long
};

/// To the session reader: the session of an entry that another node owns. Answered by session_found.
struct find_session {
  entry_id entry;
};
FQ_INSPECT(find_session, x.entry)

enum class session_verdict : std::uint8_t {
  in_force,
  over,
  unknown, ///< no mirror of it is vouched for, or the cache is unavailable
};

struct session_found {
  session_verdict verdict = session_verdict::unknown;
  uuid queue = {}; ///< or event
  tenant_id tenant = default_tenant;
  std::uint32_t admission_no = 0;
  std::string subject_name = {};
  timestamp expires_at = {};
  milliseconds read_at{0}; ///< steady time

  /// The verdict at `steady`. What is over stays over.
  [[nodiscard]] session_verdict verdict_at(milliseconds steady) const {
    const bool is_old = verdict == session_verdict::in_force && steady > read_at + found_session_life;
    return is_old ? session_verdict::unknown : verdict;
  }
};
FQ_INSPECT(session_found, x.verdict, x.queue, x.tenant, x.admission_no, x.subject_name, x.expires_at,
           x.read_at)

/// From an event actor: compares the cache with `expected`. Every step up to `steps` was sent before.
/// Answered by mirror_checked to the sender.
struct check_mirror {
  aggregate_id aggregate{};
  uuid queue;
  std::uint64_t generation = 0;
  std::uint64_t steps = 0;
  timestamp now; ///< the owner's clock
  milliseconds sent_at{0}; ///< steady time; corrects `now` for the time this message waits
  std::shared_ptr<const expected_mirror> expected;
};

enum class mirror_state : std::uint8_t {
  equal,
  lost, ///< missing, another owner's, or incomplete
  different,
  unavailable, ///< the cache cannot be reached
  none, ///< no cache is configured
};

struct mirror_checked {
  std::uint64_t generation = 0;
  mirror_state state{};
  std::vector<std::string> differences; ///< for the report; at most 20
};
FQ_INSPECT(mirror_checked, x.generation, x.state, x.differences)

/// To an event actor: a step of this generation did not reach the cache. cache_is_back follows when a rebuild
/// can be tried.
struct mirror_lost {
  std::uint64_t generation = 0;
};
FQ_INSPECT(mirror_lost, x.generation)

struct cache_is_back {};
FQ_INSPECT_EMPTY(cache_is_back)

/// From `fairqueue admin verify` and `rebuild`: compare ledger and cache, or rebuild the mirror. Answered by
/// mirror_report.
struct verify_mirror {
  bool rebuild = false;
};
FQ_INSPECT(verify_mirror, x.rebuild)

struct mirror_report {
  event_id event;
  std::uint64_t generation = 0;
  mirror_state state{};
  std::vector<std::string> differences;
};
FQ_INSPECT(mirror_report, x.event, x.generation, x.state, x.differences)

/// Wraps the cache. Detached in production, an ordinary actor in simulations. Pipelines steps; opens a
/// circuit breaker while the cache is unavailable.
using cache_worker_handle =
  caf::typed_actor<caf::reacts_to<take_mirror_step>, ///< answers mirror_lost to the sender if the step failed
                   caf::reacts_to<vouch_for_mirror>, ///< answers mirror_lost to the sender if the mirror is
                                                     ///< missing
                   caf::reacts_to<check_mirror>, ///< answers mirror_checked to the sender
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Reads the sessions of aggregates that other nodes own from the cache. Detached in production.
using session_reader_handle = caf::typed_actor<caf::replies_to<find_session>::with<session_found>,
                                               caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq

// These never leave the process.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::take_mirror_step)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::vouch_for_mirror)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::check_mirror)
