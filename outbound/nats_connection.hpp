// SPDX-License-Identifier: Apache-2.0
// One connection to NATS with JetStream: servers, login, TLS, and what libnats is to do while they are away.
// For the files beside it that speak to libnats; nobody else needs nats.h.
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

/// Options, and a connection made of them. libnats loses one for good only when it is closed, for which a
/// server may have reasons of its own (a login that was refused twice): then there is a new one. Belongs to
/// one thread.
class nats_connection {
public:
  /// Throws std::runtime_error for settings that libnats does not take.
  explicit nats_connection(const nats_settings& settings);
  nats_connection(const nats_connection&) = delete;
  nats_connection& operator=(const nats_connection&) = delete;
  ~nats_connection();

  /// Null: there is none now. Another pointer than before: everything that was made of the older one is void.
  jsCtx* stream_context();
  /// Why there is none, as far as libnats says.
  [[nodiscard]] std::string trouble() const;
  /// How often a connection was made anew.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

private:
  void set_servers(const nats_settings& settings);
  bool connect();
  bool close();

  milliseconds timeout_;
  std::uint64_t generation_ = 0;
  std::string refusal_; ///< why the last attempt to connect came to nothing
  nats_owned<natsOptions, natsOptions_Destroy> options_;
  nats_owned<natsConnection, natsConnection_Destroy> connection_;
  nats_owned<jsCtx, jsCtx_Destroy> context_;
};

[[nodiscard]] bool is_connection_trouble(natsStatus status);
[[nodiscard]] std::string nats_reason(natsStatus status, jsErrCode error);

/// No such stream: make it (files, 72 h, one hour of duplicates). True: there is one now, or nobody lets us
/// know, and publishing will tell.
bool has_stream(jsCtx* context, const std::string& stream, const std::string& subjects);

} // namespace fq
