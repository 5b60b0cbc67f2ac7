// SPDX-License-Identifier: Apache-2.0
// Every refusal as application/problem+json (RFC 9457): domain reasons and HTTP faults, each with one
// status, title and stable code. Called by routes, the connection and the router. Independent of routes.
#pragma once
#include "domain/model/refusal.hpp"
#include "net/http/http.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

/// Refusals of the HTTP layer. A table in problem.cpp gives status, code and title.
enum class fault : std::uint8_t {
  bad_request, ///< invalid framing, target or header
  missing_body,
  invalid_json,
  duplicate_field,
  unknown_field,
  invalid_field,
  unknown_parameter,
  invalid_parameter,
  invalid_cursor,
  invalid_idempotency_key,
  idempotency_in_progress,
  unauthenticated,
  invalid_signature,
  forbidden,
  subject_not_allowed, ///< a publishable key names a subject
  invalid_subject_token,
  wrong_queue, ///< the session belongs to another queue
  session_over, ///< a session token that was valid before
  origin_not_allowed,
  not_found,
  method_not_allowed, ///< the caller adds Allow
  request_timeout,
  body_too_large,
  header_too_large,
  expectation_failed,
  version_not_supported,
  unsupported_media_type,
  picture_unreadable,
  picture_too_large, ///< in pixels
  log_not_signed, ///< a checkpoint without a valid signature of its log's key
  log_inconsistent, ///< a checkpoint that does not follow the last one that was cosigned
  upgrade_required,
  sandbox_settled,
  secret_overlap, ///< the previous secret still signs
  edit_conflict, ///< repeated concurrent edits of the same object
  test_pending, ///< the endpoint's last test is still pending
  rate_limited,
  internal_error,
  not_implemented,
  unavailable,
  not_owner, ///< another node owns the event; a load balancer may retry there
  ledger_lost, ///< the ledger lost commits of the event; a person must decide
};

inline constexpr fault last_fault = fault::ledger_lost;

[[nodiscard]] unsigned status_of(fault f);
[[nodiscard]] std::string_view code_of(fault f);
[[nodiscard]] std::string_view title_of(fault f);
[[nodiscard]] unsigned status_of(reason r);
[[nodiscard]] std::string_view title_of(reason r);

/// One entry of `errors`: the field, a stable code, and a sentence for people.
struct field_error {
  std::string field; ///< "ticket_types[0].price"
  std::string_view
    code; ///< static: unknown_field, duplicate_field, wrong_type, out_of_range, required, invalid
  std::string detail;
};

/// Also writes `request_id` into the body. `retry_after_seconds` > 0 becomes Retry-After; 503 and 429
/// always have one.
[[nodiscard]] response problem(fault f, std::string_view request_id, std::string_view detail = {},
                               std::int64_t retry_after_seconds = 0);
[[nodiscard]] response problem(fault f, std::string_view request_id, const std::vector<field_error>& errors);
[[nodiscard]] response problem(const refusal& no, std::string_view request_id);

} // namespace fq::net
