// SPDX-License-Identifier: Apache-2.0
// An origin that asks a simulated node about its visitors' sessions: stands for GET /access
// (net/api/access_routes) and an io thread's table (net/bridge/session_table), over the real event_sessions
// and session_reader. The oracle is access_watch.
#pragma once
#include "tests/sim/access_watch.hpp"

#include "actors/protocol/cache_messages.hpp"
#include "actors/protocol/region_messages.hpp"
#include "actors/protocol/subscriber_messages.hpp"

#include <caf/event_based_actor.hpp>

#include <map>
#include <memory>
#include <string>

namespace fq::sim {

class origin final : public caf::event_based_actor {
public:
  /// `reader` null: no cache. `env`: the node's clock.
  origin(caf::actor_config& config, world* w, std::string node, environment* env, region_handle region,
         session_reader_handle reader);
  caf::behavior make_behavior() override;

private:
  void ask_about(const entry_id& session);
  void ask_reader(const entry_id& session);
  void notice_pause();
  [[nodiscard]] bool knows() const;
  void answer_from_table(const entry_id& session);
  void find_owner();
  void watch(const event_handle& owner);
  void on_sessions_changed(const sessions_changed& push);
  void forget();

  world* world_;
  std::string node_;
  environment* env_;
  region_handle region_;
  session_reader_handle reader_;
  event_handle owner_; ///< null: unknown
  caf::actor_addr returned_by_;
  bool asks_region_ = false;
  // the table
  bool is_known_ = false, is_remote_ = false, is_paused_ = false;
  lease_of_copy lease_;
  timestamp clock_; ///< the owner's, at clock_at_
  milliseconds clock_at_{0};
  milliseconds asked_at_{0}; ///< for the owner's sessions
  milliseconds looked_at_{0}, awake_since_{0};
  std::map<entry_id, timestamp> sessions_; ///< their ends
};

} // namespace fq::sim
