// SPDX-License-Identifier: Apache-2.0
// What is counted of the event bus, see measures.hpp.
#pragma once
#include "actors/base/counts.hpp"

namespace fq {

/// Domain events on their way to the bus, each attempt counted. Written by the bus channel.
struct bus_counts {
  counter published, failed, given_up;
};

/// Webhooks that came by the bus, by what became of them. Written by the bus inbox.
struct bus_inbox_counts {
  counter taken, put_off, refused;
};

} // namespace fq
