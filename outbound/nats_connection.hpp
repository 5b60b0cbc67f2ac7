// SPDX-License-Identifier: Apache-2.0
// One connection to NATS with JetStream: servers, login, TLS and reconnecting. Only for the files of this
// folder that use libnats.
#pragma once
#include "outbound/nats_stream.hpp"

#include <nats/nats.h>

#include <memory>
#include <string>

namespace fq {

template <class T, void (*Free)(T*)>
struct nats_freed {
  void operator()(T* x) const noexcept { Free(x); }
};
template <class T, void (*Free)(T*)>
using nats_owned = std::unique_ptr<T, nats_freed<T, Free>>;

/// Options, and a connection made of them. libnats reconnects automatically until a server closes the
/// connection permanently, for example after two refused logins; then this class makes a new one. Belongs to
/// one thread.
class nats_connection {
public:
  /// Throws std::runtime_error for settings that libnats refuses.
  explicit nats_connection(const nats_settings& settings);
  nats_connection(const nats_connection&) = delete;
  nats_connection& operator=(const nats_connection&) = delete;
  ~nats_connection();

  /// Null: not connected. If the pointer changed, all objects made from the old one are invalid.
  jsCtx* stream_context();
  /// The reason for a missing connection, as far as libnats states it.
  [[nodiscard]] std::string trouble() const;
  /// Number of new connections so far.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

private:
  void set_servers(const nats_settings& settings);
  bool connect();
  bool close();

  milliseconds timeout_;
  std::uint64_t generation_ = 0;
  std::string refusal_; ///< error of the last attempt to connect
  nats_owned<natsOptions, natsOptions_Destroy> options_;
  nats_owned<natsConnection, natsConnection_Destroy> connection_;
  nats_owned<jsCtx, jsCtx_Destroy> context_;
};

[[nodiscard]] bool is_connection_trouble(natsStatus status);
[[nodiscard]] std::string nats_reason(natsStatus status, jsErrCode error);

/// Creates the stream if it does not exist (file storage, 72 h, duplicate window 1 h). True: it exists, or
/// the server does not permit the query; publishing then shows.
bool has_stream(jsCtx* context, const std::string& stream, const std::string& subjects);

} // namespace fq
