// SPDX-License-Identifier: Apache-2.0
// Reads sessions of other nodes' aggregates from the cache, for `GET /access` on a node that does not own
// them. Asks all waiting questions at once: normally one key per session and one per mirror. Uses only
// mirrors that are vouched for when they are read. Max age of an answer:
//   vouch_delay_max, twice (the worker's mailbox, the wire)   1.0 s
//   vouch_life                                                1.5 s
//   found_session_life (the way to the io thread)             0.5 s
// Origins may cache an answer for one more second (two in nginx, which counts whole seconds): at most 5 s in
// total (I15). Detached in production because a cache blocks.
#pragma once
#include "actors/protocol/cache_messages.hpp"
#include "actors/storage/limits.hpp"
#include "domain/base/environment.hpp"
#include "store/port/cache.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <map>
#include <unordered_set>
#include <vector>

namespace fq {

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
    /// The owner's vouch number before which nothing counts: any later vouch was made after the question. 0:
    /// not known yet.
    std::uint64_t word_before = 0;
  };
  struct known_mirror {
    vouched_mirror mirror;
    milliseconds asked_at{0}; ///< steady time
  };
  caf::result<session_found> on_find(const find_session& x);
  void flush();
  void refresh_mirrors(const std::vector<question>& questions);
  void look(std::vector<question>&& questions);
  void miss(question&& q, std::uint64_t word);
  void look_later(question&& q);
  void look_again();

  pointer self_ = nullptr;
  cache* cache_ = nullptr;
  environment* env_ = nullptr;
  std::vector<question> waiting_;
  std::vector<question> missed_; ///< not found by the last read
  bool flush_is_due_ = false;
  std::unordered_set<entry_id> over_;
  std::map<aggregate_id, known_mirror> mirrors_; ///< read within the last `mirror_kept`
};

session_reader_handle::behavior_type session_reader(
  session_reader_handle::stateful_pointer<session_reader_state> self, cache* engine, environment* env);

} // namespace fq
