// SPDX-License-Identifier: Apache-2.0
#include "outbound/delivery_answers.hpp"

namespace fq {
namespace {

std::string word_of(const http_failure& failure) {
  switch (failure.kind) {
    case http_error::network: return failure.step.empty() ? "network" : "no_connection";
    case http_error::timeout: return "timeout";
    case http_error::too_large: return "answer_too_large";
    case http_error::overloaded: return "overloaded";
    case http_error::cancelled: return "cancelled";
    case http_error::malformed: return "malformed_request";
    case http_error::forbidden: return "forbidden_address";
  }
  return "network";
}

} // namespace

delivery_answer unanswered(const http_failure& failure) {
  // permanent: a retry would fail in the same way
  const bool is_malformed = failure.kind == http_error::malformed;
  return {.outcome = is_malformed ? delivery_outcome::refused : delivery_outcome::again,
          .reason = word_of(failure),
          .is_channel_down = !failure.step.empty(),
          .is_our_fault = is_malformed};
}

} // namespace fq
