// SPDX-License-Identifier: Apache-2.0
// Texts of states and reasons. Exhaustive switches and a checked table: a new enumerator does not compile
// without its text.
#include "domain/model/event_rows.hpp"
#include "domain/model/refusal.hpp"
#include "domain/model/states.hpp"

#include <cstddef>
#include <iterator>
#include <utility>

namespace fq {

std::string_view name_of(event_status s) {
  switch (s) {
    case event_status::draft: return "DRAFT";
    case event_status::active: return "ACTIVE";
    case event_status::paused: return "PAUSED";
    case event_status::ended: return "ENDED";
    case event_status::cancelled: return "CANCELLED";
  }
  return "";
}

std::string_view name_of(entry_status s) {
  switch (s) {
    case entry_status::waiting: return "WAITING";
    case entry_status::away: return "AWAY";
    case entry_status::admitted: return "ADMITTED";
    case entry_status::expired: return "EXPIRED";
    case entry_status::cancelled: return "CANCELLED";
    case entry_status::completed: return "COMPLETED";
    case entry_status::session_expired: return "SESSION_EXPIRED";
    case entry_status::revoked: return "REVOKED";
  }
  return "";
}

std::string_view name_of(claim_status s) {
  switch (s) {
    case claim_status::claimed: return "CLAIMED";
    case claim_status::expiring: return "EXPIRING";
    case claim_status::confirmed: return "CONFIRMED";
    case claim_status::released: return "RELEASED";
    case claim_status::refunded: return "REFUNDED";
  }
  return "";
}

std::string_view name_of(payment_status s) {
  switch (s) {
    case payment_status::initializing: return "INITIALIZING";
    case payment_status::pending: return "PENDING";
    case payment_status::confirmed: return "CONFIRMED";
    case payment_status::failed: return "FAILED";
    case payment_status::quarantined: return "QUARANTINED";
    case payment_status::confirmed_late: return "CONFIRMED_LATE";
    case payment_status::refund_pending: return "REFUND_PENDING";
    case payment_status::refunded: return "REFUNDED";
    case payment_status::partially_refunded: return "PARTIALLY_REFUNDED";
    case payment_status::refund_failed: return "REFUND_FAILED";
  }
  return "";
}

std::string_view name_of(refund_status s) {
  switch (s) {
    case refund_status::requested: return "REQUESTED";
    case refund_status::succeeded: return "SUCCEEDED";
    case refund_status::failed: return "FAILED";
  }
  return "";
}

std::string_view name_of(order_status s) {
  switch (s) {
    case order_status::pending: return "PENDING";
    case order_status::awaiting_payment: return "AWAITING_PAYMENT";
    case order_status::success: return "SUCCESS";
    case order_status::failed: return "FAILED";
    case order_status::cancelled: return "CANCELLED";
    case order_status::partially_refunded: return "PARTIALLY_REFUNDED";
    case order_status::refunded: return "REFUNDED";
  }
  return "";
}

std::string_view name_of(event_ticket_status s) {
  switch (s) {
    case event_ticket_status::issued: return "ISSUED";
    case event_ticket_status::checked_in: return "CHECKED_IN";
    case event_ticket_status::checked_out: return "CHECKED_OUT";
    case event_ticket_status::transferred: return "TRANSFERRED";
    case event_ticket_status::cancelled: return "CANCELLED";
  }
  return "";
}

std::string_view name_of(transfer_status s) {
  switch (s) {
    case transfer_status::offered: return "OFFERED";
    case transfer_status::accepted: return "ACCEPTED";
    case transfer_status::declined: return "DECLINED";
    case transfer_status::withdrawn: return "WITHDRAWN";
    case transfer_status::expired: return "EXPIRED";
  }
  return "";
}

std::string_view name_of(scan_objection o) {
  switch (o) {
    case scan_objection::none: return "";
    case scan_objection::unreadable: return "unreadable";
    case scan_objection::other_event: return "other_event";
    case scan_objection::unknown_ticket: return "unknown_ticket";
    case scan_objection::wrong_key: return "wrong_key";
    case scan_objection::expired_code: return "expired_code";
    case scan_objection::transferred: return "transferred";
    case scan_objection::cancelled: return "cancelled";
    case scan_objection::refund_pending: return "refund_pending";
    case scan_objection::wrong_list: return "wrong_list";
    case scan_objection::no_exit: return "no_exit";
    case scan_objection::already_in: return "already_in";
    case scan_objection::not_in: return "not_in";
  }
  return "";
}

std::string_view name_of(scan_type t) {
  switch (t) {
    case scan_type::entry: return "entry";
    case scan_type::exit: return "exit";
  }
  return "";
}

std::string_view name_of(checkin_mode m) {
  switch (m) {
    case checkin_mode::entry: return "entry";
    case checkin_mode::entry_and_exit: return "entry_and_exit";
  }
  return "";
}

std::string_view name_of(admission_policy policy) {
  switch (policy) {
    case admission_policy::batch: return "batch";
    case admission_policy::capacity: return "capacity";
    case admission_policy::rate: return "rate";
    case admission_policy::open: return "open";
    case admission_policy::operated: return "operator";
  }
  return "";
}

/// In the order of `reason`.
constexpr std::pair<reason, std::string_view> codes[] = {
  {reason::none, "none"},
  {reason::unavailable, "unavailable"},
  {reason::idempotency_key_reused, "idempotency_key_reused"},
  {reason::idempotency_in_progress, "idempotency_in_progress"},
  {reason::invalid_credentials, "invalid_credentials"},
  {reason::invalid_otp, "invalid_otp"},
  {reason::rate_limited, "rate_limited"},
  {reason::email_taken, "email_taken"},
  {reason::forbidden, "forbidden"},
  {reason::not_found, "not_found"},
  {reason::customer_blocked, "customer_blocked"},
  {reason::sign_in_required, "sign_in_required"},
  {reason::not_in_queue, "not_in_queue"},
  {reason::ticket_deleted, "ticket_deleted"},
  {reason::invalid_field, "invalid_field"},
  {reason::invalid_transition, "invalid_transition"},
  {reason::total_below_committed, "total_below_committed"},
  {reason::event_ended, "event_ended"},
  {reason::queue_not_open, "queue_not_open"},
  {reason::lobby_fixed, "lobby_fixed"},
  {reason::lobby_not_open, "lobby_not_open"},
  {reason::lobby_not_closed, "lobby_not_closed"},
  {reason::already_drawn, "already_drawn"},
  {reason::party_unknown, "party_unknown"},
  {reason::party_full, "party_full"},
  {reason::queue_full, "queue_full"},
  {reason::wrong_mode, "wrong_mode"},
  {reason::external_id_taken, "external_id_taken"},
  {reason::promo_code_taken, "promo_code_taken"},
  {reason::sale_not_started, "sale_not_started"},
  {reason::already_claimed, "already_claimed"},
  {reason::not_admitted, "not_admitted"},
  {reason::promo_code_invalid, "promo_code_invalid"},
  {reason::access_code_invalid, "access_code_invalid"},
  {reason::promo_code_expired, "promo_code_expired"},
  {reason::promo_code_exhausted, "promo_code_exhausted"},
  {reason::promo_code_limit, "promo_code_limit"},
  {reason::not_on_sale, "not_on_sale"},
  {reason::limit_exceeded, "limit_exceeded"},
  {reason::quota_exceeded, "quota_exceeded"},
  {reason::no_gateway, "no_gateway"},
  {reason::seat_taken, "seat_taken"},
  {reason::seat_accessible_only, "seat_accessible_only"},
  {reason::seat_accessible_unclear, "seat_accessible_unclear"},
  {reason::seat_single, "seat_single"},
  {reason::no_best_seats, "no_best_seats"},
  {reason::event_sold_out, "event_sold_out"},
  {reason::none_free, "none_free"},
  {reason::lock_held, "lock_held"},
  {reason::locks_exhausted, "locks_exhausted"},
  {reason::claim_live, "claim_live"},
  {reason::payment_open, "payment_open"},
  {reason::claim_not_payable, "claim_not_payable"},
  {reason::attempts_exhausted, "attempts_exhausted"},
  {reason::refund_open, "refund_open"},
  {reason::nothing_to_refund, "nothing_to_refund"},
  {reason::gateway_unavailable, "gateway_unavailable"},
  {reason::transfers_off, "transfers_off"},
  {reason::transfer_limit, "transfer_limit"},
  {reason::transfer_open, "transfer_open"},
  {reason::not_transferable, "not_transferable"},
  {reason::device_unknown, "device_unknown"},
  {reason::scan_id_reused, "scan_id_reused"},
  {reason::too_many, "too_many"},
  {reason::picture_limit, "picture_limit"},
  {reason::challenge_required, "challenge_required"},
};

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < std::size(codes); ++i)
    if (codes[i].first != static_cast<reason>(i)) return false;
  return true;
}
static_assert(are_in_order() && std::size(codes) == static_cast<std::size_t>(reason::challenge_required) + 1);

std::string_view code_of(reason r) {
  const auto i = static_cast<std::size_t>(r); // other nodes may know more reasons
  return i < std::size(codes) ? codes[i].second : std::string_view{};
}

} // namespace fq
