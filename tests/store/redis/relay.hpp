// SPDX-License-Identifier: Apache-2.0
// A relay in front of a server that treats its one connection as networks do: cuts it in the middle, or
// delivers late.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace fq::test {

class relay {
public:
  /// Leads to `port` of 127.0.0.1.
  explicit relay(std::uint16_t port);
  ~relay();
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// So many bytes from now on reach the server, then it sees the connection's end; when it has closed its
  /// side, so does the client.
  void cut_after(std::size_t bytes) { limit(bytes, true); }
  /// So many bytes from now on reach the server, the rest after resume().
  void hold_after(std::size_t bytes) { limit(bytes, false); }
  /// Returns when so many bytes have passed.
  void await_limit() const;
  void resume();
  /// To a client that has given up: resumes, and returns when the server has had everything and has closed
  /// its side.
  void deliver();

private:
  void limit(std::size_t bytes, bool cuts);
  void run(std::uint16_t server_port);
  void pass_on(int client, int server);
  void forward(int client, int server);
  void wait(int one, int other);

  int listener_ = -1, wake_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> bytes_left_;
  std::atomic<bool> cuts_{false}, stop_{false};
  bool client_is_done_ = false;
  std::thread thread_;
};

} // namespace fq::test
