// SPDX-License-Identifier: Apache-2.0
// Publishes domain events to other systems: the port, and its implementation for NATS JetStream. An event is
// a CloudEvent 1.0 in structured mode: one JSON document with attributes and data. So it stays complete where
// headers get lost (stores, mirrors, bridges, files), and one schema validates all of it. The catalog is
// docs/events.md.
#pragma once
#include "domain/base/ids.hpp"
#include "outbound/channel.hpp"
#include "outbound/nats_stream.hpp"

#include <string>

namespace fq {

struct bus_message {
  notice what;
  aggregate_id aggregate{};
  std::uint64_t seq = 0; ///< with `ordinal`: place in the order of its aggregate
  std::uint32_t ordinal = 0;
};

enum class bus_result : std::uint8_t {
  accepted, ///< the bus has stored it, now or at an earlier attempt
  rejected, ///< the bus will never accept this message
  unavailable, ///< the bus accepts no messages now
};

struct bus_answer {
  bus_result result = bus_result::unavailable;
  std::string why{}; ///< reason, unless accepted; without payload data
};

class bus_port {
public:
  virtual ~bus_port() = default;
  /// Blocks for a few seconds at most. Call it from one thread only. Publishing a message twice is harmless.
  [[nodiscard]] virtual bus_answer publish(const bus_message& message) = 0;
};

/// Returns the document: specversion, id, source, type, subject, time, datacontenttype, data, and the
/// extensions tenant, sequence and partitionkey. Empty if the payload is not a JSON object.
[[nodiscard]] std::string cloud_event_of(const bus_message& message, const std::string& source);

struct nats_bus_settings {
  nats_settings servers;
  nats_stream_name stream{"fairqueue", "fairqueue.>"};
  /// of the subject: topic order.completed is published to fairqueue.order.completed
  std::string prefix = "fairqueue";
  std::string source = "/fairqueue"; ///< URI reference that names the installation
};

class nats_bus final : public bus_port {
public:
  /// Connects at first use. Throws std::runtime_error for settings that libnats refuses.
  explicit nats_bus(nats_bus_settings settings);

  [[nodiscard]] bus_answer publish(const bus_message& message) override;

private:
  std::string prefix_, source_;
  nats_stream stream_;
};

} // namespace fq
