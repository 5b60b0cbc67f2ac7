// SPDX-License-Identifier: Apache-2.0
// The limits of net/pages, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq::net {

// -- forms
/// Max fields of a form: the ticket choice of an event with the most ticket types fits, and as many answers
/// as an order may have.
inline constexpr std::size_t form_fields_max = 220;
/// Attendees whom the form asks: a page has some KB of each.
inline constexpr std::uint32_t attendees_asked_max = 20;
/// Bytes of a first or last name, as in the API.
inline constexpr std::size_t name_bytes_max = 100;
/// Bytes of a phone number, as in the API.
inline constexpr std::size_t phone_bytes_min = 3, phone_bytes_max = 40;
/// Bytes of a promo code, as in the API.
inline constexpr std::size_t promo_code_bytes_max = 100;
/// Longer than any code of a party.
inline constexpr std::size_t party_code_bytes_max = 40;
/// Tickets of one type in one order, as in the API.
inline constexpr std::uint32_t quantity_max = 100;
/// Characters of the name of a seat, as in the API.
inline constexpr std::size_t seat_name_chars_max = 26;
/// Characters of the key of a join: enough to be unpredictable.
inline constexpr std::size_t join_key_min = 16;
/// See join_key_min; ours have 32.
inline constexpr std::size_t join_key_max = 64;
/// Characters of a one-time code as typed; ours have 6.
inline constexpr std::size_t code_max = 32;
inline constexpr std::size_t handle_max = 64; ///< of a request for a code
/// Bytes of a captcha's response, as in the API.
inline constexpr std::size_t captcha_bytes_max = 4'096;
/// Characters of a payment reference in the sandbox's address.
inline constexpr std::size_t reference_max = 100;

// -- lists
/// Events on the shop's first page.
inline constexpr std::uint32_t events_shown_max = 50;
/// A customer's newest orders.
inline constexpr std::uint32_t orders_shown_max = 50;
/// A holder's newest event tickets, each with its code: about 6 KB of page.
inline constexpr std::uint32_t tickets_shown_max = 50;
/// Offers of tickets beside them.
inline constexpr std::uint32_t offers_shown_max = 100;
/// Words of a description in previews of a link and in calendars: more is cut there anyway.
inline constexpr std::size_t preview_bytes_max = 300;
/// Newest mails in the demo's mailbox: each is a file that is read.
inline constexpr std::size_t mails_shown_max = 50;

// -- times
/// Wait for the payment page. Most orders have theirs by then; otherwise a page that reloads is shown.
inline constexpr milliseconds page_wait{3'000};
/// The link in the mail to a guest opens its tickets for so long after the event, for refunds and disputes.
inline constexpr seconds order_link_life{30 * 86'400};
/// Life of the token in a device link. The other device keeps the entry permanently after opening it.
inline constexpr seconds device_link_life{600};
/// Life of the cookie with a request's handle: that of a code.
inline constexpr std::int64_t code_seconds = 10 * 60;
/// Life of the cookie with the chosen language: one year.
inline constexpr std::int64_t language_seconds = 365 * 86'400;

} // namespace fq::net
