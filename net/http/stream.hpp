// SPDX-License-Identifier: Apache-2.0
// A connected, non-blocking socket of HTTP connections and WebSockets, plain or with TLS. A plain socket
// costs one extra comparison with null. Independent of HTTP and of the handshake (net/server/tls_handshakes).
#pragma once
#include "net/http/ready_set.hpp"

#include <openssl/ssl.h>

#include <memory>
#include <string_view>
#include <utility>

namespace fq::net {

struct ssl_free {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};
using ssl_ptr = std::unique_ptr<SSL, ssl_free>;

class stream {
public:
  explicit stream(ready_socket socket) : socket_(std::move(socket)) {}
  /// `tls` has finished its handshake and uses this socket.
  stream(ready_socket socket, ssl_ptr tls);

  /// Like a non-blocking ::recv: bytes, 0 at the peer's end, or -1 with errno. EAGAIN: wait_readable, then
  /// retry.
  ssize_t receive(char* into, std::size_t room) {
    return tls_ ? receive_tls(into, room) : socket_.receive(into, room);
  }

  /// Like a non-blocking ::send: bytes taken, or -1 with errno. EAGAIN: wait_writable, then retry with the
  /// same bytes; more may follow them.
  ssize_t send(std::string_view bytes) {
    return tls_ ? send_tls(bytes) : socket_.send(bytes.data(), bytes.size());
  }

  /// Reads and discards raw input, without decryption. Like ::recv.
  ssize_t skip(char* into, std::size_t room) { return socket_.receive(into, room); }

  /// Whether unread bytes have arrived.
  [[nodiscard]] bool has_input() const;

  /// Calls `(who->*Ready)()` on the io thread when `receive` may succeed, also if decrypted bytes are already
  /// buffered. After `shutdown_send`: when `skip` may succeed. It may come after `close`.
  template <auto Ready, class Owner>
  void wait_readable(Owner* who) {
    if (tls_ && holds_input()) socket_.was_read(false);
    socket_.wait_readable<Ready>(who, tls_ && tls_->read_waits_to_write && !tls_->broken);
  }

  template <auto Ready, class Owner>
  void wait_writable(Owner* who) {
    socket_.wait_writable<Ready>(who, !tls_ || !tls_->write_waits_to_read);
  }

  /// Ends the sending direction; the peer may still send bytes for `skip`.
  void shutdown_send();
  void close();

  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  [[nodiscard]] bool is_encrypted() const { return tls_ != nullptr; }

private:
  struct tls_side {
    ssl_ptr ssl;
    bool emptied = false; ///< the last read found no complete record; false after the handshake, which may
                          ///< have buffered data
    bool drained = false; ///< the last receive read the socket and left nothing
    bool read_waits_to_write = false;
    bool write_waits_to_read = false;
    bool broken = false; ///< no further reads or writes, and no close_notify
  };

  ssize_t receive_tls(char* into, std::size_t room);
  ssize_t send_tls(std::string_view bytes);
  [[nodiscard]] bool holds_input() const;
  void say_goodbye();

  ready_socket socket_;
  std::unique_ptr<tls_side> tls_; ///< null: plain
};

} // namespace fq::net
