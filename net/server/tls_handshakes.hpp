// SPDX-License-Identifier: Apache-2.0
// The door before the sessions of a TLS listener, one for each io thread: takes sockets from the listener,
// runs their handshakes within a deadline and a bound, and hands over what came through. At the bound one of
// the address with the most of them makes room, if it is older than a second; while there is none, newcomers
// wait where they are, in the kernel's queue. Everything runs on the io thread.
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

/// One of them. Owned by the list, and by what it waits for.
class tls_handshake final : public boost::intrusive::list_base_hook<> {
public:
  tls_handshake(tls_handshakes& door, tcp_socket socket, ssl_ptr tls, const boost::asio::ip::address& peer);

  void begin();
  /// Without a word.
  void give_up(std::atomic<std::uint64_t>& count);
  /// The peer has sent what we have not looked at yet: it waits for us.
  [[nodiscard]] bool has_input() const;
  [[nodiscard]] milliseconds deadline() const { return deadline_; }

  friend void intrusive_ptr_add_ref(tls_handshake* h) { ++h->references_; }
  friend void intrusive_ptr_release(tls_handshake* h) {
    if (--h->references_ == 0) delete h;
  }

private:
  friend class tls_handshakes;
  using ptr = boost::intrusive_ptr<tls_handshake>;

  void wait(tcp_socket::wait_type what);
  void go_on();
  void come_through();
  void refuse();
  void leave();

  tls_handshakes& door_;
  tcp_socket socket_;
  ssl_ptr tls_;
  boost::asio::ip::address peer_;
  milliseconds deadline_;
  milliseconds last_step_; ///< when the peer was heard last
  std::size_t* of_prefix_ = nullptr; ///< how many there are of its address's prefix; while it is listed
  std::uint64_t passed_over_ = 0; ///< the last making of room that found it waiting for us
  unsigned references_ = 0;
};

class tls_handshakes {
public:
  /// `at_most`: handshakes under way at a time, at least 1.
  tls_handshakes(context& ctx, session_pool& sessions, tls_server& tls, const served_site& where,
                 std::size_t at_most);
  ~tls_handshakes();
  tls_handshakes(const tls_handshakes&) = delete;
  tls_handshakes& operator=(const tls_handshakes&) = delete;

  /// No room for another one: make some, or accept nothing now.
  [[nodiscard]] bool is_full() const { return under_way_.size() >= at_most_; }

  /// Begins with a connected, non-blocking socket, already counted in server_state::connections.
  void adopt(tcp_socket socket, const boost::asio::ip::address& peer);

  /// Ends one that is older than a second: of the address prefix (limit_prefix) that has the most, there one
  /// that was silent for a second before one that goes on slowly, then the oldest. Spared: who waits for us,
  /// and who goes on slowly and is the only one of its prefix. Whether there was one.
  bool make_room();

  /// Ends those whose time is up. About every 250 ms.
  void sweep(milliseconds now);

  /// Ends all.
  void stop();

private:
  friend class tls_handshake;
  using list = boost::intrusive::list<tls_handshake>; // it knows its size

  [[nodiscard]] tls_handshake* most_dispensable();

  context& ctx_;
  session_pool& sessions_;
  tls_server& tls_;
  const served_site& where_;
  const milliseconds timeout_;
  const std::size_t at_most_;
  list under_way_; ///< in the order of their deadlines
  std::map<config::ip_bytes, std::size_t> prefixes_; ///< how many are under way of each
  std::uint64_t rooms_made_ = 0; ///< or tried to make
};

} // namespace fq::net
