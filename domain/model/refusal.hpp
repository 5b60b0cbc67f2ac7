// SPDX-License-Identifier: Apache-2.0
// The business "no" as a value. Listed by precedence: when several apply, a decision reports the first.
// net/http/problem.cpp maps each to a status and a text by an exhaustive switch, so a new reason forces a
// decision there.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/model/rows.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace fq {

enum class reason : std::uint8_t {
  none,
  unavailable, ///< stores or owner away: 503 with Retry-After; nothing was decided
  idempotency_key_reused,
  idempotency_in_progress,
  invalid_credentials,
  invalid_otp,
  rate_limited,
  email_taken,
  forbidden,
  not_found,
  customer_blocked, ///< its organizer does not serve this customer
  not_in_queue,
  invalid_field, ///< detail: "field: what is wrong"
  invalid_transition,
  total_below_committed, ///< first: held, second: sold
  event_ended,
  queue_not_open, ///< at: when it opens
  queue_full,
  wrong_mode, ///< the admission policy does not do that
  external_id_taken, ///< id: who has it
  promo_code_taken, ///< id: which has the word
  sale_not_started, ///< at: when it starts
  already_claimed, ///< id: the claim that stands
  not_admitted,
  promo_code_invalid, ///< no such code, or it is off
  promo_code_expired, ///< outside its window; at: when it begins, if it has not yet
  promo_code_exhausted,
  promo_code_limit, ///< this customer has used it as often as it may
  not_on_sale, ///< a ticket type outside its own window; at: when it begins, if it has not yet
  limit_exceeded, ///< more units than the ticket type allows in one order
  quota_exceeded, ///< first: tickets of the quota that nobody has and nobody is promised
  event_sold_out,
  none_free,
  claim_live,
  payment_open,
  claim_not_payable,
  attempts_exhausted,
  refund_open, ///< another refund of the payment is under way
  nothing_to_refund,
  gateway_unavailable,
};

struct refusal {
  reason why = reason::none;
  std::string detail; ///< for people; never personal data
  timestamp at; ///< see the reasons
  uuid id;
  std::int64_t first = 0;
  std::int64_t second = 0;

  refusal() = default;
  refusal(reason r) : why(r) {} // NOLINT: a reason is a refusal
  refusal(reason r, std::string text) : why(r), detail(std::move(text)) {}
  explicit operator bool() const { return why != reason::none; }
};

/// The stable `code` of a problem answer, lower_snake_case.
std::string_view code_of(reason r);

} // namespace fq
