// SPDX-License-Identifier: Apache-2.0
// Writes orders, event tickets, quotes, promo codes and dead letters as JSON. Called by the routes and the
// hub; independent of HTTP.
#pragma once
#include "actors/protocol/catalog_messages.hpp"
#include "actors/protocol/organizer_messages.hpp"
#include "actors/protocol/subscriber_messages.hpp"
#include "crypto/event_ticket_code.hpp"
#include "domain/sale/views.hpp"
#include "store/port/ledger.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

/// Lower case: "pending", "awaiting_payment", …
[[nodiscard]] std::string wire_name(order_status status);

/// Recommended time in ms until the next poll of an order: 500 for a new one, growing by a fifth of its age
/// up to 2,000. A client that starts at once sees 500, 600, 720, … (factor 1.2).
[[nodiscard]] std::uint32_t poll_after(const order_row& order, timestamp now);

/// The next step, as text for people.
[[nodiscard]] std::string_view message_of(const order_view& order);

[[nodiscard]] std::string quote_text(const quote_view& quote);
/// The whole order, including the contact; for its organizer and its customer only, never in a list. The
/// organizer reads to whom its tickets went.
[[nodiscard]] std::string order_text(const order_view& order, bool is_for_organizer);
/// The answer to a poll. `payments_url`: for a new payment of the order.
[[nodiscard]] std::string order_status_text(const order_view& order, timestamp now,
                                            const std::string& payments_url);
/// The answer to a checkout in progress: {order_id, status: "processing", ...}.
[[nodiscard]] std::string accepted_text(const order_view& order, timestamp now,
                                        const std::string& status_url);
[[nodiscard]] std::string event_orders_text(const std::vector<order_view>& orders, bool more);
/// Results of a search so far. `behind`: the last order searched; nil: the search is complete.
[[nodiscard]] std::string found_orders_text(const std::vector<order_view>& orders, const uuid& behind);
[[nodiscard]] std::string own_orders_text(const std::vector<order_listing>& orders, bool more);
[[nodiscard]] std::string_view wire_name(dead_letter_status status);
/// An event ticket, for its holder and the organizer.
[[nodiscard]] std::string event_ticket_text(const event_ticket_view& ticket);
[[nodiscard]] std::string event_tickets_text(const event_tickets_reply& page);
[[nodiscard]] std::string held_tickets_text(const held_tickets_reply& page);
/// What the holder of an event ticket has besides: the code, or what rotating ones are made of. A secret.
[[nodiscard]] std::string event_ticket_text(const event_ticket_view& ticket, const event_ticket_keys& keys,
                                            bool is_rotating);
[[nodiscard]] std::string transfer_text(const transfer_row& transfer);
/// `viewer`: a giver sees the receiver's address, and the receiver the giver's.
[[nodiscard]] std::string transfers_text(const transfers_reply& page, const customer_id& viewer,
                                         timestamp now);
/// Parses "CHECKED_IN" and similar; nothing if unknown.
[[nodiscard]] std::optional<event_ticket_status> parse_event_ticket_status(std::string_view text);
/// An order with its contact, for the export of a customer.
[[nodiscard]] std::string exported_order_text(const order_listing& order);
[[nodiscard]] std::string promo_code_text(const promo_code_row& code,
                                          const std::vector<ticket_type_id>& types);
[[nodiscard]] std::string promo_codes_text(const promo_codes_reply& reply);
[[nodiscard]] std::string dead_letters_text(const std::vector<dead_letter_listing>& letters, bool more);
/// The WebSocket frame of an order's change.
[[nodiscard]] std::string order_frame(const order_change& change);

} // namespace fq::net
