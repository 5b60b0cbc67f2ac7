// SPDX-License-Identifier: Apache-2.0
// Writes JSON of lobbies: of an entry without a position, and what an event's lobby has made public.
#pragma once
#include "domain/sale/views.hpp"

#include <string>

namespace fq::net {

/// Members of an entry that has no position yet.
void append_lobby(std::string& out, const entry_view& entry);
/// A member of an event or a queue.
void append_lobby(std::string& out, const event_view& view);

} // namespace fq::net
