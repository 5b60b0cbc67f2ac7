// SPDX-License-Identifier: Apache-2.0
// Options of earlier releases, for the message at the start. CHANGELOG.md has the same list.
#include "config/table.hpp"

#include <array>

namespace fq::config {
namespace {

constexpr std::string_view system_store = "add the certificate to the system's (update-ca-certificates)";

constexpr auto removed = std::to_array<removed_option>({
  {"checkout.async_percent", "`PATCH /settings` sets it, for good"},
  {"checkout.rollback_queue_above", "the trigger is 500 orders"},
  {"checkout.rollback_queue_for", "it is 10 minutes"},
  {"checkout.rollback_success_below", "the trigger is 80 percent"},
  {"checkout.rollback_success_for", "it is 5 minutes"},
  {"cluster.in_flight_per_node", "it is 65,536"},
  {"gateway.ca_file", system_store},
  {"gateway.webhook_timeout", "it is 5 s"},
  {"http.in_flight_per_event", "it is 16,384"},
  {"http.webhook_body_limit", "it is 256 KiB"},
  {"ledger.readers", "there are two"},
  {"otp.guesses", "it is 5"},
  {"otp.request_window", "it is 15 minutes"},
  {"otp.requests_per_address", "it is 5"},
  {"otp.ttl", "it is 10 minutes"},
  {"payments.attempts_per_claim", "it is 3"},
  {"push.apns_sandbox_url", "push.connect_to redirects it"},
  {"push.apns_url", "push.connect_to redirects it"},
  {"push.fcm_url", "push.connect_to redirects it"},
  {"queue.ticket_ttl", "a queue has `ticket_ttl_seconds`, 30 minutes unless given"},
  {"rate_limits.organizer_requests_per_minute", "it is 6,000"},
  {"rate_limits.sandbox_requests_per_ip_per_minute",
   "it is five times rate_limits.anonymous_requests_per_ip_per_minute"},
  {"rate_limits.tracked_max", "it is 100,000"},
  {"tokens.customer_ttl", "use tokens.ttl"},
  {"tokens.organizer_ttl", "use tokens.ttl"},
  {"tokens.ticket_ttl", "it is 7 days"},
  {"tracing.ca_file", system_store},
  {"webhooks.ca_file", system_store},
  {"webhooks.concurrency", "it is 32"},
});

} // namespace

std::span<const removed_option> removed_options() { return removed; }

} // namespace fq::config
