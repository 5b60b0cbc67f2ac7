// SPDX-License-Identifier: Apache-2.0
// Wraps the cache: pipelines the waiting steps; while the cache is unavailable only pings it. Notifies owners
// when their mirror is lost and when they may rebuild it. Detached in production because a cache blocks.
#pragma once
#include "actors/base/cache_metrics.hpp"
#include "actors/protocol/cache_messages.hpp"
#include "actors/storage/limits.hpp"
#include "domain/base/environment.hpp"
#include "store/port/cache.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <string>
#include <vector>

namespace fq {

class cache_worker_state {
public:
  static inline const char* name = "cache_worker";
  using pointer = cache_worker_handle::stateful_pointer<cache_worker_state>;

  void init(pointer self, cache& engine, environment& env, cache_metrics& metrics);
  cache_worker_handle::behavior_type behavior();

private:
  using owner = event_handle;
  struct waiting {
    std::shared_ptr<const mirror_step> step;
    owner from;
  };
  struct vouching {
    std::shared_ptr<const vouched_mirror> mirror;
    milliseconds said_at{0}; ///< steady time
    owner from;
  };
  void on_step(const take_mirror_step& x);
  void flush();
  void flush_some();
  void on_vouch(const vouch_for_mirror& x);
  void vouch_all();
  void on_check(const check_mirror& x);
  mirror_checked compare(const check_mirror& x);
  void open_circuit(const std::string& why);
  void ping();
  void tell_lost(const owner& from, std::uint64_t generation);
  void tell_lost(const waiting& w) { tell_lost(w.from, w.step->generation); }
  void flush_soon();

  pointer self_ = nullptr;
  cache* cache_ = nullptr;
  environment* env_ = nullptr;
  cache_metrics* metrics_ = nullptr;
  std::vector<waiting> waiting_;
  std::vector<vouching> vouching_; ///< a few per second and owner
  bool flush_is_due_ = false;
  milliseconds pause_ = circuit_pause_min;
  /// Owners whose mirror was lost since the circuit breaker opened. One event may have two: a new owner, and
  /// an earlier one that ends.
  std::map<caf::actor_id, owner> to_tell_;
};

cache_worker_handle::behavior_type cache_worker(
  cache_worker_handle::stateful_pointer<cache_worker_state> self, cache* engine, environment* env,
  cache_metrics* metrics);

} // namespace fq
