// SPDX-License-Identifier: Apache-2.0
// Publishes messages to a NATS JetStream, one at a time. Called by detached workers; libnats uses its own
// threads and reconnects forever.
//
// A message is accepted when the stream has acknowledged it. NATS syncs its files late (by default every two
// minutes). The caller must keep messages that have to survive a crash of the server's machine for some time
// after `accepted`.
#pragma once
#include "domain/base/time.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fq {

/// Servers, login and TLS.
struct nats_settings {
  std::string url; ///< nats://user:password@host:4222 or tls://…; separated by commas
  std::string credentials_file{};
  std::string ca_file{}; ///< set: TLS with these certificates
  milliseconds timeout{5'000}; ///< of connecting, and of one acknowledgement
};

/// The stream. Created if absent (file storage, 72 h, duplicate window 1 h); an existing one is not changed.
struct nats_stream_name {
  std::string stream;
  std::string subjects; ///< used when the stream is created: "mail.>"
  /// reject an acknowledgement of another stream: consumers of this stream would miss the message
  bool is_expected = false;
};

enum class nats_result : std::uint8_t {
  accepted, ///< stored; a repeat within the duplicate window counts as stored
  rejected, ///< too large: permanent
  unavailable, ///< the server accepts no messages now
};

struct nats_answer {
  nats_result result = nats_result::unavailable;
  std::string why{}; ///< reason, unless accepted; without the login
};

using nats_headers = std::vector<std::pair<std::string, std::string>>;

class nats_connection;

/// Belongs to one thread.
class nats_stream {
public:
  /// Connects at first use. Throws std::runtime_error for settings that libnats refuses.
  nats_stream(const nats_settings& settings, nats_stream_name name);
  ~nats_stream();

  /// `id`: Nats-Msg-Id. Returns within about twice the timeout.
  [[nodiscard]] nats_answer publish(const std::string& subject, const std::string& id,
                                    const nats_headers& headers, std::string_view body);

private:
  nats_stream_name name_;
  milliseconds timeout_;
  std::uint64_t known_in_ = 0; ///< generation of the connection on which the stream was found; 0: none
  std::unique_ptr<nats_connection> connection_;
};

} // namespace fq
