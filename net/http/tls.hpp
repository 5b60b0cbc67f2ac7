// SPDX-License-Identifier: Apache-2.0
// Configuration of the TLS listener: certificate chain and key from files, protocols, ciphers and session
// tickets. Files can be reloaded while it serves; open connections keep the old ones. Shared by all io
// threads; independent of sockets.
#pragma once
#include "config/options.hpp"
#include "net/http/stream.hpp"
#include "net/http/ticket_keys.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace fq::net {

/// Handshakes by result, and other counts for /metrics.
struct tls_counts {
  std::atomic<std::uint64_t> full{0};
  std::atomic<std::uint64_t> resumed{0};
  std::atomic<std::uint64_t> failed{0}; ///< the client's TLS is not acceptable, or it disconnected
  std::atomic<std::uint64_t> late{0}; ///< past tls.handshake_timeout, or evicted
  std::atomic<std::uint64_t> reloads{0}, reloads_refused{0}; ///< of certificates
  std::atomic<bool> last_reload_refused{false};
  std::atomic<std::int64_t> pending{0}; ///< in progress now
};

/// Facts of a certificate chain.
struct certificate_facts {
  std::string name; ///< subject of the first certificate, as in RFC 2253
  timestamp not_before; ///< of the first certificate
  timestamp not_after; ///< the earliest of the chain
};

/// Whether the certificate is due for renewal: less than 14 days are left, or less than a sixth of its life
/// if that is shorter.
[[nodiscard]] bool should_be_renewed(const certificate_facts& facts, timestamp now);

class tls_server {
public:
  /// Reads the files. Throws std::runtime_error with a message for the operator.
  tls_server(const config::tls_options& options, environment& env);
  ~tls_server();
  tls_server(const tls_server&) = delete;
  tls_server& operator=(const tls_server&) = delete;

  /// Reads the files again for new connections. If they are worse than those in use (unreadable, no pair,
  /// expired), keeps those and throws std::runtime_error with a message for the operator. Counts both
  /// results.
  void reload();

  /// Starts a handshake on `descriptor`, which is non-blocking and must outlive it. Returns null if memory
  /// is exhausted.
  [[nodiscard]] ssl_ptr begin(int descriptor) const;

  [[nodiscard]] certificate_facts facts() const;

  tls_counts counts;

private:
  struct loaded;
  [[nodiscard]] std::shared_ptr<const loaded> load();
  [[nodiscard]] std::shared_ptr<const loaded> load_better();
  [[nodiscard]] std::shared_ptr<const loaded> in_use() const;

  const config::tls_options& options_;
  environment& env_;
  ticket_keys tickets_;
  mutable std::mutex lock_;
  std::shared_ptr<const loaded> loaded_; ///< guarded by lock_
};

} // namespace fq::net
