// SPDX-License-Identifier: Apache-2.0
// What the HTTP channels answer when nobody answered them.
#pragma once
#include "outbound/channel.hpp"
#include "outbound/http_client.hpp"

#include <algorithm>

namespace fq {

/// Without an answer the other side may still have acted: it is told again, and knows the notice by its id.
[[nodiscard]] delivery_answer unanswered(const http_failure& failure);

/// When a try of several steps ends that begins now; steady.
[[nodiscard]] inline milliseconds end_of_try(environment& env) {
  return env.steady_now() + delivery_time_max;
}
/// What its next step may take: `most`, or less when less is left. Zero: none may begin, see out_of_time.
[[nodiscard]] inline milliseconds time_for_step(milliseconds end, environment& env, milliseconds most) {
  return std::clamp(end - env.steady_now(), milliseconds{0}, most);
}
[[nodiscard]] inline delivery_answer out_of_time() { return {.reason = "timeout"}; }

} // namespace fq
