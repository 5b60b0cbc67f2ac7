// SPDX-License-Identifier: Apache-2.0
// Limits of what the handlers of all io threads share.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace fq::net {

/// Characters of an Idempotency-Key, which is stored with its answer: a UUID has 36.
inline constexpr std::size_t idempotency_key_max = 255;
/// Keyed requests at the same time; beyond it the answer is 503. Bounds the table.
inline constexpr std::size_t keys_in_flight_max = 32 * 1024;
/// Characters of an API key; a longer text is none and is not hashed. Ours have a tenant's name and 43.
inline constexpr std::size_t api_key_text_max = 256;
/// Jobs that wait for the blocking thread; beyond it the answer is 503.
inline constexpr std::size_t blocking_jobs_max = 4096;

/// Pages that wait for the thread that prints event tickets; beyond it the answer is 503. The last one waits
/// a third of a second to two seconds.
inline constexpr std::size_t printing_pages_max = 100;
/// Of a report, about: a table, a chart, a timeline.
inline constexpr std::size_t report_pages = 6;
/// Seconds until a client tries again that found all of them taken.
inline constexpr unsigned printing_retry_after = 2;

/// Pictures that wait for the thread that reads them, each with up to 2 MB; beyond it the answer is 503. The
/// last one waits some 4 s, behind hostile files half a minute.
inline constexpr std::size_t picture_jobs_max = 8;
/// Pictures that a manager may send: a season's worth of events. Each takes half a second of a core, a
/// hostile one up to 4 s.
inline constexpr std::uint32_t pictures_per_manager = 30;
inline constexpr seconds pictures_window{10 * 60}; ///< see pictures_per_manager
/// Stored pictures in memory: those of hundreds of events that sell now.
inline constexpr std::size_t pictures_kept_bytes = 32 * 1024 * 1024;
/// After it a picture is read anew, or is gone.
inline constexpr seconds pictures_kept_life{60 * 60};

/// Seat plans that are kept as files: JSON, CSV and SVG of the busiest events. The largest have some MB.
inline constexpr std::size_t shown_plans_max = 24;

/// Events with metric series of their own, the busiest; all others share "other". Bounds the series.
inline constexpr std::size_t shown_events_max = 20;
/// Currencies of the series "other"; further ones are left out, because sums over currencies mean nothing.
/// Needed because currency codes are not checked against a list, so there could be thousands.
inline constexpr std::size_t shown_currencies_max = 20;

/// Codes that a client address may ask for and not enter; each that is entered is returned. A crowd behind
/// one address that needs 40 s for each has 400 under way, at otp.requests_per_ip_per_minute. A stranger
/// sends 8,000 mails an hour at most. Mails to addresses with a browser mark do not count.
inline constexpr std::uint32_t otp_mails_per_client = 2'000;
inline constexpr seconds otp_mails_window{15 * 60};

/// Orders of guests for one address, of all networks: a person needs one or two, and each may send two mails
/// that the owner of the address did not ask for. The owner of the address buys with a code meanwhile.
inline constexpr std::uint32_t guest_orders_per_address = 5;
inline constexpr seconds guest_orders_window{15 * 60};

/// The same of all guests behind one address, as otp_mails_per_client: strangers cannot stop codes with it.
inline constexpr std::uint32_t guest_orders_per_client = otp_mails_per_client;
/// Requests of all guests behind one address, in times of what one customer may
/// (customer_requests_per_minute): a stadium of 20,000 that poll every 20 s.
inline constexpr std::uint32_t guests_as_customers = 10;
/// New places of guests behind one address come as new guests do (otp.requests_per_ip_per_minute), for so
/// many minutes at once: all may have waited for one opening.
inline constexpr std::uint32_t guest_joins_minutes = 10;

/// Ids of an address that are compared with a customer's: it has another one after each erasure.
inline constexpr std::uint32_t erasures_tried = 4;

/// Life of a browser mark: people buy tickets once or twice a year.
inline constexpr seconds browser_mark_life{365 * 86'400};
/// Characters of a browser mark; ours have 91.
inline constexpr std::size_t browser_mark_max = 128;

/// Wrong promo and access codes of a customer: a person mistypes a few times. 1,440 a day of 36^6 codes.
inline constexpr std::uint32_t wrong_codes_per_customer = 10;
/// The same of an address, of guests and of visitors without a name, who are new as often as they like: a
/// crowd mistypes. 28,800 a day.
inline constexpr std::uint32_t wrong_codes_per_client = 200;
/// The same at one event, of all customers with several: many accounts guess no faster than 60 of them.
inline constexpr std::uint32_t wrong_codes_per_event = 600;
inline constexpr seconds wrong_codes_window{10 * 60};

/// Offers of tickets by a customer: a group's worth, and some that were withdrawn. Each sends a stranger a
/// mail.
inline constexpr std::uint32_t offers_per_customer = 30;
/// The same of all customers behind one address: a stadium gives away some hundred, and accounts are free.
inline constexpr std::uint32_t offers_per_network = 1'000;
inline constexpr seconds offers_window{60 * 60};
/// The same to one customer, of all givers: each offer and its withdrawal fill one mailbox, as
/// guest_orders_per_address.
inline constexpr std::uint32_t offers_per_receiver = guest_orders_per_address;
inline constexpr seconds offers_receiver_window = guest_orders_window;

/// Pages of PDFs of a customer, a minute: each costs some 10 ms. The largest order twice.
inline constexpr std::uint32_t printed_pages_per_customer = 200;
/// Reports and statistics of a manager, a minute: each costs a reader of the ledger up to 100 ms. A console
/// asks once for each event that it shows.
inline constexpr std::uint32_t reports_per_manager = 120;
/// Searches of a device, a minute: each costs the event some milliseconds, and a person types slower.
inline constexpr std::uint32_t gate_searches_per_device = 60;

/// Events that are asked for the seats of a list of tickets, one after the other; further tickets are shown
/// without. A person has tickets with seats for a few events.
inline constexpr std::size_t events_asked_for_seats = 8;
inline constexpr milliseconds seats_patience{500}; ///< for all of them; no event is asked later

/// Parts of public logs that one address reads, a minute. A log of a million entries has some 8,000. They
/// take nothing from what the address may ask otherwise.
inline constexpr std::uint32_t log_reads_per_address = 12'000;

/// Checkpoints that one address brings to this witness, a minute: of ten logs that grow each second. Each
/// costs two checks of a signature and a read of the ledger.
inline constexpr std::uint32_t checkpoints_per_client = 600;

/// Requests of a customer for an export, a minute: each costs the ledger's reader some milliseconds.
inline constexpr std::uint32_t exports_per_customer = 10;
/// Erasures of customers of one network: a few thousand fill the list of them (actors/directory).
inline constexpr std::uint32_t erasures_per_network = 20;
inline constexpr seconds erasures_window{60 * 60};

/// A client can exceed its limit on several nodes for this long; a shorter interval costs round trips.
inline constexpr milliseconds limit_sharing_interval{250};
/// Retry-After while an event is stopped because the ledger lost commits of it, in seconds.
inline constexpr unsigned lost_retry_after = 5;

/// Retry-After while the provider of a captcha does not answer.
inline constexpr std::int64_t captcha_retry_seconds = 10;

/// As a route's body limit: http.webhook_body_limit, because gateways' messages are longer than our forms.
inline constexpr std::size_t webhook_body = std::numeric_limits<std::size_t>::max();

// -- public_log

/// Seconds until a join is in the public log.
inline constexpr unsigned receipt_retry_after = 2;

} // namespace fq::net
