// SPDX-License-Identifier: Apache-2.0
// Lines of the log about domain events and their deliveries. No payload is logged: it contains personal data.
#pragma once
#include "actors/outbox/bus_channel.hpp"
#include "domain/delivery/outbox.hpp"

#include <string>

namespace fq {

/// Checkouts also under the names that a shop's operators watch, such as "checkout.started".
void log_event(const outbox_item& item);
/// Audit log of the bus.
void log_bus(const outbox_item& item, bus_outcome outcome, const std::string& why);
/// The cache was lost for this reason, or (empty) is in use again.
void log_cache(const std::string& why);

} // namespace fq
