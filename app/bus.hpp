// SPDX-License-Identifier: Apache-2.0
// Opens the message bus that the options name: domain events go out by it, Stripe's webhooks may come in.
#pragma once
#include "config/options.hpp"
#include "domain/base/environment.hpp"
#include "outbound/event_bus.hpp"
#include "outbound/nats_inbox.hpp"

#include <memory>

namespace fq {

/// Returns null if no bus is configured. Throws std::runtime_error with a message for the operator. An
/// unreachable server is no error. `env` must outlive the port.
std::unique_ptr<bus_port> make_bus(const config::options& options, environment& env);

/// Same as make_bus, for Stripe's webhooks that arrive by the bus.
std::unique_ptr<inbox_port> make_payment_inbox(const config::options& options);

} // namespace fq
