// SPDX-License-Identifier: Apache-2.0
// Gateways' webhooks that arrive by a NATS JetStream instead of by HTTP: a router of theirs publishes each
// raw body with its signature header. Taken by a durable pull consumer, which several nodes share; each
// message is ours until it is settled or its time is over, then it comes again. Called by a detached worker.
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
  std::uint64_t ticket = 0; ///< to settle it by
  std::string body; ///< as it was signed
  std::string signature; ///< empty: there is none
  timestamp arrived_at; ///< in the stream, by the server's clock: a signature that has a time is as old as it
                        ///< was then
  std::uint64_t deliveries = 1; ///< this one included
};

enum class inbox_verdict : std::uint8_t {
  taken, ///< done with
  later, ///< again after a while
  never, ///< it is no good and does not come again
};

class inbox_port {
public:
  virtual ~inbox_port() = default;
  struct batch {
    std::vector<inbox_message> messages;
    std::string trouble; ///< why none can be had now; empty: there are none, or here they are
  };
  /// Blocks until there is a message, `patience` is over, or nothing can be had. From one thread only, as
  /// `settle`.
  [[nodiscard]] virtual batch take(std::size_t most, milliseconds patience) = 0;
  /// `delay`: of `later`. A message that is not settled, or whose verdict gets lost, comes again.
  virtual void settle(std::uint64_t ticket, inbox_verdict verdict, milliseconds delay) = 0;
};

struct nats_inbox_settings {
  nats_settings servers;
  std::string stream; ///< made if there is none, with `subject`
  std::string subject; ///< "stripe.backend"
  std::string consumer = "fairqueue"; ///< durable
  std::string signature_header = "Stripe-Signature";
  milliseconds answer_within{30'000}; ///< a message that is not settled by then comes again
};

class nats_inbox final : public inbox_port {
public:
  /// Connects when first used. Throws std::runtime_error for settings that libnats does not take.
  explicit nats_inbox(nats_inbox_settings settings);
  ~nats_inbox() override;

  [[nodiscard]] batch take(std::size_t most, milliseconds patience) override;
  void settle(std::uint64_t ticket, inbox_verdict verdict, milliseconds delay) override;

private:
  class source; // what libnats gives us
  std::unique_ptr<source> source_;
};

} // namespace fq
