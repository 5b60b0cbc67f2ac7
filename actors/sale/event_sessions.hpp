// SPDX-License-Identifier: Apache-2.0
// The owner's part that tells tables of sessions (one per io thread) which sessions are in force, so that
// `GET /access` needs no actor: all of them when a table begins to watch, and every change after its commit.
// Runs inside the event actor, so it needs no lock.
#pragma once
#include "actors/protocol/protocol.hpp"
#include "actors/sale/push_window.hpp"
#include "actors/storage/journal.hpp"
#include "domain/line/mirror.hpp"
#include "domain/sale/sale.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace fq {

/// How long another node goes by what it was told, and how often it is told. I15's 5 s: this, 1.5 s that a
/// word may be on its way before its connection is given up (app/mesh), and the 2 s that nginx may keep an
/// answer.
inline constexpr milliseconds session_trust{1'500};
inline constexpr milliseconds pulse_interval{500};

class event_sessions {
public:
  using sender = std::function<void(const caf::strong_actor_ptr&, sessions_changed)>;
  using marker = std::function<void(const caf::strong_actor_ptr&, push_mark)>;
  event_sessions(sender send, marker mark, std::function<timestamp()> clock,
                 std::function<milliseconds()> steady, const sale& truth, journal& log,
                 std::shared_ptr<const lease_horizon> lease) :
      send_(std::move(send)),
      mark_(std::move(mark)),
      clock_(std::move(clock)),
      steady_(std::move(steady)),
      sale_(&truth),
      journal_(&log),
      lease_(std::move(lease)) {}
  /// Whoever watches hears that nothing is known any more.
  ~event_sessions();
  event_sessions(const event_sessions&) = delete;
  event_sessions& operator=(const event_sessions&) = delete;

  /// From the next boundary on. Asking again sends everything again.
  void watch(caf::strong_actor_ptr table, bool is_remote);
  void unwatch(const caf::strong_actor_ptr& table);
  /// A mark came back.
  void read(const caf::strong_actor_ptr& table, std::uint64_t mark);
  /// Tells other nodes that what they know is still so; false: there are none that watch. Every
  /// pulse_interval at the latest, while we may speak for the aggregate.
  bool pulse();
  /// The journal begins this batch.
  void begun(const batch& b);

private:
  struct watcher {
    caf::strong_actor_ptr table;
    bool begun = false; ///< has its snapshot, or gets it with the batch under way
    bool is_remote = false; ///< at another node: its word lasts `trusted_for`
    push_window window = {}; ///< of a remote one
  };
  void send(const caf::strong_actor_ptr& table, sessions_changed news);
  void send(watcher& to, sessions_changed news);
  [[nodiscard]] sessions_changed news() const;
  [[nodiscard]] session_state state_of(const mirrored_session& s) const;

  sender send_;
  marker mark_;
  std::function<timestamp()> clock_;
  std::function<milliseconds()> steady_;
  const sale* sale_;
  journal* journal_;
  std::shared_ptr<const lease_horizon> lease_;
  std::vector<watcher> watchers_;
};

} // namespace fq
