// SPDX-License-Identifier: Apache-2.0
// A gateway's webhook as a fact for the payment's owner: the signature on the raw bytes first, then what it
// says, then whose it is. Pure. The same for webhooks that come by HTTP (net/api/webhook_routes) and by the
// bus (actors/outbox/bus_inbox).
#pragma once
#include "actors/base/errors.hpp"
#include "actors/protocol/messages.hpp"
#include "outbound/gateway.hpp"

#include <string_view>
#include <variant>

namespace fq {

struct webhook_fact {
  apply_fact wish;
  aggregate_id owner{};
};

/// `at`: when it arrived, for signatures that have a time. A reference that is none of ours is
/// `foreign_event`.
[[nodiscard]] std::variant<webhook_fact, webhook_error> fact_of_webhook(const gateway_port& gateway,
                                                                        std::string_view raw_body,
                                                                        std::string_view signature,
                                                                        timestamp at);

/// Whether the owner's answer says that the same webhook is to come once more: nothing was decided about it.
[[nodiscard]] inline bool is_undecided(const caf::error& error, const refusal& no) {
  return (error && !is(error, errc::absent)) || no.why == reason::unavailable;
}

} // namespace fq
