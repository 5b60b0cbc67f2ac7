// SPDX-License-Identifier: Apache-2.0
// The owner's part that tells tables of sessions (one per io thread) which sessions are in force, so that `GET /access` needs no actor: all
// of them when a table begins to watch, and every change after its commit. Runs inside the event actor, so it needs no lock.
#pragma once
#include "actors/journal.hpp"
#include "actors/protocol.hpp"
#include "domain/mirror.hpp"
#include "domain/sale.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace fq {

class event_sessions {
public:
  using sender = std::function<void(const caf::strong_actor_ptr&, sessions_changed)>;
  event_sessions(sender send, std::function<timestamp()> clock, const sale& truth, journal& log,
                 std::shared_ptr<const lease_horizon> lease)
      : send_(std::move(send)), clock_(std::move(clock)), sale_(&truth), journal_(&log), lease_(std::move(lease)) {}
  /// Whoever watches hears that nothing is known any more.
  ~event_sessions();
  event_sessions(const event_sessions&) = delete;
  event_sessions& operator=(const event_sessions&) = delete;

  /// From the next boundary on. Asking again sends everything again.
  void watch(caf::strong_actor_ptr table);
  void unwatch(const caf::strong_actor_ptr& table);
  /// The journal begins this batch.
  void begun(const batch& b);

private:
  struct watcher {
    caf::strong_actor_ptr table;
    bool begun = false; ///< has its snapshot, or gets it with the batch under way
  };
  [[nodiscard]] sessions_changed news() const;
  [[nodiscard]] session_state state_of(const mirrored_session& s) const;

  sender send_;
  std::function<timestamp()> clock_;
  const sale* sale_;
  journal* journal_;
  std::shared_ptr<const lease_horizon> lease_;
  std::vector<watcher> watchers_;
};

} // namespace fq
