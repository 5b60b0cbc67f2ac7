// SPDX-License-Identifier: Apache-2.0
// One WebSocket: its socket, frames, bounded output and liveness, and the hub's state about the entry that
// it follows. Created and fed by the hub of its io thread. Independent of events and actors.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/line/ranks.hpp"
#include "domain/model/rows.hpp"
#include "domain/model/states.hpp"
#include "net/http/crowd.hpp"
#include "net/http/stream.hpp"
#include "net/websocket/ws_frames.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace fq::net {

class ws_peer;

/// A position and its speed; the ETA is position times seconds per place.
struct place {
  std::uint64_t position = 0;
  float seconds_per_place_low = -1;
  float seconds_per_place_high = -1;
};

/// Interface of the hub for a socket.
class ws_owner {
public:
  virtual void on_closing(ws_peer& peer) = 0; ///< called once; nothing is sent to it afterwards
  virtual void on_closed(ws_peer& peer) = 0; ///< called once, after on_closing: the socket is closed
  /// Valid until the next call.
  virtual std::string_view render_position(const ws_peer& peer, const place& where) = 0;

protected:
  ~ws_owner() = default;
};

class ws_peer final : public boost::intrusive::list_base_hook<>, public guest, private ws_listener {
public:
  using ptr = boost::intrusive_ptr<ws_peer>;

  /// `socket` is connected, upgraded, non-blocking, and counted in server_state::connections. It is closed
  /// with 4401 at `authorized_until` (steady time).
  ws_peer(context& ctx, ws_owner& owner, stream socket, const boost::asio::ip::address& client,
          const uuid& holder, milliseconds authorized_until);
  ~ws_peer();

  void begin();
  /// Sends a frame that must not be lost. Closes the peer if its pending output exceeds the limit: it does
  /// not read.
  void send(std::string_view text);
  /// The latest position wins: replaces one that is not written yet.
  void send_position(const place& where);
  /// Drops a pending position, because the entry has left the line.
  void forget_position() { latest_ = {}; }
  /// Sends a close frame; the socket closes after the peer's answer, or after close_timeout.
  void close(ws_close code);
  /// Closes the socket at once, without a close frame.
  void drop();
  /// The standing while no output waits: `needed`, `extra` or `owing`.
  void stand(standing usual);
  bool give_way() override;
  /// Sends pings. Closes a peer that is silent, does not read, or is no longer authorized. Called about
  /// once a second.
  void sweep(milliseconds now);

  [[nodiscard]] bool is_open() const { return state_ == state::open; }
  [[nodiscard]] bool has_unread() const { return !pending_.empty(); }

  // State for the hub.
  struct line* line = nullptr;
  ws_peer* next_same_number = nullptr; ///< next socket of the same entry
  uuid holder; ///< see ws_upgrade
  bool by_ticket = false;
  queue_number number{};
  event_kind kind{}; ///< its API words: of the event API or the waiting-room API
  std::uint32_t admission_no = 0;
  entry_status status = entry_status::waiting;
  bool has_outlook = false;
  bool in_sync = false; ///< got its `state`; pushes apply from then on
  std::uint64_t last_position = 0;
  milliseconds last_position_at{0};
  std::uint64_t moves_then = 0; ///< of the line, at last_position
  line_spot spot;
  std::int64_t base = 0; ///< of its position; see line_copy
  std::uint64_t seats_version = 0; ///< of its seat map; 0: it did not ask for the map

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
  bool count_bytes(std::size_t got);
  void on_writable();
  bool count_inbound();

  context& ctx_;
  ws_owner& owner_;
  stream socket_;
  ws_reader reader_;
  std::string pending_; ///< bytes the socket did not accept
  place latest_; ///< position 0: none pending
  milliseconds last_seen_{0}, last_ping_{0};
  milliseconds deadline_{0}; ///< while closing or while output is pending; 0: none
  milliseconds rate_since_{0};
  std::uint32_t references_ = 0;
  std::uint32_t authorized_until_s_; ///< steady seconds; 32 bits save memory per socket
  std::uint32_t inbound_bytes_ = 0; ///< in the current second
  std::uint8_t inbound_ = 0; ///< messages and pings in the current second
  std::uint8_t pending_frames_ = 0;
  standing usual_ = standing::needed;
  state state_ = state::open;
  bool waiting_to_write_ = false;
  bool deaf_ = false; ///< input is ignored after a close or a violation
};

} // namespace fq::net
