// SPDX-License-Identifier: Apache-2.0
// Answers of the HTTP channels for requests without a response, and the time limits of an attempt's steps.
#pragma once
#include "outbound/channel.hpp"
#include "outbound/http_client.hpp"

#include <algorithm>

namespace fq {

/// Without a response the service may still have acted. The notice is sent again; the receiver knows it by
/// id.
[[nodiscard]] delivery_answer unanswered(const http_failure& failure);

/// Steady time at which an attempt of several steps must end if it starts now.
[[nodiscard]] inline milliseconds end_of_try(environment& env) {
  return env.steady_now() + delivery_time_max;
}
/// Timeout of the next step: `most`, or less if less time is left. Zero: return out_of_time() instead.
[[nodiscard]] inline milliseconds time_for_step(milliseconds end, environment& env, milliseconds most) {
  return std::clamp(end - env.steady_now(), milliseconds{0}, most);
}
[[nodiscard]] inline delivery_answer out_of_time() { return {.reason = "timeout"}; }

} // namespace fq
