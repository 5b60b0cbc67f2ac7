// SPDX-License-Identifier: Apache-2.0
// A business refusal as a value. Reasons are ordered by precedence: if several apply, a decision reports the
// first. net/http/problem.cpp maps each to a status and a text with an exhaustive switch.
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
  unavailable, ///< stores or owner unavailable: 503 with Retry-After; nothing was decided
  idempotency_key_reused,
  idempotency_in_progress,
  invalid_credentials,
  invalid_otp,
  rate_limited,
  email_taken,
  forbidden,
  not_found,
  customer_blocked, ///< blocked by the event's organizer or tenant
  sign_in_required, ///< not for guests; the address may be blocked or have bought its limit
  not_in_queue,
  ticket_deleted, ///< its place ended long ago
  invalid_field, ///< detail: "field: what is wrong"
  invalid_transition,
  total_below_committed, ///< first: held units, second: sold units
  event_ended,
  queue_not_open, ///< at: opening time
  lobby_fixed, ///< what the lobby has promised cannot change once it is open
  lobby_not_open, ///< a party is opened or joined in the lobby only
  lobby_not_closed, ///< the entrants can still change
  already_drawn,
  party_unknown, ///< no party has this code
  party_full, ///< first: its most members
  queue_full,
  wrong_mode, ///< the admission policy does not support the operation
  external_id_taken, ///< id: its current holder
  promo_code_taken, ///< id: the promo code with the same word
  sale_not_started, ///< at: start of the sale
  already_claimed, ///< id: the existing claim
  not_admitted,
  promo_code_invalid, ///< no such code, or not active
  access_code_invalid, ///< the same when joining, or the code opens no hidden ticket type
  promo_code_expired, ///< outside its validity; at: its start if that is in the future
  promo_code_exhausted,
  promo_code_limit, ///< this customer has no uses left
  not_on_sale, ///< outside the ticket type's own window; at: its start if that is in the future
  limit_exceeded, ///< more units than the ticket type allows in one order
  quota_exceeded, ///< first: tickets of the quota that are neither taken nor promised
  no_gateway, ///< the order costs money and the server has no payment gateway
  seat_taken, ///< detail: the names of the seats, with a blank between them
  seat_accessible_only, ///< as before: kept for people who ask for an accessible seat
  seat_accessible_unclear, ///< best seats of several types: whose are the accessible ones?
  seat_single, ///< names, as for seat_taken: they would stay free alone
  no_best_seats, ///< enough are free, but not side by side under the organizer's rules
  event_sold_out,
  none_free,
  lock_held, ///< another session has locked the name
  locks_exhausted, ///< the session has as many locks as its queue allows; first: that number
  claim_live,
  payment_open,
  claim_not_payable,
  attempts_exhausted,
  refund_open, ///< another refund of the payment is in progress
  nothing_to_refund,
  gateway_unavailable,
  transfers_off, ///< the organizer permits none
  transfer_limit, ///< the ticket has had as many holders as it may have
  transfer_open, ///< id: the ticket's open offer
  not_transferable, ///< detail: the ticket's state, or REFUND_PENDING
  device_unknown, ///< no such scanner, a wrong secret, or revoked
  scan_id_reused, ///< the id belongs to a scan of another ticket or direction
  too_many, ///< the event or the tenant has as many as it may; first: how many
  picture_limit, ///< the organizer or the tenant has as many pictures as it may
  challenge_required, ///< none was solved, or it was used, has ended or is too easy by now; id: its event,
                      ///< nil: of a code; first: 1 for a queue
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
