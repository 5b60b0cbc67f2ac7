// SPDX-License-Identifier: Apache-2.0
// Receives gateway webhooks through a NATS JetStream instead of HTTP: an external router publishes each raw
// body with its signature header. Nodes share one durable pull consumer. A message that is not settled within
// answer_within is delivered again. Called by a detached worker.
#pragma once
#include "domain/base/time.hpp"
#include "outbound/nats_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fq {

struct inbox_message {
  std::uint64_t ticket = 0; ///< key for settle()
  std::string body; ///< raw, as signed
  std::string signature; ///< empty: absent
  timestamp arrived_at; ///< stored in the stream, by the server's clock; the reference time for signatures
                        ///< with a timestamp
  std::uint64_t deliveries = 1; ///< deliveries of this message so far, with this one
};

enum class inbox_verdict : std::uint8_t {
  taken, ///< processed
  later, ///< deliver again after a delay
  never, ///< invalid: never deliver again
};

class inbox_port {
public:
  virtual ~inbox_port() = default;
  struct batch {
    std::vector<inbox_message> messages;
    std::string trouble; ///< why no messages can be fetched now; empty: the fetch worked
  };
  /// Blocks until a message arrives, `patience` is over, or an error occurs. Call it and `settle` from one
  /// thread only.
  [[nodiscard]] virtual batch take(std::size_t most, milliseconds patience) = 0;
  /// `delay`: for `later`. A message that is not settled, or whose verdict is lost, is delivered again.
  virtual void settle(std::uint64_t ticket, inbox_verdict verdict, milliseconds delay) = 0;
};

struct nats_inbox_settings {
  nats_settings servers;
  std::string stream; ///< created with `subject` if absent
  std::string subject; ///< "stripe.backend"
  std::string consumer = "fairqueue"; ///< name of the durable consumer
  std::string signature_header = "Stripe-Signature";
  milliseconds answer_within{30'000}; ///< messages not settled after this time are delivered again
};

class nats_inbox final : public inbox_port {
public:
  /// Connects at first use. Throws std::runtime_error for settings that libnats refuses.
  explicit nats_inbox(nats_inbox_settings settings);
  ~nats_inbox() override;

  [[nodiscard]] batch take(std::size_t most, milliseconds patience) override;
  void settle(std::uint64_t ticket, inbox_verdict verdict, milliseconds delay) override;

private:
  class source; // the libnats objects
  std::unique_ptr<source> source_;
};

} // namespace fq
