// SPDX-License-Identifier: Apache-2.0
// Metrics of the event bus, see measures.hpp.
#pragma once
#include "actors/base/counts.hpp"

namespace fq {

/// Publish attempts of domain events. Written by the bus channel.
struct bus_counts {
  counter published, failed, given_up;
};

/// Webhooks that arrived by the bus, by outcome. Written by the bus inbox.
struct bus_inbox_counts {
  counter taken, put_off, refused;
};

} // namespace fq
