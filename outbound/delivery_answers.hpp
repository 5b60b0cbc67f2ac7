// SPDX-License-Identifier: Apache-2.0
// What the HTTP channels answer when nobody answered them.
#pragma once
#include "outbound/channel.hpp"
#include "outbound/http_client.hpp"

namespace fq {

/// Without an answer the other side may still have acted: it is told again, and knows the notice by its id.
[[nodiscard]] delivery_answer unanswered(const http_failure& failure);

} // namespace fq
