// SPDX-License-Identifier: Apache-2.0
// Reads the sessions of other nodes' aggregates from the cache, for `GET /access` on a node that does not own them. What waits goes as one
// pipeline: on the hot path one GET a session. It goes only by a mirror that its owner vouches for, so what it says is at most
// mirror_trust + vouch_life old, whatever has happened to the owner or its way to the cache; I15 allows 5 s with what origins remember.
// Detached in production because a cache blocks.
#pragma once
#include "actors/protocol.hpp"
#include "domain/environment.hpp"
#include "store/cache.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <map>
#include <vector>

namespace fq {

/// How long a mirror that was vouched for is looked into without asking again.
inline constexpr milliseconds mirror_trust{1'000};
/// A session that is not there is looked for again after this long: an admission may be on its way to the cache while its token is already
/// here.
inline constexpr milliseconds second_look_after{200};
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
    bool is_second_look = false;
    milliseconds look_at{0}; ///< steady time, of a second look
  };
  using questions_by_owner = std::map<aggregate_id, std::vector<question>>;
  using sessions = std::vector<std::optional<mirrored_session>>;
  struct known_mirror {
    vouched_mirror mirror;
    milliseconds asked_at{0}; ///< steady time
  };
  caf::result<session_found> on_find(const find_session& x);
  void flush();
  void refresh_mirrors(const questions_by_owner& questions);
  void answer(aggregate_id owner, std::vector<question>& questions);
  void miss(question&& q);
  void look_again();

  pointer self_ = nullptr;
  cache* cache_ = nullptr;
  environment* env_ = nullptr;
  std::vector<question> waiting_;
  std::vector<question> missed_; ///< looked for once; oldest first
  bool flush_is_due_ = false;
  std::map<aggregate_id, known_mirror> mirrors_; ///< of the last `mirror_trust`
};

session_reader_handle::behavior_type session_reader(session_reader_handle::stateful_pointer<session_reader_state> self, cache* engine,
                                                    environment* env);

} // namespace fq
