// SPDX-License-Identifier: Apache-2.0
// Converts a gateway's webhook to a fact for the payment's owner: verifies the signature on the raw bytes,
// parses, finds the owner. Pure. Used for webhooks by HTTP (net/api/webhook_routes) and by the bus
// (actors/outbox/bus_inbox).
#pragma once
#include "actors/base/errors.hpp"
#include "actors/protocol/fan_messages.hpp"
#include "outbound/gateway.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace fq {

struct webhook_fact {
  apply_fact wish;
  aggregate_id owner{};
};

/// `at`: arrival time, for signatures with a time stamp. A reference of another installation gives
/// `foreign_event`.
[[nodiscard]] std::variant<webhook_fact, webhook_error> fact_of_webhook(const gateway_port& gateway,
                                                                        std::string_view raw_body,
                                                                        std::string_view signature,
                                                                        timestamp at);

/// What `wish` says of money, for a log; empty if it speaks of none. To be asked before the wish is sent: if
/// the ledger does not have the event either, nothing else will remember it.
[[nodiscard]] std::string money_in(const apply_fact& wish);

/// True: the owner decided nothing, so the webhook must be redelivered.
[[nodiscard]] inline bool is_undecided(const caf::error& error, const refusal& no) {
  return (error && !is(error, errc::absent)) || no.why == reason::unavailable;
}

} // namespace fq
