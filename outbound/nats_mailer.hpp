// SPDX-License-Identifier: Apache-2.0
// Sends mail through a NATS JetStream: a `mail.send` envelope for a mailer service. A message counts as sent
// when the stream has acknowledged it (outbound/nats_stream). Called by a detached worker.
#pragma once
#include "domain/base/environment.hpp"
#include "outbound/limits.hpp"
#include "outbound/mail.hpp"
#include "outbound/nats_stream.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace fq {

struct nats_mail_settings {
  nats_settings servers;
  nats_stream_name stream;
  std::string subject; ///< of envelopes: "mail.send"
};

/// A range of recipients that share one NATS message.
struct mail_chunk {
  /// Nats-Msg-Id and correlation_id: the message's id if there is one chunk, else with "#1", "#2"…
  std::string id;
  std::size_t begin = 0, end = 0;
};

/// Depends on the message only, not on which recipients have a result: a repeated chunk must keep its id.
[[nodiscard]] std::vector<mail_chunk> chunks_of(const mail_message& message);

/// The `mail.send` envelope (JSON) for the recipients of the chunk whose indices are in `wanted`.
[[nodiscard]] std::string envelope_of(const mail_message& message, const std::string& id,
                                      const std::vector<std::size_t>& wanted, const mail_sender& sender,
                                      timestamp now);

/// Belongs to one thread.
class nats_mailer final : public mail_port {
public:
  /// Connects at first use. Throws std::runtime_error for settings that libnats refuses. `env` must outlive
  /// the mailer.
  nats_mailer(nats_mail_settings settings, mail_sender sender, environment& env);

  [[nodiscard]] mail_answer send(const mail_message& message) override;

private:
  [[nodiscard]] mail_answer publish(const std::string& id, const std::string& envelope);

  std::string subject_;
  mail_sender sender_;
  environment& env_;
  nats_stream stream_;
};

} // namespace fq
