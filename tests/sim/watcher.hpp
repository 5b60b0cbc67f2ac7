// SPDX-License-Identifier: Apache-2.0
// A node's line table and hub in the simulated mesh: subscribes once to the sale's owner, then takes
// snapshots. Compares every push with the committed state, and the positions that it computes with the
// owner's. A fan that gets a place through this node has a socket here until the place is over.
#pragma once
#include "domain/line/line_copy.hpp"
#include "tests/sim/world.hpp"

#include <caf/error.hpp>

#include <functional>
#include <map>
#include <vector>

namespace fq::sim {

/// The committed states of each place, in order.
class place_history {
public:
  struct state {
    entry_status status{};
    std::uint64_t batch = 0; ///< subscribers may hear only the last state of one batch
  };
  explicit place_history(world& w) : world_(w) {}
  void applied(const batch& b);
  [[nodiscard]] const std::vector<state>& of(queue_number n) const;
  /// Steady time of the last state.
  [[nodiscard]] milliseconds changed_at(queue_number n) const { return changed_at_.at(n); }

private:
  world& world_;
  std::map<queue_number, std::vector<state>> places_;
  std::uint64_t batches_ = 0;
  std::map<queue_number, milliseconds> changed_at_;
};

/// The watcher's way to the owner, through its node's edge.
class event_asker {
public:
  virtual void ask_line(find_line x, std::function<void(caf::error, line_reply)> then) = 0;
  virtual void ask_entry(find_entry x, std::function<void(caf::error, entry_reply)> then) = 0;
  /// Sends without an answer; false: the owner is unknown.
  virtual bool tell(subscribe x) = 0;

protected:
  ~event_asker() = default;
};

class watcher {
public:
  watcher(world& w, event_asker& asker) : world_(w), asker_(asker) {}
  /// Opens a socket for a place that this node reported.
  void adopt(const entry_reply& told);
  void on_entries_changed(const entries_changed& push);
  void on_owner_gone();
  /// Called periodically.
  void tick();
  /// For times without faults since `calm_from`: it is subscribed and knows the committed state.
  void check_calm(const std::string& node, milliseconds calm_from) const;
  /// The owner's memory is at the version of this line: its positions are those that an io thread computes.
  void check_positions(const std::string& node, const queue_line& owners) const;
  /// 0: it computes no positions.
  [[nodiscard]] std::uint64_t line_version() const { return phase_ == phase::open ? line_.version() : 0; }

private:
  enum class phase : std::uint8_t { closed, opening, open, lost };
  struct socket {
    customer_id customer;
    milliseconds opened_at{0}; ///< steady time
    /// The committed states of its place that it may know, by index: a state may come again, such as WAITING
    /// after AWAY.
    std::vector<std::size_t> heard;
    bool in_sync = false;
    line_spot spot = {};
    bool has_position = false;
    std::int64_t base = 0; ///< of its position, see line_copy
  };
  void become(phase p);
  void open();
  void subscribe_there();
  void opened(const line_reply& told);
  void lose();
  void close();
  void take_snapshots();
  void take_snapshot(queue_number n);
  void show(queue_number n, const entry_reply& told);
  void hear(queue_number n, socket& s, entry_status status);
  [[nodiscard]] bool is_in_line(queue_number n, const socket& s) const;

  world& world_;
  event_asker& asker_;
  phase phase_ = phase::closed;
  std::uint64_t generation_ = 0; ///< of the owner
  milliseconds since_{0}; ///< start of the phase, steady time
  milliseconds not_open_since_{0};
  std::map<queue_number, socket> sockets_;
  std::vector<queue_number> to_show_;
  line_copy line_;
  bool was_lost_ = false;
};

} // namespace fq::sim
