// SPDX-License-Identifier: Apache-2.0
// The WebSockets of one io thread, by event and queue number, updated by pushes of the event actors. The line
// table has the subscriptions and the positions. Everything runs on the io thread.
#pragma once
#include "net/bridge/line_table.hpp"
#include "net/websocket/ws_peer.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace fq::net {

/// Max age of a position that moved only a little. `sockets`: of the event on this io thread; the other
/// threads are assumed to have as many.
[[nodiscard]] milliseconds refresh_of(std::size_t sockets, std::int64_t io_threads);
/// Whether a socket may have to hear a new position. `moves`: of the line since `last`, its latest one, which
/// is `age` old.
[[nodiscard]] bool may_be_due(std::uint64_t last, std::uint64_t moves, milliseconds age,
                              milliseconds refresh);

class hub final : public line_follower, private ws_owner {
public:
  explicit hub(context& ctx);
  ~hub();
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;

  /// Adopts an upgraded socket. It gets `state` after the owner's answer, then every change of its entry.
  void adopt(stream socket, const ws_upgrade& upgrade, const boost::asio::ip::address& client);

  /// Checks liveness, sweeps positions. Called about every 250 ms.
  void sweep(milliseconds now);

  /// Sends each socket its own reconnect delay and closes it with 1012.
  void drain();

  /// Drops all sockets. Waiting coroutines end when the bridge stops.
  void stop();

  [[nodiscard]] std::size_t open() const { return peers_open_; }

private:
  using line_ptr = std::shared_ptr<line>;

  void on_line_open(const event_id& event) override;
  void on_line_lost(const event_id& event) override;
  void on_line_elsewhere(const event_id& event) override;
  void on_entries_changed(const entries_changed& push) override;
  void on_orders_changed(const orders_changed& push) override;
  void on_event_noticed(const event_noticed& push) override;
  void on_closing(ws_peer& peer) override;
  void on_closed(ws_peer& peer) override;
  std::string_view render_position(const ws_peer& peer, const place& where) override;

  line_ptr find_line(const event_id& event) const;
  template <class Change, class Push>
  void push_to_each(const event_id& event, const std::vector<Change>& changes, Push push);
  static std::size_t sockets_of(const line& l, queue_number number);
  void enter_line(const line_ptr& l, ws_peer& peer);
  void leave_line(line& l, ws_peer& peer);
  void send_away(ws_peer& peer);
  void take_snapshots(const line_ptr& l);
  detached take_snapshot(line_ptr l, ws_peer::ptr peer);
  void show(const line_ptr& l, ws_peer& peer, const entry_view& entry);
  void change(ws_peer& peer, const entry_change& change);
  detached sweep_positions(line_ptr l);
  void show_positions(line& l);
  void tell_presence(line& l);
  detached follow_seats(line_ptr l);
  void show_seats(line& l, const seats_reply& got);
  std::vector<ws_peer*> due_positions(line& l, milliseconds refresh) const;
  void offer_position(ws_peer& peer, const place& where, std::uint64_t moves, milliseconds refresh);
  std::uint64_t chance();
  milliseconds steady(timestamp when) const;

  context& ctx_;
  bool stopped_ = false;
  bool draining_ = false;
  std::uint64_t chance_;
  std::size_t peers_open_ = 0;
  unsigned ticks_ = 0;
  std::string scratch_;
  boost::intrusive::list<ws_peer, boost::intrusive::constant_time_size<false>> peers_; ///< also closing ones
  std::unordered_map<event_id, line_ptr> lines_;
};

} // namespace fq::net
