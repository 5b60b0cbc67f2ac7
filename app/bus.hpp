// SPDX-License-Identifier: Apache-2.0
// The bus that the options name: where domain events go, and where payment events come from.
#pragma once
#include "config/options.hpp"
#include "domain/base/environment.hpp"
#include "outbound/event_bus.hpp"
#include "outbound/nats_inbox.hpp"

#include <memory>

namespace fq {

/// Null: there is none. Throws std::runtime_error with a message for the operator. A server that is away is
/// no error. `env` must outlive the port.
std::unique_ptr<bus_port> make_bus(const config::options& options, environment& env);

/// The same for Stripe's webhooks that come by the bus.
std::unique_ptr<inbox_port> make_payment_inbox(const config::options& options);

} // namespace fq
