// SPDX-License-Identifier: Apache-2.0
// Messages to a NATS JetStream, one at a time. Called by detached workers; libnats keeps the connection on
// threads of its own and reconnects for ever.
//
// A message is accepted when the stream has acknowledged it, not before. NATS syncs its files late (by
// default every two minutes): what must survive the crash of the server's machine is to be kept by the caller
// for some time after `accepted`.
#pragma once
#include "domain/base/time.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fq {

/// Which servers, and how.
struct nats_settings {
  std::string url; ///< nats://user:password@host:4222 or tls://…; several, separated by commas
  std::string credentials_file{};
  std::string ca_file{}; ///< given: TLS, with these certificates
  milliseconds timeout{5'000}; ///< to connect, and for one acknowledgement
};

/// Which stream: made if there is none (files, 72 h, one hour of duplicates); one that is there stays as it
/// is.
struct nats_stream_name {
  std::string stream;
  std::string subjects; ///< of a stream that we make: "mail.>"
  bool is_expected =
    false; ///< what another stream takes is not accepted: whoever reads this one would never see it
};

enum class nats_result : std::uint8_t {
  accepted, ///< the stream has it; of a repeat within its duplicate window: it has the first
  rejected, ///< too large: it will never be taken
  unavailable, ///< not now, and no other would be
};

struct nats_answer {
  nats_result result = nats_result::unavailable;
  std::string why{}; ///< unless accepted; without the login
};

using nats_headers = std::vector<std::pair<std::string, std::string>>;

class nats_connection;

/// Belongs to one thread.
class nats_stream {
public:
  /// Connects when first used. Throws std::runtime_error for settings that libnats does not take.
  nats_stream(const nats_settings& settings, nats_stream_name name);
  ~nats_stream();

  /// `id`: Nats-Msg-Id. Returns within about twice the timeout.
  [[nodiscard]] nats_answer publish(const std::string& subject, const std::string& id,
                                    const nats_headers& headers, std::string_view body);

private:
  nats_stream_name name_;
  milliseconds timeout_;
  std::uint64_t known_in_ = 0; ///< generation of the connection that has seen the stream; 0: none has
  std::unique_ptr<nats_connection> connection_;
};

} // namespace fq
