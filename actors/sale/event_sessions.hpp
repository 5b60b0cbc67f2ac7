// SPDX-License-Identifier: Apache-2.0
// Sends the active sessions to session tables (one per io thread), so that `GET /access` needs no actor: all
// sessions when a table starts to watch, then every change after its commit. Runs inside the event actor, so
// it needs no lock.
#pragma once
#include "actors/base/aggregate_clock.hpp"
#include "actors/protocol/subscriber_messages.hpp"
#include "actors/sale/limits.hpp"
#include "actors/sale/push_window.hpp"
#include "actors/storage/journal.hpp"
#include "domain/line/mirror.hpp"
#include "domain/sale/sale.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace fq {

class event_sessions {
public:
  using sender = std::function<void(const caf::strong_actor_ptr&, sessions_changed)>;
  using marker = std::function<void(const caf::strong_actor_ptr&, push_mark)>;
  event_sessions(sender send, marker mark, const aggregate_clock& clock, std::function<milliseconds()> steady,
                 const sale& truth, journal& log, std::shared_ptr<const lease_horizon> lease) :
      send_(std::move(send)),
      mark_(std::move(mark)),
      clock_(&clock),
      steady_(std::move(steady)),
      sale_(&truth),
      journal_(&log),
      lease_(std::move(lease)) {}
  /// Sends `is_lost` to all watchers.
  ~event_sessions();
  event_sessions(const event_sessions&) = delete;
  event_sessions& operator=(const event_sessions&) = delete;

  /// Sends all sessions at the next boundary; a repeated call sends them again.
  /// `asked_at`: see watch_sessions.
  void watch(caf::strong_actor_ptr table, bool is_remote, milliseconds asked_at);
  void unwatch(const caf::strong_actor_ptr& table);
  /// A mark was returned.
  void read(const caf::strong_actor_ptr& table, std::uint64_t mark);
  /// Renews the content at other nodes; false: none watches. Call every pulse_interval while the lease is
  /// valid.
  bool pulse();
  /// The owner's clock stopped or went on.
  void clock_changed();
  /// The journal submits this batch.
  void begun(const batch& b);

private:
  struct watcher {
    caf::strong_actor_ptr table;
    bool begun = false; ///< has the snapshot, or gets it with the batch in flight
    bool is_remote = false; ///< on another node: the content expires after `trusted_for`
    push_window window = {}; ///< for a remote table
  };
  void send(const caf::strong_actor_ptr& table, sessions_changed news);
  void send(watcher& to, sessions_changed news);
  [[nodiscard]] sessions_changed news() const;
  [[nodiscard]] session_state state_of(const mirrored_session& s) const;

  sender send_;
  marker mark_;
  const aggregate_clock* clock_;
  std::function<milliseconds()> steady_;
  const sale* sale_;
  journal* journal_;
  std::shared_ptr<const lease_horizon> lease_;
  std::vector<watcher> watchers_;
};

} // namespace fq
