// SPDX-License-Identifier: Apache-2.0
// What a mailer asks for on its own thread, which may block.
#pragma once
#include "actors/outbox/mail_consumer.hpp"
#include "actors/protocol/accounts_messages.hpp"
#include "actors/protocol/notice_messages.hpp"

#include <optional>
#include <string>

namespace fq {

/// None: accounts do not answer. An empty address: the customer was erased, or never signed in.
[[nodiscard]] std::optional<mailbox> mailbox_of(caf::actor_system& system, const accounts_handle& accounts,
                                                const customer_id& customer);
/// Empty if the ledger has no such picture, or is away.
[[nodiscard]] std::string picture_of(caf::actor_system& system, const notices_handle& reader,
                                     const std::string& id, picture_size size);

} // namespace fq
