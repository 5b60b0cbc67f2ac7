// SPDX-License-Identifier: Apache-2.0
// Stands between a ledger and its Postgres and cuts the connection around a COMMIT, to make commits of which
// nobody knows.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace fq::test {

enum class cut : std::uint8_t {
  never,
  before_commit, ///< the request with COMMIT in it does not arrive
  after_commit, ///< it is executed and its answer does not come back
};

class tcp_forwarder {
public:
  /// Forwards connections to `port` of loopback.
  explicit tcp_forwarder(std::uint16_t port);
  ~tcp_forwarder();
  tcp_forwarder(const tcp_forwarder&) = delete;
  tcp_forwarder& operator=(const tcp_forwarder&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// At the next COMMIT, once.
  void cut_next(cut where) { cut_ = where; }

private:
  void accept_all();
  void forward(int client);

  std::uint16_t target_, port_ = 0;
  int listener_ = -1;
  std::atomic<cut> cut_{cut::never};
  std::atomic<bool> ends_{false};
  std::vector<std::thread> connections_; ///< of the accepting thread only
  std::thread accepting_;
};

} // namespace fq::test
