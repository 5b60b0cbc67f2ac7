// SPDX-License-Identifier: Apache-2.0
// A connected, non-blocking socket of HTTP connections and WebSockets, plain or with TLS; Asio only waits
// for it. A plain socket costs one extra comparison with null. Independent of HTTP and of the handshake
// (net/server/tls_handshakes).
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <memory>
#include <string_view>
#include <utility>

namespace fq::net {

/// Executor type fixed at compile time: no type-erased executor on the hot path.
using tcp_socket =
  boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

struct ssl_free {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};
using ssl_ptr = std::unique_ptr<SSL, ssl_free>;

class stream {
public:
  explicit stream(tcp_socket socket) : socket_(std::move(socket)) {}
  /// `tls` has finished its handshake and uses this socket.
  stream(tcp_socket socket, ssl_ptr tls) : socket_(std::move(socket)), tls_(new tls_side{std::move(tls)}) {}

  /// Like a non-blocking ::recv: bytes, 0 at the peer's end, or -1 with errno. EAGAIN: wait_readable, then
  /// retry.
  ssize_t receive(char* into, std::size_t room) {
    return tls_ ? receive_tls(into, room) : ::recv(socket_.native_handle(), into, room, MSG_DONTWAIT);
  }

  /// Like a non-blocking ::send: bytes taken, or -1 with errno. EAGAIN: wait_writable, then retry with the
  /// same bytes; more may follow them.
  ssize_t send(std::string_view bytes) {
    return tls_ ? send_tls(bytes)
                : ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  /// Reads and discards raw input, without decryption. Like ::recv.
  ssize_t skip(char* into, std::size_t room) {
    return ::recv(socket_.native_handle(), into, room, MSG_DONTWAIT);
  }

  /// Whether unread bytes have arrived.
  [[nodiscard]] bool has_input() const;

  /// Calls `done(error_code)` on the io thread when `receive` may succeed, also if decrypted bytes are
  /// already buffered. After `shutdown_send`: when `skip` may succeed.
  template <class Handler>
  void wait_readable(Handler done) {
    if (tls_ && holds_input())
      return boost::asio::post(socket_.get_executor(),
                               [done = std::move(done)]() mutable { done(boost::system::error_code{}); });
    const bool by_writing = tls_ && tls_->read_waits_to_write && !tls_->broken;
    socket_.async_wait(by_writing ? tcp_socket::wait_write : tcp_socket::wait_read, std::move(done));
  }

  template <class Handler>
  void wait_writable(Handler done) {
    socket_.async_wait(tls_ && tls_->write_waits_to_read ? tcp_socket::wait_read : tcp_socket::wait_write,
                       std::move(done));
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
    bool read_waits_to_write = false;
    bool write_waits_to_read = false;
    bool broken = false; ///< no further reads or writes, and no close_notify
  };

  ssize_t receive_tls(char* into, std::size_t room);
  ssize_t send_tls(std::string_view bytes);
  [[nodiscard]] bool holds_input() const;
  void say_goodbye();

  tcp_socket socket_;
  std::unique_ptr<tls_side> tls_; ///< null: plain
};

} // namespace fq::net
