// SPDX-License-Identifier: Apache-2.0
// A blocking raw-bytes client for the transport's tests: it can send invalid requests that libraries refuse.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace fq::net::fake {

struct reply {
  unsigned status = 0; ///< 0: the connection ended
  std::string head;
  std::string body;

  [[nodiscard]] bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

struct ws_frame {
  unsigned opcode = 0; ///< 0: the connection ended
  std::string payload;
  [[nodiscard]] unsigned close_code() const {
    return payload.size() < 2 ? 1005u
                              : static_cast<unsigned>(static_cast<unsigned char>(payload[0])) << 8
                                  | static_cast<unsigned char>(payload[1]);
  }
};

class client {
public:
  /// `from`: source address within 127.0.0.0/8; empty: any.
  explicit client(std::uint16_t port, int receive_buffer = 0, const char* from = "") :
      fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const timeval patience{10, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (sockaddr_in own{}; ::inet_pton(AF_INET, from, &own.sin_addr) == 1) {
      own.sin_family = AF_INET;
      static_cast<void>(::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own));
    }
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  virtual ~client() { ::close(fd_); }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }
  /// Bytes of a segment that both ends agreed on.
  [[nodiscard]] int segment_size() const {
    int size = 0;
    socklen_t length = sizeof size;
    ::getsockopt(fd_, IPPROTO_TCP, TCP_MAXSEG, &size, &length);
    return size;
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = write_some(bytes);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  reply ask(std::string_view bytes, bool head_only = false) {
    send(bytes);
    return read(head_only);
  }

  reply get(std::string_view path) {
    return ask("GET " + std::string{path} + " HTTP/1.1\r\nHost: a\r\n\r\n");
  }

  reply read(bool head_only = false) {
    reply r;
    std::size_t end;
    while ((end = in_.find("\r\n\r\n")) == std::string::npos)
      if (!more()) return r;
    r.head = take(end + 4);
    r.status = static_cast<unsigned>(std::atoi(r.head.c_str() + 9));
    if (r.has("Transfer-Encoding: chunked") && !head_only) {
      read_chunks(r);
      return r;
    }
    const auto length = r.head.find("Content-Length: ");
    if (length == std::string::npos || head_only) return r;
    const auto size = static_cast<std::size_t>(std::atoll(r.head.c_str() + length + 16));
    while (in_.size() < size)
      if (!more()) return r;
    r.body = take(size);
    return r;
  }

  /// Reads until the server closes.
  std::string rest() {
    while (more()) {}
    return std::exchange(in_, {});
  }

  /// True if the server has closed; does not wait.
  [[nodiscard]] bool was_closed() const {
    char byte;
    const auto got = ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }

  /// True if the server has closed without sending more.
  bool ended() { return in_.empty() && !more(); }

  reply open_socket(std::uint64_t customer, std::string_view more_fields = {}) {
    return ask(
      "GET /ws/" + std::to_string(customer)
      + " HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      + std::string{more_fields} + "\r\n");
  }

  bool send_frame(unsigned first, std::string_view payload, bool masked = true) {
    std::string out{static_cast<char>(first), static_cast<char>((masked ? 0x80u : 0u) | payload.size())};
    if (masked) out.append(4, '\0');
    out.append(payload);
    return send(out);
  }

  ws_frame read_frame() {
    ws_frame f;
    while (in_.size() < 2)
      if (!more()) return f;
    std::size_t size = static_cast<unsigned char>(in_[1]) & 0x7f;
    const std::size_t head = size == 126 ? 4 : 2;
    while (in_.size() < head)
      if (!more()) return f;
    if (head == 4)
      size = static_cast<std::size_t>(static_cast<unsigned char>(in_[2])) << 8
             | static_cast<unsigned char>(in_[3]);
    while (in_.size() < head + size)
      if (!more()) return f;
    f.opcode = static_cast<unsigned char>(in_[0]) & 0x0f;
    take(head);
    f.payload = take(size);
    return f;
  }

  [[nodiscard]] int descriptor() const { return fd_; }

protected:
  virtual ssize_t write_some(std::string_view bytes) {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  virtual ssize_t read_some(char* into, std::size_t room) { return ::recv(fd_, into, room, 0); }

private:
  /// A truncated body ends the connection: status 0.
  void read_chunks(reply& r) {
    for (std::size_t size = 1; size > 0;) {
      std::size_t line;
      while ((line = in_.find("\r\n")) == std::string::npos)
        if (!more()) {
          r.status = 0;
          return;
        }
      size = std::strtoul(take(line + 2).c_str(), nullptr, 16);
      while (in_.size() < size + 2)
        if (!more()) {
          r.status = 0;
          return;
        }
      r.body += take(size);
      take(2);
    }
  }

  bool more() {
    char part[65536];
    const auto got = read_some(part, sizeof part);
    if (got <= 0) return false;
    in_.append(part, static_cast<std::size_t>(got));
    return true;
  }
  std::string take(std::size_t size) {
    auto taken = in_.substr(0, size);
    in_.erase(0, size);
    return taken;
  }

  int fd_;
  bool connected_ = false;
  std::string in_;
};

} // namespace fq::net::fake
