// SPDX-License-Identifier: Apache-2.0
// Limits of API requests. A value outside of its range is an invalid field; sizes are in bytes.
#pragma once
#include "crypto/subject_token.hpp"
#include "domain/delivery/delivery.hpp"
#include "domain/delivery/notice_routing.hpp"
#include "domain/delivery/outbox.hpp"
#include "domain/line/admission.hpp"
#include "net/http/limits.hpp"
#include "net/wire/limits.hpp"

#include <cstddef>
#include <cstdint>

namespace fq::net {

// -- signing in

/// Hashing reads all of it; 1 KB is longer than any password.
inline constexpr range password_size{1, 1024};
/// Longer than any code, which has 6 digits: a wrong one is invalid_otp, not an invalid field.
inline constexpr range code_size{1, 32};
/// Bytes of a User-Agent in the list of sign-ins: enough for browser and system.
inline constexpr std::size_t user_agent_max = 200;
/// Characters of a request's handle. Ours have 32.
inline constexpr range handle_size{1, 64};

/// Bytes of a captcha's response: Turnstile's have at most 2,048.
inline constexpr range captcha_size{1, 4'096};

// -- events

inline constexpr range currency_size{3, 3}; ///< ISO 4217
/// Units of the short form's one ticket type, as of any type.
inline constexpr range total_range{1, 10'000'000};
/// Ticket types of an event: their discounts and refunds are bits of 64.
inline constexpr range types_count{1, 50};

// -- witness

/// 63 hashes in base64, and a checkpoint with signatures of others, some of which are post-quantum.
inline constexpr std::size_t witness_body_max = 16'384;
/// A request that lost against others of the same log is judged anew so often.
inline constexpr int cosign_tries_max = 3;

// -- lobbies

inline constexpr range beacon_value_size{1, 500}; ///< as what is announced of it
inline constexpr range party_code_size{0, 40}; ///< longer than any: a wrong one is party_unknown

// -- queues

/// Of a name that a session locks: an origin's id of a seat.
inline constexpr std::size_t lock_name_bytes_max = 64;

// -- event tickets

/// Open offers that a customer sees, the newest.
inline constexpr std::uint32_t transfers_shown_max = 100;

/// Of statistics: a chart shows a day.
inline constexpr milliseconds statistics_span_default{24 * 60 * 60 * 1000};

// -- claims and orders

/// Longer than any admission token: a wrong one is refused by the event.
inline constexpr range admission_token_size{1, 200};
/// Ticket types of one purchase: as many as an event may have.
inline constexpr range items_count{1, 50};
/// Units of one ticket type: the largest max_per_order.
inline constexpr range quantity_range{1, 100};
inline constexpr range seat_name_size{1, 26}; ///< of section, row and seat, with two hyphens
inline constexpr range section_size{1, 8}; ///< its code
inline constexpr range changed_seats_count{1, 1'000}; ///< of one change: about the default http.body_limit
/// A plan that a request stores: 50,000 seats as CSV.
inline constexpr std::size_t plan_body_max = 3 * 1024 * 1024;
/// Of a generated hall.
inline constexpr range hall_sections_count{1, 100}, hall_rows_range{1, 500}, hall_row_seats_range{1, 500};
inline constexpr range hall_aisles_range{0, 20}, hall_accessible_range{0, 100};
inline constexpr range hall_length_range{0, 100'000}; ///< centimetres
inline constexpr range hall_seat_range{20, 500}; ///< centimetres from a seat or row to the next
inline constexpr range plan_name_size{0, 100}, seat_label_size{0, 8}, plan_type_size{1, 100};
/// Of the threads that print: a plan of 50,000 seats takes as long as some pages of tickets.
inline constexpr std::size_t plan_pages = 5;
/// Seconds until a client tries again that found all threads busy.
inline constexpr unsigned plan_retry_after = 2;
/// Bytes of a picture as it is sent: what a phone's camera makes fits.
inline constexpr std::size_t picture_body_max = 2 * 1024 * 1024;
/// Characters of a plan's digest, with a quotation mark; a longer one is none of ours.
inline constexpr std::size_t plan_digest_max = 65;
inline constexpr range accessible_range{0, 100}; ///< of the seats of a claim
/// Event tickets that a refund names: more go in another refund.
inline constexpr range named_tickets_count{1, 200};
inline constexpr range person_name_size{1, 100}; ///< as gateways take them
inline constexpr range phone_size{3, 40}; ///< a number with blanks and an extension
/// Longer than any code; the event decides whether a code exists.
inline constexpr range promo_code_size{1, 100};
inline constexpr range url_size{1, 2048}; ///< what browsers and proxies take
inline constexpr range gateway_name_size{1, 32}; ///< longer than any gateway's name

// -- the order desk

/// Uses of a promo code; fits into the column, and no sale has so many orders.
inline constexpr range uses_range{1, 100'000'000};
inline constexpr range percent_hundredths_range{1, 10'000}; ///< 0.01 % to 100 %
inline constexpr range percent_range{0, 100}; ///< none to all
inline constexpr range kind_size{1, 16}; ///< longer than any kind's name
inline constexpr range search_size{1, 254}; ///< an e-mail address, the longest thing to search for
inline constexpr range status_size{1, 32}; ///< longer than any status' name
inline constexpr range limit_range{1, list_limit_max}; ///< as of lists
/// Orders read by one search: at most ten requests to their owner.
inline constexpr std::size_t searched_max = 2'000;

// -- check-in

inline constexpr range checkin_name_size{1, 100}; ///< of lists, gates and devices: a line on a phone
inline constexpr range gates_count{0, 50}; ///< of a list; also lists of a device
/// Longer than any code of a ticket: the event decides what it is.
inline constexpr range ticket_code_size{1, 400};
inline constexpr range scans_count{1, 100}; ///< of one request, which is one commit
inline constexpr range gate_search_size{2, 100}; ///< one letter finds nearly all
/// Body of 100 scans with 400 bytes for each.
inline constexpr std::size_t redeem_body_max = 64 * 1024;
/// Tickets of one answer about the state of a list: about 50 KB.
inline constexpr std::uint32_t gate_page_rows = 500;

// -- people

/// Addresses of one request, which is one commit.
inline constexpr range emails_count{1, 1'000};
/// Body of such a request: 1,000 addresses of 320 bytes in JSON, and a reason.
inline constexpr std::size_t emails_body_max = 384 * 1024;

// -- notices

/// As the ledger stores it.
inline constexpr range device_token_size{1, static_cast<std::int64_t>(device_token_bytes_max)};
/// Topics that a webhook endpoint names: each once.
inline constexpr range topic_count{0, static_cast<std::int64_t>(told_topics.size())};
/// Topics that a tenant routes: user.updated goes to endpoints only.
inline constexpr range routed_topics_count{0, static_cast<std::int64_t>(told_topics.size()) - 1};
inline constexpr range topic_size{1, 64}; ///< longer than any topic
inline constexpr range media_count{0, static_cast<std::int64_t>(all_media.size())}; ///< each once
/// Apps register at each start; a registration younger than this is not written again.
inline constexpr milliseconds fresh_for{60 * 60 * 1000};
/// Attempts of an edit that loses to concurrent edits; then edit_conflict.
inline constexpr int edit_tries = 8;

// -- personal data

/// Reads of one request for an export: each kind of row once, and two more.
inline constexpr int record_reads_max = 15;
/// Max reads of those kinds that have no index, 500 rows each: once each, and one more.
inline constexpr int record_scans_max = 6;

// -- waiting rooms

/// A tenant's own name of a queue: longer than a UUID, shorter than a page.
inline constexpr range external_id_size{1, 200};
/// Admissions of one request: one decision of the event.
inline constexpr range advance_range{1, static_cast<std::int64_t>(admissions_per_decision_max)};
inline constexpr range subject_size{1, static_cast<std::int64_t>(subject_name_max)}; ///< as the row stores it
/// A backend gets a new token with its API key, so a stolen one ends soon.
inline constexpr seconds operator_token_life{3'600};
/// As its verifier takes it.
inline constexpr range subject_token_size{1, static_cast<std::int64_t>(subject_token_bytes_max)};
/// Length of an Idempotency-Key that replaces a subject: visitors share a publishable key, so theirs must be
/// hard to guess.
inline constexpr std::size_t anonymous_key_min = 16;

/// Seconds for which an origin may cache an answer of GET /access: a revoked session lives on so long. With
/// still_max (net/bridge/limits.hpp) the 5 s of I15.
inline constexpr std::int64_t cache_seconds_max = 3;
/// Same for answers from the cache, which may be 3 s old (actors/storage/session_reader).
inline constexpr std::int64_t cache_seconds_max_elsewhere = 1;
/// For nginx, which counts whole seconds and so keeps an answer for up to 1 s longer.
inline constexpr std::int64_t nginx_seconds_max = 3;

} // namespace fq::net
