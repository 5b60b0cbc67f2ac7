// SPDX-License-Identifier: Apache-2.0
// Limits and pauses of the calls to other people's services.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- HTTP client

/// Safety limit: a poll normally ends at a wakeup or at one of libcurl's timers.
constexpr std::int64_t poll_ms_max = 1'000;
/// Lets libcurl's own timeout act first.
constexpr milliseconds overdue_after{1'000};
/// For servers that refuse more streams on one connection, and for connections that close.
constexpr long connections_per_host_max = 8;
/// Added to the creating thread's nice value for background threads; see nice(1).
constexpr int background_niceness = 10, niceness_max = 19;
/// Of Retry-After: one day. A longer wish is an error of the service.
constexpr std::int64_t retry_after_seconds_max = 24 * 60 * 60;

// -- gateways

/// Upper bound for Retry-After: a pause of an hour would stop a sale.
constexpr milliseconds gateway_pause_max{60'000};
/// An error code of a gateway goes into the log and to the organizer.
constexpr std::size_t gateway_code_chars_max = 64;
/// Stripe's limit of a session.
constexpr std::size_t stripe_lines_max = 100;
/// 2,000 refunds of one transaction: then Paystack ignores the filter.
constexpr int paystack_page_size = 100, paystack_pages_max = 20;
/// FairQueue's references have 36.
constexpr std::size_t sandbox_reference_bytes_max = 200;

// -- mail

constexpr std::size_t mail_id_bytes_max = 200; ///< FairQueue's ids have at most 80
/// RFC 5321: 64 before the @, 255 after it.
constexpr std::size_t mail_address_bytes_max = 320, mail_local_part_bytes_max = 64;
/// Of a template's variable: the items of the longest order.
constexpr std::size_t mail_variable_bytes_max = 4096;
/// Of the name beside a tenant's From address.
constexpr std::size_t mail_name_bytes_max = 100;
/// An SMTP reply goes into the log.
constexpr std::size_t smtp_reply_bytes_max = 200;
/// Max remembered ids. Repeats arrive within minutes, and the folder may hold years of mail.
constexpr std::size_t remembered_mail_ids_max = 100'000;
/// Leaves room for the time in a file name of 255 bytes.
constexpr std::size_t file_name_id_bytes_max = 100;
/// The demo shows FairQueue's mails, which have a few KB.
constexpr std::size_t shown_mail_bytes_max = 256 * 1024;
/// Of its text and of one header field.
constexpr std::size_t shown_text_bytes_max = 16 * 1024, shown_header_bytes_max = 1024;
/// Of a message; longer ones are an error of the caller. The body is text and html together.
constexpr std::size_t mail_subject_bytes_max = 320, mail_body_bytes_max = 1024 * 1024;
/// Bytes of a mail's attachments: in base64 they fit into a message of NATS, 1 MiB by default, with the
/// words. The largest files beyond it are left out, and the mail names the page that has them.
constexpr std::size_t mail_attachments_bytes_max = 600 * 1024;
/// Of the recipients in one NATS message. The body comes on top; a server accepts 1 MiB by default.
constexpr std::size_t mail_chunk_recipients_max = 1000, mail_chunk_bytes_max = 256 * 1024;
/// Of one value in a template: a mail stays readable whatever an organizer types.
constexpr std::size_t template_text_characters_max = 300;
/// After truncation; well below a mail server's limit.
constexpr std::size_t template_subject_bytes_max = 240;

// -- webhooks and push

/// Upper bound of one attempt with all its steps. A courier's rows have a visibility timeout of 60 s, and an
/// attempt starts in its first half. A longer attempt could be repeated while it still runs.
constexpr milliseconds delivery_time_max{25'000};
constexpr std::size_t webhook_url_bytes_max = 2048; ///< what proxies and logs accept
constexpr std::size_t collapse_key_bytes_max = 64; ///< APNs' limit
constexpr std::size_t push_bytes_max = 4096; ///< payload limit of both services
constexpr seconds push_ttl_max{28 * 24 * 60 * 60}; ///< FCM's limit; APNs stores for 30 days
/// A connection with a longer answer is not worth keeping.
constexpr std::size_t webhook_answer_bytes_max = 64 * 1024;
/// RFC 1035.
constexpr std::size_t host_name_chars_max = 253, host_label_chars_max = 63;
/// FairQueue's payloads have six ids of 36 bytes. These bounds keep `data` below 1.5 KB for any payload.
constexpr std::size_t push_ids_max = 10, push_name_bytes_max = 32, push_value_bytes_max = 64;
/// Minimum time between new connections: Apple treats many of them as an attack.
constexpr milliseconds apns_connection_pause{1'000};
constexpr seconds google_assertion_life{3600}; ///< Google's maximum
constexpr seconds google_token_renewed_before{300}; ///< its end, so that clocks may differ
constexpr milliseconds google_refusal_pause{60'000}; ///< a refused account stays refused

// -- tracing

/// At which the exporter looks for its end: delays the end of the server.
constexpr milliseconds exporter_end_poll{50};

// -- witness_sender
/// For one request to a witness, which reads and writes one row.
inline constexpr milliseconds witness_timeout{10'000};
/// Of an answer: a few signature lines, also post-quantum ones.
inline constexpr std::size_t witness_answer_bytes_max = 64 * 1024;

} // namespace fq
