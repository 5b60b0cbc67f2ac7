// SPDX-License-Identifier: Apache-2.0
#include "net/server/listener.hpp"

#include "net/server/limits.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/system_error.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace fq::net {

namespace {

using boost::asio::ip::tcp;
using error_code = boost::system::error_code;

[[noreturn]] void fail(const char* what, const config::endpoint& where) {
  const error_code error{errno, boost::system::system_category()};
  throw boost::system::system_error{error, std::string{what} + " " + config::to_string(where)};
}

} // namespace

int open_listening_socket(const config::endpoint& where) {
  const tcp::endpoint address{boost::asio::ip::make_address(where.address), where.port};
  const int family = address.protocol().family();
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail("cannot open a socket for", where);
  const int on = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Accepted sockets inherit all three.
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_MAXSEG, &segment_size_max, sizeof segment_size_max);
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer_size, sizeof send_buffer_size);
  if (::bind(descriptor, address.data(), static_cast<socklen_t>(address.size())) != 0
      || ::listen(descriptor, backlog) != 0) {
    const int error = errno;
    ::close(descriptor);
    errno = error;
    fail("cannot listen on", where);
  }
  return descriptor;
}

std::uint16_t port_of(int listening_socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(listening_socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

listener::listener(context& ctx, connection_pool& sessions, const served_site& where, int listening_socket,
                   std::int64_t reserve, tls_handshakes* door) :
    ctx_(ctx),
    sessions_(sessions),
    where_(where),
    reserve_(reserve),
    door_(door),
    acceptor_(ctx.io),
    timer_(ctx.io) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(listening_socket, reinterpret_cast<sockaddr*>(&address), &size);
  acceptor_.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), listening_socket);
}

listener::~listener() { close(); }

void listener::begin() { wait(); }

void listener::close() {
  *alive_ = false;
  error_code ignored;
  acceptor_.close(ignored);
  timer_.cancel();
}

void listener::wait() {
  acceptor_.async_wait(tcp::acceptor::wait_read, [this, alive = alive_](const error_code& error) {
    if (!*alive || error == boost::asio::error::operation_aborted) return;
    accept_some();
  });
}

void listener::accept_some() {
  for (int accepted = 0; accepted < accepts_per_wakeup;) {
    if (door_ && door_->is_full()) {
      if (!is_asked()) break;
      if (!door_->make_room()) return try_again_later();
    }
    tcp::endpoint peer;
    auto size = static_cast<socklen_t>(peer.capacity());
    const int descriptor =
      ::accept4(acceptor_.native_handle(), peer.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      ++accepted;
      peer.resize(size);
      admit(descriptor, peer);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
    ctx_.state.accept_failures.fetch_add(1, std::memory_order_relaxed);
    return back_off(); // out of descriptors or memory; temporary
  }
  wait();
}

/// Whether a client waits to be accepted. Without one, no handshake needs to be evicted.
bool listener::is_asked() {
  pollfd waiting{acceptor_.native_handle(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

void listener::back_off() {
  make_room();
  try_again_later();
}

void listener::try_again_later() {
  timer_.expires_after(back_off_time);
  timer_.async_wait([this, alive = alive_](const error_code&) {
    if (*alive) accept_some();
  });
}

void listener::admit(int descriptor, const tcp::endpoint& peer) {
  ctx_.state.connections_accepted.fetch_add(1, std::memory_order_relaxed);
  const auto open = ctx_.state.connections.fetch_add(1, std::memory_order_relaxed);
  if (open >= ctx_.options.http.max_connections + reserve_ && !make_room()) {
    ctx_.state.connections_refused.fetch_add(1, std::memory_order_relaxed);
    ctx_.state.connections.fetch_sub(1, std::memory_order_relaxed);
    return turn_away(descriptor);
  }
  try {
    ready_socket socket{*ctx_.ready, descriptor};
    if (door_) return door_->adopt(std::move(socket), peer.address());
    sessions_.adopt(stream{std::move(socket)}, peer.address(), where_);
  } catch (const std::system_error&) { // the kernel has no room
    ctx_.state.accept_failures.fetch_add(1, std::memory_order_relaxed);
    ctx_.state.connections.fetch_sub(1, std::memory_order_relaxed);
  }
}

/// Evicts TLS handshakes before connections.
bool listener::make_room() { return (door_ && door_->make_room()) || sessions_.make_room(); }

/// Sends a bare 503 and closes; no request was read, so there is no request id. With TLS only closes,
/// because there is no TLS session yet to answer on.
void listener::turn_away(int descriptor) const {
  constexpr std::string_view answer =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nCache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  if (!door_) {
    [[maybe_unused]] const auto sent =
      ::send(descriptor, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  ::shutdown(descriptor, SHUT_WR);
  ::close(descriptor);
}

} // namespace fq::net
