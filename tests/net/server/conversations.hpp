// SPDX-License-Identifier: Apache-2.0
// Parts of a scripted event actor: joins the handlers of several conversations, and has those that no test of
// the transport or of a route looks at.
#pragma once
#include "actors/protocol/protocol.hpp"

#include <tuple>
#include <utility>

namespace fq::net::test {

/// One behavior of tuples of handlers.
template <class Behavior, class... Conversations>
Behavior behavior_of(Conversations... conversations) {
  return std::apply([](auto... handlers) { return Behavior{std::move(handlers)...}; },
                    std::tuple_cat(std::move(conversations)...));
}

/// Between the event, storage, gateways and other nodes, except for timers.
inline auto internal_messages() {
  return std::tuple{[](const report_undelivered&) { return ack_reply{}; },
                    [](const verify_mirror&) { return mirror_report{}; },
                    [](const verify_ledger&) { return ledger_report{}; },
                    [](const aggregate_peeked&) {},
                    [](const batch_settled&) {},
                    [](const aggregate_acquired&) {},
                    [](const hand_over&) {},
                    [](const blocks_changed&) {},
                    [](const lease_lost&) {},
                    [](const mirror_checked&) {},
                    [](const mirror_lost&) {},
                    [](const cache_is_back&) {},
                    [](const find_receipt&) { return receipt_reply{}; },
                    [](const enter_beacon&) { return event_reply{}; },
                    [](const end_draw_wait&) { return event_reply{}; },
                    [](const lobby_computed&) {},
                    [](const prove_growth&) { return growth_proof{}; },
                    [](const checkpoint_cosigned&) {},
                    [](const gateway_answered&) {}};
}

} // namespace fq::net::test
