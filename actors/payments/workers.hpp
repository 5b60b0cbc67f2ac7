// SPDX-License-Identifier: Apache-2.0
// Small actors that wrap one blocking call each (passwords, a gateway, webhook delivery). Detached in
// production.
#pragma once
#include "actors/protocol/accounts_messages.hpp"
#include "actors/protocol/payment_messages.hpp"
#include "domain/base/environment.hpp"
#include "outbound/gateway.hpp"
#include "outbound/sandbox_gateway.hpp"
#include "outbound/webhook_sender.hpp"

#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <string>

namespace fq {

password_worker_handle::behavior_type password_worker(password_worker_handle::pointer self);

/// Starts calls; each is answered by gateway_answered to the sender. A blocking port runs one call at a time.
using gateway_worker_handle = caf::typed_actor<caf::reacts_to<call_gateway>>;
gateway_worker_handle::behavior_type gateway_worker(gateway_worker_handle::pointer self, gateway_port* port);

/// Delivers the sandbox gateway's webhooks to `url` (this server's webhook route): at least once, oldest
/// first. Polls every `poll`, immediately while more are due.
caf::behavior sandbox_courier(caf::event_based_actor* self, sandbox_gateway* gateway, std::string url,
                              environment* env, milliseconds poll, milliseconds timeout);

} // namespace fq
