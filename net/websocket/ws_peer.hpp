// SPDX-License-Identifier: Apache-2.0
// One WebSocket: the socket, its frames both ways, its bounded output, its liveness, and what the hub
// remembers about the place it follows. Made and told what to send by the hub of its io thread. It must not
// know events or actors.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/model/rows.hpp"
#include "domain/model/states.hpp"
#include "net/http/stream.hpp"
#include "net/websocket/ws_frames.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace fq::net {

class ws_peer;

/// A position as the line reported it; the ETA is position times seconds a place.
struct place {
  std::uint64_t position = 0;
  float seconds_per_place_low = -1;
  float seconds_per_place_high = -1;
};

/// The hub, as a socket sees it.
class ws_owner {
public:
  virtual void on_closing(ws_peer& peer) = 0; ///< once: it is sent nothing from now on
  virtual void on_closed(ws_peer& peer) = 0; ///< once, afterwards: its socket is gone
  virtual std::string_view render_position(const place& where) = 0; ///< valid until the next call

protected:
  ~ws_owner() = default;
};

class ws_peer final : public boost::intrusive::list_base_hook<>, private ws_listener {
public:
  using ptr = boost::intrusive_ptr<ws_peer>;

  /// `socket` is connected, upgraded, non-blocking for us, and counted in server_state::connections. It is
  /// closed with 4401 at `authorized_until` (steady time).
  ws_peer(context& ctx, ws_owner& owner, stream socket, const uuid& holder, milliseconds authorized_until);
  ~ws_peer();

  void begin();
  /// A frame that must not be lost. Over the bound of pending output the peer is closed: it does not read.
  void send(std::string_view text);
  /// Latest wins: replaces a position that could not be written yet.
  void send_position(const place& where);
  /// It is no longer in line: a position that still waits is wrong.
  void forget_position() { latest_ = {}; }
  /// Sends a close frame; the socket goes when the peer has answered, or two seconds later.
  void close(ws_close code);
  /// At once, without a word.
  void drop();
  /// Pings, and closes who is silent, does not read, or is no longer authorized. About once a second.
  void sweep(milliseconds now);

  [[nodiscard]] bool is_open() const { return state_ == state::open; }

  // What the hub remembers about it.
  struct line* line = nullptr;
  ws_peer* next_same_number = nullptr; ///< other sockets of the same place
  uuid holder; ///< see ws_upgrade
  bool by_ticket = false;
  queue_number number{};
  event_kind kind{}; ///< whose words its frames speak
  std::uint32_t admission_no = 0;
  entry_status status = entry_status::waiting;
  bool in_sync = false; ///< it has had its `state`; pushes count from there
  std::uint64_t last_position = 0;
  milliseconds last_position_at{0};

  friend void intrusive_ptr_add_ref(ws_peer* p) { ++p->references_; }
  friend void intrusive_ptr_release(ws_peer* p) {
    if (--p->references_ == 0) delete p;
  }

private:
  enum class state : std::uint8_t { open, closing, closed };

  void on_message() override;
  void on_ping(std::string_view payload) override;
  void on_pong() override;
  void on_close(ws_close code) override;
  void on_violation(ws_close answer) override;

  void wait_readable();
  void on_readable();
  bool write(std::string_view frame);
  bool flush();
  void wait_writable();
  bool count_inbound();

  context& ctx_;
  ws_owner& owner_;
  stream socket_;
  ws_reader reader_;
  std::string pending_; ///< bytes the socket did not take
  place latest_; ///< position 0: none waits
  milliseconds last_seen_{0}, last_ping_{0};
  milliseconds deadline_{0}; ///< while closing, or while output waits; 0: none
  milliseconds rate_since_{0};
  std::uint32_t references_ = 0;
  std::uint32_t authorized_until_s_; ///< steady seconds, half the size of a time: there are many sockets
  std::uint8_t inbound_ = 0; ///< messages and pings in this second
  std::uint8_t pending_frames_ = 0;
  state state_ = state::open;
  bool waiting_to_write_ = false;
  bool deaf_ = false; ///< what comes in is no longer understood
};

} // namespace fq::net
