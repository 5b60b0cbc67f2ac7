// SPDX-License-Identifier: Apache-2.0
// What the TLS listener shows its clients: certificate chain and key from files, protocol and ciphers,
// session tickets. Files may be read anew while it serves: open connections keep what they began with. Shared
// by all io threads; nothing here knows sockets.
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

/// Handshakes by how they ended, and what else /metrics tells.
struct tls_counts {
  std::atomic<std::uint64_t> full{0};
  std::atomic<std::uint64_t> resumed{0};
  std::atomic<std::uint64_t> failed{0}; ///< what the client sent is no TLS of ours, or it went away
  std::atomic<std::uint64_t> late{0}; ///< at tls.handshake_timeout, or when its place was needed
  std::atomic<std::uint64_t> reloads{0}, reloads_refused{0}; ///< of certificates
  std::atomic<bool> last_reload_refused{false};
  std::atomic<std::int64_t> pending{0}; ///< under way now
};

/// What a chain of certificates says about itself.
struct certificate_facts {
  std::string name; ///< of the first: its subject, as RFC 2253 has it
  timestamp not_before; ///< of the first
  timestamp not_after; ///< the earliest of all
};

/// Whether somebody should have renewed it by now: less than 14 days are left, or less than a sixth of its
/// life if that is less.
[[nodiscard]] bool should_be_renewed(const certificate_facts& facts, timestamp now);

class tls_server {
public:
  /// Reads the files. Throws std::runtime_error with a message for the operator.
  tls_server(const config::tls_options& options, environment& env);
  ~tls_server();
  tls_server(const tls_server&) = delete;
  tls_server& operator=(const tls_server&) = delete;

  /// Reads the files again; new connections get what is in them. Throws std::runtime_error with a message for
  /// the operator if that is worse than what is in use (unreadable, no pair, expired), which stays then.
  /// Counted either way.
  void reload();

  /// For a handshake with the client at the other end of `descriptor`, which is non-blocking and outlives it.
  /// Null: no memory.
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
  std::shared_ptr<const loaded> loaded_; ///< under lock_
};

} // namespace fq::net
