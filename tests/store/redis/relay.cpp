// SPDX-License-Identifier: Apache-2.0
// The relay's sockets and its thread.
#include "tests/store/redis/relay.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fq::test {
namespace {

constexpr auto no_limit = std::numeric_limits<std::size_t>::max();

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  a.sin_port = htons(port);
  return a;
}

void send_all(int to, const char* data, std::size_t size) {
  while (size > 0) {
    const auto sent = ::send(to, data, size, MSG_NOSIGNAL);
    if (sent <= 0) return; // closed by the peer
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

} // namespace

relay::relay(std::uint16_t port) :
    listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
    wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
    bytes_left_(no_limit) {
  auto address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 1) != 0
      || ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("the relay cannot listen");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this, port] { run(port); }};
}

relay::~relay() {
  stop_ = true;
  ::eventfd_write(wake_, 1);
  if (thread_.joinable()) thread_.join();
  ::close(listener_);
  ::close(wake_);
}

void relay::limit(std::size_t bytes, bool cuts) {
  cuts_ = cuts;
  bytes_left_ = bytes;
  ::eventfd_write(wake_, 1);
}

void relay::await_limit() const {
  for (std::size_t left = bytes_left_; left != 0; left = bytes_left_) bytes_left_.wait(left);
}

void relay::resume() { limit(no_limit, false); }

void relay::deliver() {
  resume();
  await_end();
}

/// Waits until one of the sockets is readable or the limits change.
void relay::wait(int one, int other) {
  std::array<pollfd, 3> all{pollfd{wake_, POLLIN, 0}, pollfd{one, POLLIN, 0}, pollfd{other, POLLIN, 0}};
  while (::poll(all.data(), all.size(), -1) < 0) {}
  eventfd_t ignored = 0;
  ::eventfd_read(wake_, &ignored);
}

void relay::run(std::uint16_t server_port) {
  wait(listener_, -1);
  if (stop_) return;
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = loopback(server_port);
  if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    pass_on(client, server);
  ::close(server);
  ::close(client);
}

/// Copies until the server has closed its side.
void relay::pass_on(int client, int server) {
  std::array<char, 16'384> buffer;
  while (!stop_) {
    wait(client_is_done_ || bytes_left_ == 0 ? -1 : client, server);
    if (!client_is_done_) forward(client, server);
    const auto n = ::recv(server, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n == 0) return;
    if (n > 0) send_all(client, buffer.data(), static_cast<std::size_t>(n));
  }
}

void relay::forward(int client, int server) {
  std::array<char, 16'384> buffer;
  const std::size_t room = bytes_left_;
  if (room == 0) return; // the limit has just changed
  const auto n = ::recv(client, buffer.data(), std::min(buffer.size(), room), MSG_DONTWAIT);
  if (n > 0) send_all(server, buffer.data(), static_cast<std::size_t>(n));
  if (n > 0 && room != no_limit) {
    bytes_left_ = room - static_cast<std::size_t>(n);
    bytes_left_.notify_all();
  }
  if (n == 0 || (bytes_left_ == 0 && cuts_)) {
    client_is_done_ = true;
    ::shutdown(server, SHUT_WR);
  }
}

} // namespace fq::test
