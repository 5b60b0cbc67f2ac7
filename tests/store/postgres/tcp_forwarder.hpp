// SPDX-License-Identifier: Apache-2.0
// A proxy between a ledger and Postgres that cuts the connection at a COMMIT, to produce commits with unknown
// outcome.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace fq::test {

enum class cut : std::uint8_t {
  never,
  before_commit, ///< the COMMIT request is lost
  after_commit, ///< the COMMIT is executed and its answer is lost
};

class tcp_forwarder {
public:
  /// Forwards connections to `port` on loopback.
  explicit tcp_forwarder(std::uint16_t port);
  ~tcp_forwarder();
  tcp_forwarder(const tcp_forwarder&) = delete;
  tcp_forwarder& operator=(const tcp_forwarder&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Cuts at the next COMMIT, once.
  void cut_next(cut where) { cut_ = where; }

private:
  void accept_all();
  void forward(int client);

  std::uint16_t target_, port_ = 0;
  int listener_ = -1;
  std::atomic<cut> cut_{cut::never};
  std::atomic<bool> ends_{false};
  std::vector<std::thread> connections_; ///< used by the accepting thread only
  std::thread accepting_;
};

} // namespace fq::test
