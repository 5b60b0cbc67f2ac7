// SPDX-License-Identifier: Apache-2.0
// Mutual TLS between nodes: the files of cluster.certificate, key, ca and revoked, read once into memory and
// again at a reload, and the checks of a peer's certificate. A connection opens no file. Thread-safe.
#pragma once
#include "config/options.hpp"
#include "crypto/openssl_pointers.hpp"
#include "domain/base/time.hpp"

#include <openssl/ssl.h>

#include <memory>
#include <mutex>
#include <string>

namespace fq {

class environment;

using ssl_session = std::unique_ptr<SSL, freed_by<SSL_free>>;

/// The certificate that a peer has shown.
struct peer_certificate {
  std::string node; ///< that it names; empty: a connection without TLS
  std::shared_ptr<const X509> whole;
  std::shared_ptr<STACK_OF(X509)> others = {}; ///< that it has sent, up to the authority
};

class mesh_tls {
public:
  /// Reads the files. Throws std::runtime_error with a message for the operator, also if the certificate is
  /// not that of `node`.
  mesh_tls(const config::cluster_options& options, std::string node, environment& env);
  ~mesh_tls();
  mesh_tls(const mesh_tls&) = delete;
  mesh_tls& operator=(const mesh_tls&) = delete;

  /// Reads the files again, for new connections. If they cannot be used or the certificate has expired, keeps
  /// those in use and throws std::runtime_error with a message for the operator.
  void reload();

  /// Starts a handshake on `descriptor`, which is non-blocking and must outlive it. Null: no memory.
  [[nodiscard]] ssl_session accepting(int descriptor) const;
  [[nodiscard]] ssl_session connecting(int descriptor) const;

  /// Whether the certificate is of an authority and not revoked, by the files in use. Time is not checked: a
  /// connection may last longer than the certificate, which its node has renewed.
  [[nodiscard]] bool accepts(const peer_certificate& peer) const;
  [[nodiscard]] std::size_t revoked() const; ///< certificates
  [[nodiscard]] timestamp expires() const; ///< the end of this node's certificate

private:
  struct loaded;
  [[nodiscard]] std::shared_ptr<const loaded> load() const;
  [[nodiscard]] std::shared_ptr<const loaded> in_use() const;

  const config::cluster_options options_;
  const std::string node_;
  environment& env_;
  mutable std::mutex lock_; // dialer, port and the reload
  std::shared_ptr<const loaded> loaded_; ///< guarded by lock_
};

/// A handshake knows the files of its beginning. Call it after mesh_links::enter: then a reload ends the
/// connection, or this sees the reloaded files.
[[nodiscard]] bool is_refused_now(const mesh_tls* tls, const peer_certificate& peer);

/// The peer of a finished handshake.
[[nodiscard]] peer_certificate peer_of(SSL* session);
/// Why a handshake failed, in words; call it before any other call of OpenSSL.
[[nodiscard]] std::string why_failed(SSL* session);

} // namespace fq
