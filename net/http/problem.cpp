// SPDX-License-Identifier: Apache-2.0
// The tables of problem.hpp. No switch has a default, so a new reason or fault does not compile without an
// entry here.
#include "net/http/problem.hpp"

#include "net/http/json_text.hpp"

#include <algorithm>

namespace fq::net {
namespace {

constexpr std::string_view problem_type = "application/problem+json";
constexpr std::int64_t retry_unavailable_seconds = 1;
constexpr std::int64_t retry_limited_seconds = 60; ///< if the refusal has none

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

/// Members that only some reasons have. The object's state is `current_status`, because `status` is the
/// HTTP status (RFC 9457).
void append_members(std::string& out, const refusal& no) {
  switch (no.why) {
    case reason::queue_not_open: return append_member(out, "opens_at", no.at);
    case reason::promo_code_expired:
      if (is_set(no.at)) append_member(out, "valid_from", no.at);
      return;
    case reason::not_on_sale:
      out += ",\"ticket_type_id\":";
      append_id(out, no.id);
      if (is_set(no.at)) append_member(out, "sale_from", no.at);
      return;
    case reason::promo_code_taken:
      out += ",\"promo_code_id\":";
      append_id(out, no.id);
      return;
    case reason::sale_not_started: return append_member(out, "sale_start", no.at);
    case reason::external_id_taken:
      if (no.id.is_nil()) return; // another request is creating it now
      out += ",\"queue_id\":";
      append_id(out, no.id);
      return;
    case reason::invalid_field: return append_field_detail(out, no.detail);
    case reason::already_claimed:
      out += ",\"claim_id\":";
      append_id(out, no.id);
      return;
    case reason::total_below_committed:
      out += ",\"held\":";
      append_number(out, no.first);
      out += ",\"sold\":";
      append_number(out, no.second);
      return;
    case reason::quota_exceeded:
      out += ",\"free\":";
      append_number(out, no.first);
      return;
    case reason::invalid_transition:
    case reason::claim_not_payable:
      if (!no.detail.empty()) {
        out += ",\"current_status\":";
        append_text(out, no.detail);
      }
      return;
    case reason::none:
    case reason::unavailable:
    case reason::idempotency_key_reused:
    case reason::idempotency_in_progress:
    case reason::invalid_credentials:
    case reason::invalid_otp:
    case reason::rate_limited:
    case reason::email_taken:
    case reason::forbidden:
    case reason::not_found:
    case reason::customer_blocked:
    case reason::not_in_queue:
    case reason::event_ended:
    case reason::queue_full:
    case reason::wrong_mode:
    case reason::not_admitted:
    case reason::promo_code_invalid:
    case reason::promo_code_exhausted:
    case reason::promo_code_limit:
    case reason::refund_open:
    case reason::nothing_to_refund:
    case reason::limit_exceeded:
    case reason::event_sold_out:
    case reason::none_free:
    case reason::claim_live:
    case reason::payment_open:
    case reason::attempts_exhausted:
    case reason::gateway_unavailable: return;
  }
}

} // namespace

unsigned status_of(fault f) {
  switch (f) {
    case fault::bad_request:
    case fault::missing_body:
    case fault::invalid_json:
    case fault::duplicate_field:
    case fault::unknown_field:
    case fault::invalid_field:
    case fault::unknown_parameter:
    case fault::invalid_parameter:
    case fault::invalid_cursor:
    case fault::invalid_idempotency_key: return 400;
    case fault::idempotency_in_progress: return 409;
    case fault::unauthenticated:
    case fault::invalid_signature: return 401;
    case fault::forbidden:
    case fault::subject_not_allowed:
    case fault::invalid_subject_token:
    case fault::wrong_queue:
    case fault::origin_not_allowed: return 403;
    case fault::session_over: return 410;
    case fault::not_found: return 404;
    case fault::method_not_allowed: return 405;
    case fault::request_timeout: return 408;
    case fault::body_too_large: return 413;
    case fault::header_too_large: return 431;
    case fault::expectation_failed: return 417;
    case fault::version_not_supported: return 505;
    case fault::unsupported_media_type: return 415;
    case fault::upgrade_required: return 426;
    case fault::sandbox_settled:
    case fault::secret_overlap:
    case fault::edit_conflict:
    case fault::test_pending: return 409;
    case fault::rate_limited: return 429;
    case fault::internal_error: return 500;
    case fault::not_implemented: return 501;
    case fault::unavailable:
    case fault::not_owner: return 503;
  }
  return 500;
}

std::string_view code_of(fault f) {
  switch (f) {
    case fault::bad_request: return "bad_request";
    case fault::missing_body: return "missing_body";
    case fault::invalid_json: return "invalid_json";
    case fault::duplicate_field: return "duplicate_field";
    case fault::unknown_field: return "unknown_field";
    case fault::invalid_field: return "invalid_field";
    case fault::unknown_parameter: return "unknown_parameter";
    case fault::invalid_parameter: return "invalid_parameter";
    case fault::invalid_cursor: return "invalid_cursor";
    case fault::invalid_idempotency_key: return "invalid_idempotency_key";
    case fault::idempotency_in_progress: return "idempotency_in_progress";
    case fault::unauthenticated: return "unauthenticated";
    case fault::invalid_signature: return "invalid_signature";
    case fault::forbidden: return "forbidden";
    case fault::subject_not_allowed: return "subject_not_allowed";
    case fault::invalid_subject_token: return "invalid_subject_token";
    case fault::wrong_queue: return "wrong_queue";
    case fault::session_over: return "session_over";
    case fault::origin_not_allowed: return "origin_not_allowed";
    case fault::not_found: return "not_found";
    case fault::method_not_allowed: return "method_not_allowed";
    case fault::request_timeout: return "request_timeout";
    case fault::body_too_large: return "body_too_large";
    case fault::header_too_large: return "header_too_large";
    case fault::expectation_failed: return "expectation_failed";
    case fault::version_not_supported: return "version_not_supported";
    case fault::unsupported_media_type: return "unsupported_media_type";
    case fault::upgrade_required: return "upgrade_required";
    case fault::sandbox_settled: return "sandbox_settled";
    case fault::secret_overlap: return "secret_overlap";
    case fault::edit_conflict: return "edit_conflict";
    case fault::test_pending: return "test_pending";
    case fault::rate_limited: return "rate_limited";
    case fault::internal_error: return "internal_error";
    case fault::not_implemented: return "not_implemented";
    case fault::unavailable: return "unavailable";
    case fault::not_owner: return "not_owner";
  }
  return "internal_error";
}

std::string_view title_of(fault f) {
  switch (f) {
    case fault::bad_request: return "The request cannot be understood.";
    case fault::missing_body: return "This request needs a JSON body.";
    case fault::invalid_json: return "The body is not valid JSON.";
    case fault::duplicate_field: return "The body names a field twice.";
    case fault::unknown_field: return "The body has a field that is not known here.";
    case fault::invalid_field: return "A field has a value that is not allowed.";
    case fault::unknown_parameter: return "The query has a parameter that is not known here.";
    case fault::invalid_parameter: return "A query parameter has a value that is not allowed.";
    case fault::invalid_cursor: return "The cursor is not one of ours.";
    case fault::invalid_idempotency_key:
      return "The Idempotency-Key must be 1 to 255 visible ASCII characters.";
    case fault::idempotency_in_progress:
      return "The first request with this Idempotency-Key is still running.";
    case fault::unauthenticated: return "A valid token is needed.";
    case fault::invalid_signature: return "The signature does not fit the body.";
    case fault::forbidden: return "This token may not do that.";
    case fault::subject_not_allowed: return "A publishable key may not say who joins; send a subject_token.";
    case fault::invalid_subject_token: return "The subject token is not valid.";
    case fault::wrong_queue: return "This session is of another queue.";
    case fault::session_over: return "This session is over.";
    case fault::origin_not_allowed: return "This origin may not connect.";
    case fault::not_found: return "There is nothing here.";
    case fault::method_not_allowed: return "This resource does not have that method.";
    case fault::request_timeout: return "The request took too long to arrive.";
    case fault::body_too_large: return "The body is too large.";
    case fault::header_too_large: return "The header is too large.";
    case fault::expectation_failed: return "The Expect field asks for something we do not do.";
    case fault::version_not_supported: return "Only HTTP/1.0 and HTTP/1.1 are spoken here.";
    case fault::unsupported_media_type: return "The body must have the content type this route takes.";
    case fault::upgrade_required: return "This route speaks WebSocket.";
    case fault::sandbox_settled: return "This payment has been settled otherwise.";
    case fault::secret_overlap:
      return "The secret before this one still signs: a receiver may know no other.";
    case fault::edit_conflict: return "Others are changing this at the same time. Please try again.";
    case fault::test_pending: return "A test of this endpoint is still on its way.";
    case fault::rate_limited: return "Too many requests.";
    case fault::internal_error: return "Something went wrong on our side.";
    case fault::not_implemented: return "That is not supported.";
    case fault::unavailable: return "The service cannot answer now. Please try again.";
    case fault::not_owner: return "Another node has this event. Please try again.";
  }
  return "";
}

unsigned status_of(reason r) {
  switch (r) {
    case reason::none: return 500; // a refusal without a reason is a defect
    case reason::unavailable: return 503;
    case reason::idempotency_key_reused: return 422;
    case reason::idempotency_in_progress: return 409;
    case reason::invalid_credentials:
    case reason::invalid_otp: return 401;
    case reason::rate_limited: return 429;
    case reason::email_taken: return 409;
    case reason::customer_blocked:
    case reason::forbidden: return 403;
    case reason::not_found:
    case reason::not_in_queue: return 404;
    case reason::invalid_field: return 400;
    case reason::invalid_transition:
    case reason::total_below_committed: return 409;
    case reason::event_ended: return 410;
    case reason::queue_not_open:
    case reason::queue_full:
    case reason::wrong_mode:
    case reason::external_id_taken:
    case reason::promo_code_taken:
    case reason::promo_code_invalid:
    case reason::promo_code_expired:
    case reason::promo_code_exhausted:
    case reason::promo_code_limit:
    case reason::not_on_sale:
    case reason::refund_open:
    case reason::nothing_to_refund:
    case reason::sale_not_started: return 409;
    case reason::not_admitted: return 403;
    case reason::already_claimed:
    case reason::quota_exceeded:
    case reason::limit_exceeded: return 409;
    case reason::event_sold_out: return 410;
    case reason::none_free:
    case reason::claim_live:
    case reason::payment_open:
    case reason::claim_not_payable:
    case reason::attempts_exhausted: return 409;
    case reason::gateway_unavailable: return 503;
  }
  return 500;
}

std::string_view title_of(reason r) {
  switch (r) {
    case reason::none: return "Something went wrong on our side.";
    case reason::unavailable: return "The service cannot answer now. Please try again.";
    case reason::idempotency_key_reused: return "This Idempotency-Key was used with another body.";
    case reason::idempotency_in_progress:
      return "The first request with this Idempotency-Key is still running.";
    case reason::invalid_credentials: return "The e-mail address or the password is wrong.";
    case reason::invalid_otp: return "The code is wrong or no longer valid.";
    case reason::rate_limited: return "Too many requests.";
    case reason::email_taken: return "This e-mail address is taken.";
    case reason::forbidden: return "This token may not do that.";
    case reason::not_found: return "There is nothing here.";
    case reason::customer_blocked: return "The organizer does not sell to you.";
    case reason::not_in_queue: return "You have no place in this queue.";
    case reason::invalid_field: return "A field has a value that is not allowed.";
    case reason::invalid_transition: return "That is not possible in the present state.";
    case reason::total_below_committed: return "More tickets are held or sold than the new total.";
    case reason::event_ended: return "The sale is over.";
    case reason::queue_not_open: return "The queue is not open yet.";
    case reason::queue_full: return "The queue is full. Please try again later.";
    case reason::wrong_mode: return "Only a queue in operator mode is advanced by hand.";
    case reason::external_id_taken: return "A queue has this external_id already.";
    case reason::sale_not_started: return "The sale has not started yet.";
    case reason::promo_code_taken: return "This event has that promo code already.";
    case reason::promo_code_invalid: return "This promo code is not valid here.";
    case reason::promo_code_expired: return "This promo code is not valid now.";
    case reason::promo_code_exhausted: return "This promo code has been used as often as it may be.";
    case reason::promo_code_limit: return "You have used this promo code as often as you may.";
    case reason::not_on_sale: return "A ticket type is not on sale now.";
    case reason::refund_open: return "Another refund of this order is under way.";
    case reason::nothing_to_refund: return "There is nothing to refund.";
    case reason::not_admitted: return "You have not been admitted, or your session is over.";
    case reason::already_claimed: return "You hold a claim already.";
    case reason::limit_exceeded: return "That is more than one order allows.";
    case reason::quota_exceeded: return "The quota has fewer free tickets than that.";
    case reason::event_sold_out: return "Sold out.";
    case reason::none_free: return "All remaining tickets are held by others at the moment.";
    case reason::claim_live: return "Release the claim first.";
    case reason::payment_open: return "A payment for this claim is open.";
    case reason::claim_not_payable: return "This claim cannot be paid any more.";
    case reason::attempts_exhausted: return "No further payment attempt is allowed for this claim.";
    case reason::gateway_unavailable: return "The payment gateway does not answer. Please try again.";
  }
  return "";
}

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
  append_members(out, no);
  end(out, request_id);
  const bool limited = no.why == reason::rate_limited;
  const auto otherwise = limited ? retry_limited_seconds : retry_unavailable_seconds;
  return answer(status_of(no.why), std::move(out), limited && no.first > 0 ? no.first : otherwise);
}

} // namespace fq::net
