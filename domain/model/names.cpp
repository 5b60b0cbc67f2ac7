// SPDX-License-Identifier: Apache-2.0
// Texts of states and reasons. Exhaustive switches: a new enumerator does not compile without its text.
#include "domain/model/refusal.hpp"
#include "domain/model/states.hpp"

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

std::string_view code_of(reason r) {
  switch (r) {
    case reason::none: return "none";
    case reason::unavailable: return "unavailable";
    case reason::idempotency_key_reused: return "idempotency_key_reused";
    case reason::idempotency_in_progress: return "idempotency_in_progress";
    case reason::invalid_credentials: return "invalid_credentials";
    case reason::invalid_otp: return "invalid_otp";
    case reason::rate_limited: return "rate_limited";
    case reason::email_taken: return "email_taken";
    case reason::forbidden: return "forbidden";
    case reason::not_found: return "not_found";
    case reason::not_in_queue: return "not_in_queue";
    case reason::ticket_deleted: return "ticket_deleted";
    case reason::customer_blocked: return "customer_blocked";
    case reason::invalid_field: return "invalid_field";
    case reason::invalid_transition: return "invalid_transition";
    case reason::total_below_committed: return "total_below_committed";
    case reason::event_ended: return "event_ended";
    case reason::queue_not_open: return "queue_not_open";
    case reason::queue_full: return "queue_full";
    case reason::wrong_mode: return "wrong_mode";
    case reason::external_id_taken: return "external_id_taken";
    case reason::promo_code_taken: return "promo_code_taken";
    case reason::sale_not_started: return "sale_not_started";
    case reason::not_admitted: return "not_admitted";
    case reason::promo_code_invalid: return "promo_code_invalid";
    case reason::access_code_invalid: return "access_code_invalid";
    case reason::promo_code_expired: return "promo_code_expired";
    case reason::promo_code_exhausted: return "promo_code_exhausted";
    case reason::promo_code_limit: return "promo_code_limit";
    case reason::not_on_sale: return "not_on_sale";
    case reason::already_claimed: return "already_claimed";
    case reason::limit_exceeded: return "limit_exceeded";
    case reason::quota_exceeded: return "quota_exceeded";
    case reason::no_gateway: return "no_gateway";
    case reason::event_sold_out: return "event_sold_out";
    case reason::seat_taken: return "seat_taken";
    case reason::seat_accessible_only: return "seat_accessible_only";
    case reason::seat_single: return "seat_single";
    case reason::no_best_seats: return "no_best_seats";
    case reason::none_free: return "none_free";
    case reason::lock_held: return "lock_held";
    case reason::locks_exhausted: return "locks_exhausted";
    case reason::claim_live: return "claim_live";
    case reason::payment_open: return "payment_open";
    case reason::claim_not_payable: return "claim_not_payable";
    case reason::attempts_exhausted: return "attempts_exhausted";
    case reason::refund_open: return "refund_open";
    case reason::nothing_to_refund: return "nothing_to_refund";
    case reason::gateway_unavailable: return "gateway_unavailable";
    case reason::transfers_off: return "transfers_off";
    case reason::transfer_limit: return "transfer_limit";
    case reason::transfer_open: return "transfer_open";
    case reason::not_transferable: return "not_transferable";
    case reason::device_unknown: return "device_unknown";
    case reason::scan_id_reused: return "scan_id_reused";
    case reason::too_many: return "too_many";
  }
  return "";
}

} // namespace fq
