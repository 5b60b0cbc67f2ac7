// SPDX-License-Identifier: Apache-2.0
// Reads the sessions of other nodes' aggregates from the cache, for `GET /access` on a node that does not own
// them. What waits goes as one pipeline: on the hot path one GET a session. It goes only by a mirror that its
// owner vouches for. What it says is old by at most
//   vouch_delay_max on the owner's way to the cache, twice (in the worker's mailbox, on the wire)   1.0 s
//   vouch_life                                                                                   1.5 s
//   mirror_trust                                                                                 0.5 s
// whatever happens to the owner or to its way to the cache; with the second that origins may remember (two in
// nginx, which counts in whole ones) that is I15's 5 s. Detached in production because a cache blocks.
#pragma once
#include "actors/protocol/protocol.hpp"
#include "domain/base/environment.hpp"
#include "store/port/cache.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <map>
#include <unordered_set>
#include <vector>

namespace fq {

/// How long a mirror that was vouched for is looked into without asking again.
inline constexpr milliseconds mirror_trust{500};
/// A session that is not there is over only if it is still not there when its owner has vouched again: its
/// admission may be on its way to the cache while its token is already here. Looked for so often, for so
/// long; then the answer is `unknown`.
inline constexpr milliseconds look_interval{200};
inline constexpr milliseconds patience{3'000};
/// Sessions remembered to be over: an entry is admitted once, so they stay so.
inline constexpr std::size_t over_max = 100'000;
/// Questions that wait at most; beyond it the answer is `unknown`.
inline constexpr std::size_t questions_waiting_max = 10'000;

class session_reader_state {
public:
  static inline const char* name = "session_reader";
  using pointer = session_reader_handle::stateful_pointer<session_reader_state>;

  void init(pointer self, cache& engine, environment& env);
  session_reader_handle::behavior_type behavior();

private:
  struct question {
    entry_id entry;
    caf::typed_response_promise<session_found> promise;
    milliseconds asked_at{0}; ///< steady time
    bool was_missed = false; ///< looked for, and not found
    std::uint64_t word_before =
      0; ///< a later word of the owner was said after the question; 0: not known yet
  };
  struct known_mirror {
    vouched_mirror mirror;
    milliseconds asked_at{0}; ///< steady time
  };
  caf::result<session_found> on_find(const find_session& x);
  void flush();
  void refresh_mirrors(const std::vector<question>& questions);
  void look(std::vector<question>&& questions);
  void miss(question&& q, const vouched_mirror& mirror);
  void look_again();

  pointer self_ = nullptr;
  cache* cache_ = nullptr;
  environment* env_ = nullptr;
  std::vector<question> waiting_;
  std::vector<question> missed_; ///< looked for, and not found
  bool flush_is_due_ = false;
  std::unordered_set<entry_id> over_;
  std::map<aggregate_id, known_mirror> mirrors_; ///< of the last `mirror_trust`
};

session_reader_handle::behavior_type session_reader(
  session_reader_handle::stateful_pointer<session_reader_state> self, cache* engine, environment* env);

} // namespace fq
