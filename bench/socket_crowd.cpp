// SPDX-License-Identifier: Apache-2.0
// Many waiting WebSockets on one thread, for bench/waiters.mjs. Prints `ready` when each has its `state`.
// Then it obeys lines of standard input:
//   move N   the line is about to make N moves: remembers which positions are due by the 1 % rule
//   tell     prints the due sockets, those that heard, and how late they were, as JSON
// Usage: socket_crowd EVENT TOKEN_FILE PORT          a token a line
//        socket_crowd --send COUNT BYTES          CPU of a bare send() of so many bytes, over COUNT sockets
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::string_view_literals;

using steady = std::chrono::steady_clock;

constexpr std::size_t opening_max = 500; // handshakes at once
constexpr std::uint64_t always_told = 100; // as in net/websocket/limits.hpp
constexpr unsigned loopback = 0x7f000001;
constexpr unsigned source_addresses = 8; // one address has too few ports

struct fan {
  int socket = -1;
  std::uint64_t position = 0;
  steady::time_point heard;
  bool is_due = false;
};

void must(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string{what} + ": " + std::to_string(errno));
}

sockaddr_in address(unsigned host, unsigned short port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(host);
  a.sin_port = htons(port);
  return a;
}

int connected(unsigned source, unsigned short port) {
  const int s = ::socket(AF_INET, SOCK_STREAM, 0);
  must(s >= 0, "socket");
  const int on = 1;
  ::setsockopt(s, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  const auto from = address(source, 0), to = address(loopback, port);
  must(::bind(s, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0, "bind");
  must(::connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0, "connect");
  return s;
}

double cpu_us() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

/// The yardstick: what send() alone costs the sender.
void bare_send(std::size_t count, std::size_t bytes) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  auto at = address(loopback, 0);
  must(::bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0, "bind");
  must(::listen(listener, 1024) == 0, "listen");
  socklen_t size = sizeof at;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
  std::vector<int> ours, theirs;
  for (std::size_t i = 0; i < count; ++i) {
    theirs.push_back(
      connected(loopback + 1 + static_cast<unsigned>(i % source_addresses), ntohs(at.sin_port)));
    ours.push_back(::accept(listener, nullptr, nullptr));
    const int on = 1;
    ::setsockopt(ours.back(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  const std::string frame(bytes, 'x');
  std::vector<char> sink(bytes * 8);
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto before = cpu_us();
    for (const int s : ours) must(::send(s, frame.data(), frame.size(), 0) > 0, "send");
    best = std::min(best, (cpu_us() - before) / static_cast<double>(count));
    for (const int s : theirs) must(::recv(s, sink.data(), sink.size(), 0) > 0, "recv");
  }
  std::printf("{\"send_us\":%.2f}\n", best);
}

class crowd {
public:
  crowd(std::string event, std::vector<std::string> tokens, unsigned short port) :
      event_(std::move(event)), tokens_(std::move(tokens)), port_(port), fans_(tokens_.size()) {
    must(poll_ >= 0, "epoll");
  }

  void open_all() {
    for (std::size_t next = 0; next < fans_.size() || opening_ > 0;) {
      while (next < fans_.size() && opening_ < opening_max) open(next++);
      receive(-1);
    }
    std::puts("ready");
    std::fflush(stdout);
  }

  void obey() {
    watch(STDIN_FILENO, fans_.size());
    while (!is_over_) receive(-1);
  }

private:
  void watch(int descriptor, std::uint64_t tag) {
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.u64 = tag;
    must(::epoll_ctl(poll_, EPOLL_CTL_ADD, descriptor, &e) == 0, "epoll_ctl");
  }

  void open(std::size_t i) {
    fans_[i].socket = connected(loopback + 1 + static_cast<unsigned>(i % source_addresses), port_);
    const auto request = "GET /ws/queue/" + event_ + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_)
                         + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                           "Sec-WebSocket-Protocol: fairqueue.v1, "
                         + tokens_[i] + "\r\n\r\n";
    must(::send(fans_[i].socket, request.data(), request.size(), MSG_NOSIGNAL) > 0, "send");
    watch(fans_[i].socket, i);
    ++opening_;
  }

  void receive(int timeout_ms) {
    std::array<epoll_event, 1024> ready{};
    const int n = ::epoll_wait(poll_, ready.data(), static_cast<int>(ready.size()), timeout_ms);
    const auto now = steady::now();
    for (int i = 0; i < n; ++i) {
      const auto tag = ready[static_cast<std::size_t>(i)].data.u64;
      tag == fans_.size() ? command() : read(fans_[tag], now);
    }
  }

  void read(fan& f, steady::time_point now) {
    std::array<char, 8192> buffer{};
    const auto got = ::recv(f.socket, buffer.data(), buffer.size(), 0);
    if (got <= 0) {
      ++lost_;
      ::close(f.socket);
      return;
    }
    const std::string_view text{buffer.data(), static_cast<std::size_t>(got)};
    if (text.find("\x89\x00"sv) != std::string_view::npos) {
      constexpr std::array<char, 6> pong{'\x8a', '\x80', 0, 0, 0, 0};
      static_cast<void>(::send(f.socket, pong.data(), pong.size(), MSG_NOSIGNAL));
    }
    const auto at = text.rfind("\"position\":");
    if (at == std::string_view::npos) return;
    if (f.position == 0) --opening_;
    f.position = std::strtoull(text.data() + at + 11, nullptr, 10);
    if (f.heard <= moved_at_) f.heard = now;
    ++frames_;
  }

  void command() {
    std::string word;
    if (!(std::cin >> word)) {
      is_over_ = true;
      return;
    }
    if (word == "move") {
      std::uint64_t moves = 0;
      std::cin >> moves;
      for (auto& f : fans_)
        f.is_due = f.position > moves && (f.position - moves <= always_told || moves * 100 >= f.position);
      frames_ = 0;
      moved_at_ = steady::now();
    } else {
      tell();
    }
  }

  void tell() const {
    std::vector<double> late;
    std::size_t due = 0;
    for (const auto& f : fans_) {
      due += f.is_due;
      if (f.is_due && f.heard > moved_at_)
        late.push_back(std::chrono::duration<double, std::milli>(f.heard - moved_at_).count());
    }
    std::ranges::sort(late);
    const auto part = [&](double p) {
      return late.empty() ? 0 : late[static_cast<std::size_t>(p * static_cast<double>(late.size() - 1))];
    };
    std::printf("{\"due\":%zu,\"heard\":%zu,\"frames\":%zu,\"lost\":%zu,\"p50_ms\":%.0f,\"p99_ms\":%.0f,"
                "\"max_ms\":%.0f}\n",
                due, late.size(), frames_, lost_, part(0.5), part(0.99), part(1));
    std::fflush(stdout);
  }

  std::string event_;
  std::vector<std::string> tokens_;
  unsigned short port_;
  std::vector<fan> fans_;
  int poll_ = ::epoll_create1(0);
  std::size_t opening_ = 0, frames_ = 0, lost_ = 0;
  steady::time_point moved_at_;
  bool is_over_ = false;
};

} // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 3 && args[0] == "--send") {
    bare_send(std::stoul(args[1]), std::stoul(args[2]));
    return 0;
  }
  if (args.size() != 3) throw std::runtime_error("see the head of bench/socket_crowd.cpp");
  std::vector<std::string> tokens;
  std::ifstream file{args[1]};
  for (std::string line; std::getline(file, line);) tokens.push_back(line);
  crowd all{args[0], std::move(tokens), static_cast<unsigned short>(std::stoul(args[2]))};
  all.open_all();
  all.obey();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "socket_crowd: %s\n", e.what());
  return 1;
}
