// SPDX-License-Identifier: Apache-2.0
// The oracle of I15: whether an answer of GET /access was true at the owner at some moment before it. Follows
// the committed sessions of the simulated sale.
#pragma once
#include "tests/sim/world.hpp"

#include <deque>
#include <map>
#include <vector>

namespace fq::sim {

/// The server's part of I15's 5 s; an origin may cache the answer for the rest.
inline constexpr milliseconds access_stale_max{3'000};

class access_watch {
public:
  explicit access_watch(world& w) : world_(w) {}
  void applied(const batch& b);
  /// A fan saw the session, so its token exists.
  void issued(const entry_id& session);
  /// A session whose token was issued; null: there is none. Often one of the latest.
  [[nodiscard]] const entry_id* some_session();
  /// The server let the holder of this session in, until `expires_at`.
  void granted(const std::string& node, const entry_id& session, timestamp expires_at);
  /// `knows_beginning`: the answer may not be from before the session began.
  void refused(const std::string& node, const entry_id& session, bool knows_beginning);

private:
  struct moment {
    milliseconds at; ///< steady time
    bool is_in_force = false;
    timestamp ends; ///< of a session in force
  };
  struct session {
    std::vector<moment> moments; ///< committed, in order
  };
  [[nodiscard]] milliseconds now() const { return world_.env->steady_now(); }
  /// The oldest moment at which an answer that is given now may have been true.
  [[nodiscard]] milliseconds window_begin() const;
  [[nodiscard]] timestamp time_at_begin();
  template <class Holds>
  [[nodiscard]] bool was(const session& s, Holds holds) const;

  world& world_;
  std::vector<entry_id> issued_;
  std::map<queue_number, session> sessions_;
  std::deque<std::pair<milliseconds, timestamp>> commits_; ///< the owner's time at each commit
};

} // namespace fq::sim
