// SPDX-License-Identifier: Apache-2.0
// A connected socket as sessions and WebSockets use it: read and written at once or not at all, waited for by
// Asio; plain, or with TLS of our own. What is plain costs one comparison with null. Knows neither HTTP nor
// who handshakes (net/server/tls_handshakes).
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

/// Bound to the io thread at compile time: no type-erased executor on the hot path.
using tcp_socket =
  boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

struct ssl_free {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};
using ssl_ptr = std::unique_ptr<SSL, ssl_free>;

class stream {
public:
  explicit stream(tcp_socket socket) : socket_(std::move(socket)) {}
  /// `tls` has its handshake behind it and reads and writes this socket.
  stream(tcp_socket socket, ssl_ptr tls) : socket_(std::move(socket)), tls_(new tls_side{std::move(tls)}) {}

  /// As ::recv that does not wait: bytes, 0 at the peer's end, or -1 with errno; EAGAIN: wait_readable, then
  /// again.
  ssize_t receive(char* into, std::size_t room) {
    return tls_ ? receive_tls(into, room) : ::recv(socket_.native_handle(), into, room, MSG_DONTWAIT);
  }

  /// As ::send that does not wait: bytes taken, or -1 with errno; EAGAIN: wait_writable, then the same bytes
  /// again (more may follow them).
  ssize_t send(std::string_view bytes) {
    return tls_ ? send_tls(bytes)
                : ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  /// Reads what nobody wants to see any more, still encrypted if it was. As ::recv.
  ssize_t skip(char* into, std::size_t room) {
    return ::recv(socket_.native_handle(), into, room, MSG_DONTWAIT);
  }

  /// Bytes have come that were not received yet.
  [[nodiscard]] bool has_input() const;

  /// `done(error_code)` on the io thread when `receive` may find something; also when that is here already,
  /// decrypted. After `shutdown_send`: when `skip` may.
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

  /// Our side says goodbye; the peer's bytes may still come, for `skip`.
  void shutdown_send();
  void close();

  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  [[nodiscard]] bool is_encrypted() const { return tls_ != nullptr; }

private:
  struct tls_side {
    ssl_ptr ssl;
    bool emptied =
      false; ///< the last read found no whole record; what came with the handshake was not looked at yet
    bool read_waits_to_write = false;
    bool write_waits_to_read = false;
    bool broken = false; ///< nothing may be read, written or said any more
  };

  ssize_t receive_tls(char* into, std::size_t room);
  ssize_t send_tls(std::string_view bytes);
  [[nodiscard]] bool holds_input() const;
  void say_goodbye();

  tcp_socket socket_;
  std::unique_ptr<tls_side> tls_; ///< null: plain
};

} // namespace fq::net
