// SPDX-License-Identifier: Apache-2.0
// Domain events to other systems by a bus: the port, and the bus of NATS JetStream. An event is a
// CloudEvent 1.0 in structured mode: one JSON document that holds its attributes and its data, so it stays
// whole where headers do not travel (stored, mirrored, bridged, written to a file), and one schema checks all
// of it. The catalog is docs/events.md.
#pragma once
#include "domain/base/ids.hpp"
#include "outbound/channel.hpp"
#include "outbound/nats_stream.hpp"

#include <string>

namespace fq {

struct bus_message {
  notice what;
  aggregate_id aggregate{};
  std::uint64_t seq = 0; ///< with the ordinal: place in its aggregate's order
  std::uint32_t ordinal = 0;
};

enum class bus_result : std::uint8_t {
  accepted, ///< the bus has it, now or from an earlier try
  rejected, ///< no bus will ever take this one
  unavailable, ///< not now, and no other would be
};

struct bus_answer {
  bus_result result = bus_result::unavailable;
  std::string why{}; ///< unless accepted; nothing of the payload
};

class bus_port {
public:
  virtual ~bus_port() = default;
  /// Blocks, for seconds at most. From one thread only. Twice the same message is harmless.
  [[nodiscard]] virtual bus_answer publish(const bus_message& message) = 0;
};

/// The document: specversion, id, source, type, subject, time, datacontenttype, data, and the extensions
/// tenant, sequence and partitionkey. Empty: the payload is no JSON object.
[[nodiscard]] std::string cloud_event_of(const bus_message& message, const std::string& source);

struct nats_bus_settings {
  nats_settings servers;
  nats_stream_name stream{"fairqueue", "fairqueue.>"};
  std::string prefix = "fairqueue"; ///< an event of topic order.completed goes to fairqueue.order.completed
  std::string source = "/fairqueue"; ///< a URI reference: which installation it comes from
};

class nats_bus final : public bus_port {
public:
  /// Connects when first used. Throws std::runtime_error for settings that libnats does not take.
  explicit nats_bus(nats_bus_settings settings);

  [[nodiscard]] bus_answer publish(const bus_message& message) override;

private:
  std::string prefix_, source_;
  nats_stream stream_;
};

} // namespace fq
