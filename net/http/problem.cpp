// SPDX-License-Identifier: Apache-2.0
// The tables of problem.hpp: one row for each fault and reason. A missing row does not compile.
#include "net/http/problem.hpp"

#include "net/http/json_text.hpp"
#include "net/http/limits.hpp"

#include <algorithm>

namespace fq::net {
namespace {

constexpr std::string_view problem_type = "application/problem+json";

void begin(std::string& out, unsigned status, std::string_view code, std::string_view title,
           std::string_view detail) {
  out.reserve(256 + detail.size());
  out += R"({"type":"about:blank","title":)";
  append_text(out, title);
  out += ",\"status\":";
  append_unsigned(out, status);
  out += ",\"code\":\"";
  out += code;
  out += '"';
  if (!detail.empty()) {
    out += ",\"detail\":";
    append_text(out, detail);
  }
}

void end(std::string& out, std::string_view request_id) {
  out += ",\"request_id\":";
  append_text(out, request_id);
  out += '}';
}

void append_errors(std::string& out, const std::vector<field_error>& errors) {
  out += ",\"errors\":[";
  for (const auto& e : errors) {
    out += &e == errors.data() ? "{\"field\":" : ",{\"field\":";
    append_text(out, e.field);
    out += ",\"code\":\"";
    out += e.code;
    out += "\",\"detail\":";
    append_text(out, e.detail);
    out += '}';
  }
  out += ']';
}

response answer(unsigned status, std::string body, std::int64_t retry_after_seconds) {
  response r;
  r.status = status;
  r.content_type = problem_type;
  r.body = std::move(body);
  if (status == 401) r.fields.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 503 || status == 429)
    r.fields.emplace_back("Retry-After", std::to_string(std::max<std::int64_t>(1, retry_after_seconds)));
  return r;
}

void append_member(std::string& out, std::string_view name, timestamp when) {
  if (!is_set(when)) return;
  out += ",\"";
  out += name;
  out += "\":";
  append_time(out, when);
}

/// Appends "field: problem" as one entry of `errors`.
void append_field_detail(std::string& out, const std::string& detail) {
  const auto colon = detail.find(": ");
  const auto field = colon == std::string::npos ? std::string{} : detail.substr(0, colon);
  append_errors(out, {{field, "invalid", colon == std::string::npos ? detail : detail.substr(colon + 2)}});
}

// Members that only some reasons have. The object's state is `current_status`, because `status` is the
// HTTP status (RFC 9457).
void append_member(std::string& out, std::string_view name, const uuid& id) {
  out.append(",\"").append(name).append("\":");
  append_id(out, id);
}
void append_member(std::string& out, std::string_view name, std::int64_t number) {
  out.append(",\"").append(name).append("\":");
  append_number(out, number);
}
void opens_at(std::string& out, const refusal& no) { append_member(out, "opens_at", no.at); }
void valid_from(std::string& out, const refusal& no) { append_member(out, "valid_from", no.at); }
/// Without an id, no type is on sale.
void sale_from(std::string& out, const refusal& no) {
  if (!no.id.is_nil()) append_member(out, "ticket_type_id", no.id);
  append_member(out, "sale_from", no.at);
}
void promo_code_id(std::string& out, const refusal& no) { append_member(out, "promo_code_id", no.id); }
void sale_start(std::string& out, const refusal& no) { append_member(out, "sale_start", no.at); }
/// Without an id, another request is creating the queue now.
void queue_id(std::string& out, const refusal& no) {
  if (!no.id.is_nil()) append_member(out, "queue_id", no.id);
}
void field_detail(std::string& out, const refusal& no) { append_field_detail(out, no.detail); }
void transfer_of(std::string& out, const refusal& no) { append_member(out, "transfer_id", no.id); }
void claim_id(std::string& out, const refusal& no) { append_member(out, "claim_id", no.id); }
void held_and_sold(std::string& out, const refusal& no) {
  append_member(out, "held", no.first);
  append_member(out, "sold", no.second);
}
void free_units(std::string& out, const refusal& no) { append_member(out, "free", no.first); }
/// The detail has names, separated by spaces.
void seats(std::string& out, const refusal& no) {
  out += ",\"seats\":[";
  for (std::string_view left = no.detail; !left.empty();) {
    const auto end = std::min(left.find(' '), left.size());
    append_text(out, left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
    if (!left.empty()) out += ',';
  }
  out += ']';
}
void locks_max(std::string& out, const refusal& no) { append_member(out, "locks_per_session", no.first); }
void highest_number(std::string& out, const refusal& no) { append_member(out, "max", no.first); }
/// The detail is the path of a challenge.
void challenge_url(std::string& out, const refusal& no) {
  if (no.detail.empty()) return;
  out += ",\"challenge_url\":";
  append_text(out, no.detail);
}
void current_status(std::string& out, const refusal& no) {
  if (no.detail.empty()) return;
  out += ",\"current_status\":";
  append_text(out, no.detail);
}

struct fault_row {
  fault what;
  unsigned status;
  std::string_view code, title;
};

struct reason_row {
  reason what;
  unsigned status;
  std::string_view title;
  void (*append_members)(std::string& out, const refusal& no) = nullptr;
};

constexpr fault_row faults[] = {
  {fault::bad_request, 400, "bad_request", "The request cannot be understood."},
  {fault::missing_body, 400, "missing_body", "This request needs a JSON body."},
  {fault::invalid_json, 400, "invalid_json", "The body is not valid JSON."},
  {fault::duplicate_field, 400, "duplicate_field", "The body names a field twice."},
  {fault::unknown_field, 400, "unknown_field", "The body has a field that is not known here."},
  {fault::invalid_field, 400, "invalid_field", "A field has a value that is not allowed."},
  {fault::unknown_parameter, 400, "unknown_parameter", "The query has a parameter that is not known here."},
  {fault::invalid_parameter, 400, "invalid_parameter", "A query parameter has a value that is not allowed."},
  {fault::invalid_cursor, 400, "invalid_cursor", "The cursor is not one of ours."},
  {fault::invalid_idempotency_key, 400, "invalid_idempotency_key",
   "The Idempotency-Key must be 1 to 255 visible ASCII characters."},
  {fault::idempotency_in_progress, 409, "idempotency_in_progress",
   "The first request with this Idempotency-Key is still running."},
  {fault::unauthenticated, 401, "unauthenticated", "A valid token is needed."},
  {fault::invalid_signature, 401, "invalid_signature", "The signature does not fit the body."},
  {fault::forbidden, 403, "forbidden", "This token may not do that."},
  {fault::subject_not_allowed, 403, "subject_not_allowed",
   "A publishable key may not say who joins; send a subject_token."},
  {fault::invalid_subject_token, 403, "invalid_subject_token", "The subject token is not valid."},
  {fault::wrong_queue, 403, "wrong_queue", "This session is of another queue."},
  {fault::session_over, 410, "session_over", "This session is over."},
  {fault::origin_not_allowed, 403, "origin_not_allowed", "This origin may not connect."},
  {fault::not_found, 404, "not_found", "There is nothing here."},
  {fault::method_not_allowed, 405, "method_not_allowed", "This resource does not have that method."},
  {fault::request_timeout, 408, "request_timeout", "The request took too long to arrive."},
  {fault::body_too_large, 413, "body_too_large", "The body is too large."},
  {fault::header_too_large, 431, "header_too_large", "The header is too large."},
  {fault::expectation_failed, 417, "expectation_failed", "The Expect field asks for something we do not do."},
  {fault::version_not_supported, 505, "version_not_supported", "Only HTTP/1.0 and HTTP/1.1 are spoken here."},
  {fault::unsupported_media_type, 415, "unsupported_media_type",
   "The body must have the content type this route takes."},
  {fault::picture_unreadable, 422, "picture_unreadable", "This is no PNG, JPEG or WebP that can be read."},
  {fault::picture_too_large, 422, "picture_too_large", "The picture has too many pixels."},
  {fault::log_not_signed, 403, "log_not_signed", "The checkpoint is not signed by the log's key."},
  {fault::log_inconsistent, 422, "log_inconsistent",
   "The checkpoint does not continue the log that this witness has cosigned."},
  {fault::upgrade_required, 426, "upgrade_required", "This route speaks WebSocket."},
  {fault::sandbox_settled, 409, "sandbox_settled", "This payment has been settled otherwise."},
  {fault::secret_overlap, 409, "secret_overlap",
   "The secret before this one still signs: a receiver may know no other."},
  {fault::edit_conflict, 409, "edit_conflict",
   "Others are changing this at the same time. Please try again."},
  {fault::test_pending, 409, "test_pending", "A test of this endpoint is still on its way."},
  {fault::rate_limited, 429, "rate_limited", "Too many requests."},
  {fault::internal_error, 500, "internal_error", "Something went wrong on our side."},
  {fault::not_implemented, 501, "not_implemented", "That is not supported."},
  {fault::unavailable, 503, "unavailable", "The service cannot answer now. Please try again."},
  {fault::not_owner, 503, "not_owner", "Another node has this event. Please try again."},
  {fault::ledger_lost, 503, "ledger_lost",
   "This is stopped for a check of the records. Please try again later."},
};

constexpr reason_row reasons[] = {
  {reason::none, 500, "Something went wrong on our side."},
  {reason::unavailable, 503, "The service cannot answer now. Please try again."},
  {reason::idempotency_key_reused, 422, "This Idempotency-Key was used with another body."},
  {reason::idempotency_in_progress, 409, "The first request with this Idempotency-Key is still running."},
  {reason::invalid_credentials, 401, "The e-mail address or the password is wrong."},
  {reason::invalid_otp, 401, "The code is wrong or no longer valid."},
  {reason::rate_limited, 429, "Too many requests."},
  {reason::email_taken, 409, "This e-mail address is taken."},
  {reason::forbidden, 403, "This token may not do that."},
  {reason::not_found, 404, "There is nothing here."},
  {reason::customer_blocked, 403, "The organizer does not sell to you."},
  {reason::sign_in_required, 409, "Sign in to buy here."},
  {reason::not_in_queue, 404, "You have no place in this queue."},
  {reason::ticket_deleted, 410, "This place ended long ago and was deleted."},
  {reason::invalid_field, 400, "A field has a value that is not allowed.", field_detail},
  {reason::invalid_transition, 409, "That is not possible in the present state.", current_status},
  {reason::total_below_committed, 409, "More tickets are held or sold than the new total.", held_and_sold},
  {reason::event_ended, 410, "The sale is over."},
  {reason::queue_not_open, 409, "The queue is not open yet.", opens_at},
  {reason::lobby_fixed, 409,
   "The lobby is open: queue_opens_at, draw, beacon and party_max can no longer change."},
  {reason::lobby_not_open, 409, "Parties can be opened and joined only while a lobby with a draw is open."},
  {reason::lobby_not_closed, 409, "The lobby is not closed yet."},
  {reason::already_drawn, 409, "The draw has already been made."},
  {reason::party_unknown, 409, "No party has this code."},
  {reason::party_full, 409, "This party is full.", highest_number},
  {reason::queue_full, 409, "The queue is full. Please try again later."},
  {reason::wrong_mode, 409, "Only a queue in operator mode is advanced by hand."},
  {reason::external_id_taken, 409, "A queue has this external_id already.", queue_id},
  {reason::promo_code_taken, 409, "This event has that promo code already.", promo_code_id},
  {reason::sale_not_started, 409, "The sale has not started yet.", sale_start},
  {reason::already_claimed, 409, "You hold a claim already.", claim_id},
  {reason::not_admitted, 403, "You have not been admitted, or your session is over."},
  {reason::promo_code_invalid, 409, "This promo code is not valid here."},
  {reason::access_code_invalid, 422, "This access code is not valid here."},
  {reason::promo_code_expired, 409, "This promo code is not valid now.", valid_from},
  {reason::promo_code_exhausted, 409, "This promo code has been used as often as it may be."},
  {reason::promo_code_limit, 409, "You have used this promo code as often as you may."},
  {reason::not_on_sale, 409, "A ticket type is not on sale now.", sale_from},
  {reason::limit_exceeded, 409, "That is more than one order allows."},
  {reason::quota_exceeded, 409, "The quota has fewer free tickets than that.", free_units},
  {reason::no_gateway, 409, "This server has no payment gateway, so nothing with a price can be sold."},
  {reason::seat_taken, 409, "Somebody else has one of these seats.", seats},
  {reason::seat_accessible_only, 409, "These seats are kept for people who need an accessible seat.", seats},
  {reason::seat_accessible_unclear, 409,
   "It is not clear which tickets are for wheelchair places. Ask for one ticket type, or name the seats."},
  {reason::seat_single, 409, "The choice leaves a single seat free.", seats},
  {reason::no_best_seats, 409, "There are no such seats side by side."},
  {reason::event_sold_out, 410, "Sold out."},
  {reason::none_free, 409, "All remaining tickets are held by others at the moment."},
  {reason::lock_held, 409, "Another session has locked this name."},
  {reason::locks_exhausted, 409, "Your session has as many locks as it may have.", locks_max},
  {reason::claim_live, 409, "Release the claim first."},
  {reason::payment_open, 409, "A payment for this claim is open."},
  {reason::claim_not_payable, 409, "This claim cannot be paid any more.", current_status},
  {reason::attempts_exhausted, 409, "No further payment attempt is allowed for this claim."},
  {reason::refund_open, 409, "Another refund of this order is under way."},
  {reason::nothing_to_refund, 409, "There is nothing to refund."},
  {reason::gateway_unavailable, 503, "The payment gateway does not answer. Please try again."},
  {reason::transfers_off, 409, "Tickets of this event cannot be given to others."},
  {reason::transfer_limit, 409, "This ticket has had as many holders as it may have."},
  {reason::transfer_open, 409, "The ticket is already offered to somebody.", transfer_of},
  {reason::not_transferable, 409, "The ticket cannot be given to others any more.", current_status},
  {reason::device_unknown, 401, "This device may not scan, or not any more."},
  {reason::scan_id_reused, 409, "This nonce belongs to another scan."},
  {reason::too_many, 409, "The event has as many as it may have.", highest_number},
  {reason::picture_limit, 409, "There are as many pictures as you may have. Remove some from their events."},
  {reason::challenge_required, 403, "Solve a challenge first.", challenge_url},
};

/// Whether row i describes value i, up to the last one.
template <class Rows, class Value>
constexpr bool is_complete(const Rows& rows, Value last) {
  std::size_t i = 0;
  for (const auto& row : rows)
    if (static_cast<std::size_t>(row.what) != i++) return false;
  return i == static_cast<std::size_t>(last) + 1;
}
static_assert(is_complete(faults, last_fault) && is_complete(reasons, reason::challenge_required));

const fault_row& row_of(fault f) { return faults[static_cast<std::size_t>(f)]; }
const reason_row& row_of(reason r) { return reasons[static_cast<std::size_t>(r)]; }

} // namespace

unsigned status_of(fault f) { return row_of(f).status; }

std::string_view code_of(fault f) { return row_of(f).code; }

std::string_view title_of(fault f) { return row_of(f).title; }

unsigned status_of(reason r) { return row_of(r).status; }

std::string_view title_of(reason r) { return row_of(r).title; }

response problem(fault f, std::string_view request_id, std::string_view detail,
                 std::int64_t retry_after_seconds) {
  std::string out;
  begin(out, status_of(f), code_of(f), title_of(f), detail);
  end(out, request_id);
  return answer(status_of(f), std::move(out), retry_after_seconds);
}

response problem(fault f, std::string_view request_id, const std::vector<field_error>& errors) {
  std::string out;
  begin(out, status_of(f), code_of(f), title_of(f),
        errors.empty() ? std::string_view{} : errors.front().detail);
  append_errors(out, errors);
  end(out, request_id);
  return answer(status_of(f), std::move(out), 0);
}

response problem(const refusal& no, std::string_view request_id) {
  std::string out;
  const auto code = no.why == reason::none ? code_of(fault::internal_error) : code_of(no.why);
  begin(out, status_of(no.why), code, title_of(no.why), no.detail);
  if (const auto append = row_of(no.why).append_members) append(out, no);
  end(out, request_id);
  const bool limited = no.why == reason::rate_limited;
  const auto otherwise = limited ? retry_limited_seconds : retry_unavailable_seconds;
  const bool has_retry_after = (limited || no.why == reason::unavailable) && no.first > 0;
  return answer(status_of(no.why), std::move(out), has_retry_after ? no.first : otherwise);
}

} // namespace fq::net
