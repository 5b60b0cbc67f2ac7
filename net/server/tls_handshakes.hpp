// SPDX-License-Identifier: Apache-2.0
// TLS handshakes of one io thread, between the listener and the connections. Limits them in time and number
// and passes finished ones on. At the limit it evicts a handshake older than 1 s, of the address with the
// most; without a candidate, new clients wait in the kernel's queue. Everything runs on the io thread.
#pragma once
#include "config/network.hpp"
#include "net/http/tls.hpp"
#include "net/server/connection.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <cstddef>
#include <cstdint>
#include <map>

namespace fq::net {

class tls_handshakes;

/// One handshake. Owned by the list and by its pending wait.
class tls_handshake final : public boost::intrusive::list_base_hook<> {
public:
  tls_handshake(tls_handshakes& door, ready_socket socket, ssl_ptr tls, const boost::asio::ip::address& peer);

  void begin();
  /// Closes the socket without an alert.
  void give_up(std::atomic<std::uint64_t>& count);
  /// Whether the peer has sent bytes that are not read yet.
  [[nodiscard]] bool has_input() const { return socket_.has_input(); }
  [[nodiscard]] milliseconds deadline() const { return deadline_; }

  friend void intrusive_ptr_add_ref(tls_handshake* h) { ++h->references_; }
  friend void intrusive_ptr_release(tls_handshake* h) {
    if (--h->references_ == 0) delete h;
  }

private:
  friend class tls_handshakes;
  using ptr = boost::intrusive_ptr<tls_handshake>;

  void wait(bool by_writing);
  void on_ready();
  void go_on();
  void come_through();
  void refuse();
  void leave();

  tls_handshakes& door_;
  ready_socket socket_;
  ssl_ptr tls_;
  boost::asio::ip::address peer_;
  milliseconds deadline_;
  milliseconds last_step_; ///< time of the peer's last input
  std::size_t* of_prefix_ = nullptr; ///< handshakes of its address prefix; valid while listed
  std::uint64_t passed_over_ = 0; ///< number of the last make_room that found unread input
  unsigned references_ = 0;
};

class tls_handshakes {
public:
  /// `at_most`: handshakes at the same time, at least 1.
  tls_handshakes(context& ctx, connection_pool& sessions, tls_server& tls, const served_site& where,
                 std::size_t at_most);
  ~tls_handshakes();
  tls_handshakes(const tls_handshakes&) = delete;
  tls_handshakes& operator=(const tls_handshakes&) = delete;

  /// Whether the limit is reached: evict one, or accept nothing now.
  [[nodiscard]] bool is_full() const { return under_way_.size() >= at_most_; }

  /// Starts the handshake on a connected, non-blocking socket that is already counted in
  /// server_state::connections.
  void adopt(ready_socket socket, const boost::asio::ip::address& peer);

  /// Evicts one handshake older than 1 s. Chooses the address prefix (limit_prefix) with the most
  /// handshakes, there one silent for 1 s before a slow but active one, then the oldest.
  /// Spares handshakes with unread input, and an active one that is the only one of its prefix. Returns
  /// whether one was evicted.
  bool make_room();

  /// Ends handshakes past their deadline. Called about every 250 ms.
  void sweep(milliseconds now);

  /// Ends all handshakes.
  void stop();

private:
  friend class tls_handshake;
  using list = boost::intrusive::list<tls_handshake>; // knows its size

  [[nodiscard]] tls_handshake* most_dispensable();

  context& ctx_;
  connection_pool& sessions_;
  tls_server& tls_;
  const served_site& where_;
  const milliseconds timeout_;
  const std::size_t at_most_;
  list under_way_; ///< ordered by deadline
  std::map<config::ip_bytes, std::size_t> prefixes_; ///< handshakes by prefix
  std::uint64_t rooms_made_ = 0; ///< number of make_room calls
};

} // namespace fq::net
