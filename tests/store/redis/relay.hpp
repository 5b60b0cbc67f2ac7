// SPDX-License-Identifier: Apache-2.0
// A relay in front of a server that cuts or delays its single connection.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace fq::test {

class relay {
public:
  /// Forwards to `port` on 127.0.0.1.
  explicit relay(std::uint16_t port);
  ~relay();
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Forwards `bytes` more bytes to the server, then closes that side. After the server closes, the client's
  /// side closes too.
  void cut_after(std::size_t bytes) { limit(bytes, true); }
  /// Forwards `bytes` more bytes to the server, the rest after resume().
  void hold_after(std::size_t bytes) { limit(bytes, false); }
  /// Returns when the limit is reached.
  void await_limit() const;
  void resume();
  /// For a client that has given up: resumes, and returns when the server has received all bytes and has
  /// closed its side.
  void deliver();
  /// Returns when the server has closed its side.
  void await_end() { thread_.join(); }

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
