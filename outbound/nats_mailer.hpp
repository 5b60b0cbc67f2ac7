// SPDX-License-Identifier: Apache-2.0
// Mail by way of a NATS JetStream: a `mail.send` envelope for a mailer service that consumes it. Called by a detached worker; libnats keeps
// the connection on threads of its own and reconnects for ever.
//
// A message counts as sent when the stream has acknowledged it, not before. NATS syncs its files late (by default every two minutes): what
// must survive the crash of the server's machine is to be kept by the caller for some time after `accepted`.
#pragma once
#include "domain/environment.hpp"
#include "outbound/mail.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace fq {

struct nats_settings {
  std::string url; ///< nats://user:password@host:4222 or tls://…; several, separated by commas
  std::string credentials_file{};
  std::string ca_file{}; ///< given: TLS, with these certificates
  std::string stream;    ///< made if there is none: files, 72 h, one hour of duplicates; one that is there stays as it is
  std::string subjects;  ///< of a stream that we make: "mail.>"
  std::string subject;   ///< where envelopes go: "mail.send"
  milliseconds timeout{5'000}; ///< for one acknowledgement
};

/// Recipients in one NATS message at most, and bytes of them: a server takes 1 MiB by default, and the body comes on top.
inline constexpr std::size_t mail_chunk_recipients_max = 1000;
inline constexpr std::size_t mail_chunk_bytes_max = 256 * 1024;

/// A run of recipients that share one NATS message.
struct mail_chunk {
  std::string id; ///< Nats-Msg-Id and correlation_id: the message's own if there is one chunk, else with "#1", "#2"…
  std::size_t begin = 0, end = 0;
};

/// The same for the same message, whoever of its recipients is answered: a chunk that is sent again must be known by its id.
[[nodiscard]] std::vector<mail_chunk> chunks_of(const mail_message& message);

/// The `mail.send` envelope (JSON) for those of the chunk whom `wanted` names.
[[nodiscard]] std::string envelope_of(const mail_message& message, const std::string& id, const std::vector<std::size_t>& wanted,
                                      const mail_sender& sender, timestamp now);

/// Belongs to one thread.
class nats_mailer final : public mail_port {
public:
  /// Connects when first used. Throws std::runtime_error for settings that libnats does not take. `env` must outlive the mailer.
  nats_mailer(nats_settings settings, mail_sender sender, environment& env);
  ~nats_mailer() override;

  [[nodiscard]] mail_answer send(const mail_message& message) override;

private:
  class connection;
  [[nodiscard]] mail_answer publish(const std::string& id, const std::string& envelope);

  nats_settings settings_;
  mail_sender sender_;
  environment& env_;
  std::unique_ptr<connection> connection_;
};

} // namespace fq
