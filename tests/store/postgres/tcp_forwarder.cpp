// SPDX-License-Identifier: Apache-2.0
// One thread accepts, one thread per connection copies. All waits are short, so that the threads end quickly.
#include "tests/store/postgres/tcp_forwarder.hpp"

#include <array>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fq::test {
namespace {

constexpr int look_around_ms = 50;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool is_readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, look_around_ms) > 0;
}

/// Reads available bytes; nothing at the end of the stream.
std::optional<std::string> receive(int fd) {
  std::array<char, 65'536> bytes;
  const auto n = ::recv(fd, bytes.data(), bytes.size(), 0);
  if (n <= 0) return std::nullopt;
  return std::string(bytes.data(), static_cast<std::size_t>(n));
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// True for the Bind message of the prepared statement "commit": unnamed portal, then the statement's name.
bool has_commit(const std::string& bytes) {
  return bytes.find(std::string_view("\0commit\0", 8)) != std::string::npos;
}

/// True if the bytes end with message Z (ready for the next query).
bool ends_answer(const std::string& bytes) { return bytes.size() >= 6 && bytes[bytes.size() - 6] == 'Z'; }

} // namespace

tcp_forwarder::tcp_forwarder(std::uint16_t port) :
    target_(port), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  auto address = loopback(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool listens = ::bind(listener_, generic, size) == 0 && ::listen(listener_, 16) == 0
                       && ::getsockname(listener_, generic, &size) == 0;
  if (!listens) throw std::runtime_error{"the forwarder cannot listen"};
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { accept_all(); });
}

tcp_forwarder::~tcp_forwarder() {
  ends_ = true;
  accepting_.join();
  for (auto& c : connections_) c.join();
  ::close(listener_);
}

void tcp_forwarder::accept_all() {
  while (!ends_) {
    if (!is_readable(listener_)) continue;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) connections_.emplace_back([this, client] { forward(client); });
  }
}

void tcp_forwarder::forward(int client) {
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = loopback(target_);
  bool open = ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  bool swallows = false;
  while (open && !ends_) {
    std::array<pollfd, 2> both{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
    if (::poll(both.data(), both.size(), look_around_ms) <= 0) continue;
    if (both[0].revents != 0) {
      const auto bytes = receive(client);
      if (bytes && has_commit(*bytes)) {
        const auto where = cut_.exchange(cut::never);
        if (where == cut::before_commit) break;
        swallows = where == cut::after_commit;
      }
      open = bytes && send_all(server, *bytes);
    }
    if (both[1].revents != 0) {
      const auto bytes = receive(server);
      if (swallows && (!bytes || ends_answer(*bytes))) break;
      open = bytes && (swallows || send_all(client, *bytes));
    }
  }
  ::close(server);
  ::close(client);
}

} // namespace fq::test
