// SPDX-License-Identifier: Apache-2.0
// Limits of the configuration, and values without a reason to set them. options.hpp has a member for each
// that tests or other folders read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fq::config::limits {

using std::chrono::milliseconds;

/// Of one kind; far more than one machine needs.
constexpr std::int64_t threads_max = 64;

// -- files and texts

/// A password or key has at most a few hundred bytes; more is a wrong file.
constexpr std::size_t secret_file_bytes_max = 4096;
/// A file with every option and comment has 20 KiB.
constexpr std::size_t config_file_bytes_max = 1024 * 1024;
/// Fits a line of a terminal and any path.
constexpr std::size_t value_bytes_max = 1024;
/// Distance of a mistyped name from the suggested one; above it the suggestion would be arbitrary.
constexpr std::size_t typing_errors_max = 3;
/// For a tenant's texts and links, which appear on every page.
constexpr std::size_t brand_text_bytes_max = 300;
/// Small, because a logo may be embedded in the page.
constexpr std::size_t logo_bytes_max = 16'384;
/// As redis_bounds::sentinels_max.
constexpr std::size_t sentinels_max = 8;
/// Keeps the check of an endpoint's port cheap and the list readable.
constexpr std::size_t webhook_ports_max = 16;
/// Installations whose logs a server cosigns, and witnesses that it asks after each checkpoint.
constexpr std::size_t witness_logs_max = 100;
constexpr std::size_t witnesses_max = 8;
/// Sources of drand's rounds: a draw waits for all of them.
constexpr std::size_t beacon_sources_max = 4;
/// In minor units: ten million of any currency with hundredths.
constexpr std::int64_t fee_amount_max = 1'000'000'000;
constexpr std::int64_t basis_points_max = 10'000; ///< 100 %

// -- values of removed options

/// Paystack and Stripe send up to some 60 KiB.
constexpr std::int64_t webhook_body_bytes = 256 * 1024;
/// A second of joins at one owner. More would only wait longer.
constexpr std::int64_t in_flight_per_event = 16'384;
/// Four events' worth, with about 1 KiB each.
constexpr std::int64_t in_flight_per_node = 65'536;
/// Reads that need no owner: lists, searches and reports. Two, so that a long one does not stop the rest.
constexpr std::int64_t ledger_readers = 2;
/// The longest `ticket_ttl_seconds` of a queue.
constexpr milliseconds ticket_token_ttl{7 * 86'400'000};
/// For queues that do not give `ticket_ttl_seconds`.
constexpr milliseconds queue_ticket_ttl{30 * 60'000};
/// For one mail address within `otp_request_window`: a person mistypes or loses a code a few times.
constexpr std::int64_t otp_requests_per_address = 5;
constexpr milliseconds otp_request_window{15 * 60'000}; ///< longer than a code is valid
/// 100 per second, far above an honest program, low enough to stop a loop.
constexpr std::int64_t organizer_requests_per_minute = 6'000;
/// A page of the sandbox gateway makes several requests.
constexpr std::int64_t sandbox_requests_per_anonymous_request = 5;
/// About 10 MiB per limit; the longest unused is forgotten first.
constexpr std::int64_t tracked_principals = 100'000;
/// Until `PATCH /settings` says otherwise, every checkout is answered before its payment page is there.
constexpr std::int64_t async_percent = 100;
/// The services' only addresses. Tests redirect them with push.connect_to.
constexpr std::string_view fcm_url = "https://fcm.googleapis.com";
constexpr std::string_view apns_url = "https://api.push.apple.com";
constexpr std::string_view apns_sandbox_url = "https://api.sandbox.push.apple.com";

} // namespace fq::config::limits
