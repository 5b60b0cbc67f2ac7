// SPDX-License-Identifier: Apache-2.0
// The facts of a decision that are published to the outside (I16). Pure; the owner assigns ids and writes
// them with the decision.
#pragma once
#include "domain/model/change.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace fq {

/// The catalog of topics, each with its `subject`; docs/events.md describes the payloads.
namespace topic {
inline constexpr std::string_view turn_granted = "queue.turn_granted"; ///< entry: admitted
inline constexpr std::string_view queue_expired =
  "queue.expired"; ///< entry: its place or its session expired
inline constexpr std::string_view claim_expired =
  "claim.expired"; ///< claim: not paid in time, its stock is free again
inline constexpr std::string_view order_completed =
  "order.completed"; ///< claim: paid, the tickets are the customer's
inline constexpr std::string_view order_placed = "order.placed"; ///< claim: its tickets are held
inline constexpr std::string_view order_failed = "order.failed"; ///< claim: nothing was bought
inline constexpr std::string_view order_cancelled = "order.cancelled"; ///< claim: cancelled by its customer
inline constexpr std::string_view payment_failed = "payment.failed"; ///< payment: declined or abandoned
inline constexpr std::string_view payment_refunded =
  "payment.refunded"; ///< payment: refunded in part or in full
inline constexpr std::string_view event_cancelled = "event.cancelled"; ///< event
inline constexpr std::string_view ticket_generated =
  "ticket.generated"; ///< claim: paid; event tickets with types and quantities
inline constexpr std::string_view ticket_cancelled =
  "ticket.cancelled"; ///< claim: refunded event tickets, whose stock is free again
inline constexpr std::string_view ticket_transferred =
  "ticket.transferred"; ///< claim: an event ticket of it has another holder, the customer
inline constexpr std::string_view ticket_checked_in =
  "ticket.checked_in"; ///< claim: a gate let the holder of an event ticket in
inline constexpr std::string_view loyalty_awarded =
  "loyalty.awarded"; ///< claim: points for the paid amount; off unless loyalty.points_per_unit is set
inline constexpr std::string_view user_updated =
  "user.updated"; ///< customer: created from an e-mail address, with another language, or erased; published
                  ///< by accounts
inline constexpr std::string_view quota_invitation =
  "quota.invitation"; ///< customer: invited to a quota, a hidden ticket type of the event
inline constexpr std::string_view blacklist_enforced =
  "blacklist.enforced"; ///< customer: blocked by the event's organizer; place, claims and orders at the event
                        ///< have ended
inline constexpr std::string_view mail_send =
  "mail.send"; ///< a mail to send; made by the owner, see actors/sale/mails
} // namespace topic

/// The topics that subscribers can receive: all but mail.
inline constexpr std::array told_topics{
  topic::turn_granted,       topic::queue_expired,    topic::claim_expired,    topic::order_placed,
  topic::order_completed,    topic::order_failed,     topic::order_cancelled,  topic::payment_failed,
  topic::payment_refunded,   topic::event_cancelled,  topic::ticket_generated, topic::ticket_cancelled,
  topic::user_updated,       topic::quota_invitation, topic::loyalty_awarded,  topic::blacklist_enforced,
  topic::ticket_transferred, topic::ticket_checked_in};

/// Tickets of one type.
struct ticket_count {
  std::uint32_t ticket_type = 0; ///< ordinal
  std::uint32_t quantity = 0;
  friend bool operator==(const ticket_count&, const ticket_count&) = default;
};

struct domain_event {
  std::string_view topic;
  uuid subject; ///< nil: the customer, or the event
  uuid customer; ///< nil: concerns every customer; ticket.cancelled: sale::related finds it
  uuid order; ///< of claims and payments; nil: claim made without an order
  money amount = 0; ///< of the claim or payment; payment.refunded: the refunded amount
  timestamp until; ///< queue.turn_granted: end of the session if claimed in time; quota.invitation: end of
                   ///< its validity; else never
  std::vector<ticket_count> items = {}; ///< of ticket.* topics and quota.invitation
  std::int64_t points = 0; ///< of loyalty.awarded
  std::string what =
    {}; ///< queue.expired: "place" or "session", whichever expired; order.failed: its failure
  timestamp claim_by = never; ///< queue.turn_granted: end of the turn unless it has claimed
  uuid claim = {}; ///< of payments; for other topics about a claim, it is the subject
  uuid entry = {}; ///< of claims and payments: the entry that claimed; nil: none
  std::vector<event_ticket_id> event_tickets = {}; ///< of ticket.* topics
  uuid giver = {}; ///< ticket.transferred: the holder before
  friend bool operator==(const domain_event&, const domain_event&) = default;
};

/// Outbox lanes of a topic. `has_bus`: an event bus is configured.
std::uint8_t lanes_of(std::string_view topic, bool has_bus);

/// Domain events in the order of the changes.
std::vector<domain_event> domain_events_of(const changes& content, aggregate_id aggregate);

/// Loyalty points for `told`: `points_per_unit` for each whole unit (not minor unit) of the currency that
/// was paid. Empty for topics other than order.completed, and without points to award. A refund takes no
/// points back; the receiver of the events decides that.
std::optional<domain_event> loyalty_of(const domain_event& told, std::string_view currency,
                                       std::int64_t points_per_unit);

} // namespace fq
