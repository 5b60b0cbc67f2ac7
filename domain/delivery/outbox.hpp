// SPDX-License-Identifier: Apache-2.0
// Which facts of a decision are told to the world outside (I16). Pure; the owner gives them ids and writes
// them with the decision.
#pragma once
#include "domain/model/change.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace fq {

/// The catalog of topics, with what `subject` is; what each one's payload holds is docs/events.md.
namespace topic {
inline constexpr std::string_view turn_granted = "queue.turn_granted"; ///< entry: admitted
inline constexpr std::string_view queue_expired =
  "queue.expired"; ///< entry: its place or its session ran out
inline constexpr std::string_view claim_expired =
  "claim.expired"; ///< claim: not paid in time, its stock is free again
inline constexpr std::string_view order_completed =
  "order.completed"; ///< claim: paid, the tickets are the customer's
inline constexpr std::string_view order_placed = "order.placed"; ///< claim: its tickets are held
inline constexpr std::string_view order_failed = "order.failed"; ///< claim: nothing was bought
inline constexpr std::string_view order_cancelled = "order.cancelled"; ///< claim: its customer gave it up
inline constexpr std::string_view payment_failed = "payment.failed"; ///< payment: declined or given up
inline constexpr std::string_view payment_refunded =
  "payment.refunded"; ///< payment: given back, in part or as a whole
inline constexpr std::string_view event_cancelled = "event.cancelled"; ///< event
inline constexpr std::string_view ticket_generated =
  "ticket.generated"; ///< claim: paid; which tickets, and how many
inline constexpr std::string_view ticket_cancelled =
  "ticket.cancelled"; ///< claim: these of its tickets are refunded, their stock is free again
inline constexpr std::string_view loyalty_awarded =
  "loyalty.awarded"; ///< claim: points for what was paid; off unless loyalty.points_per_unit is set
inline constexpr std::string_view user_updated =
  "user.updated"; ///< customer: made by an e-mail address; told by accounts
inline constexpr std::string_view quota_invitation =
  "quota.invitation"; ///< customer: invited to a quota, a hidden ticket type of the event
inline constexpr std::string_view blacklist_enforced =
  "blacklist.enforced"; ///< customer: blocked by the event's organizer, and what it had here is ended
inline constexpr std::string_view mail_send =
  "mail.send"; ///< a mail to be sent; made by the owner, see actors/sale/mails
} // namespace topic

/// What others may be told of: all but mail.
inline constexpr std::array told_topics{
  topic::turn_granted,     topic::queue_expired,    topic::claim_expired,    topic::order_placed,
  topic::order_completed,  topic::order_failed,     topic::order_cancelled,  topic::payment_failed,
  topic::payment_refunded, topic::event_cancelled,  topic::ticket_generated, topic::ticket_cancelled,
  topic::user_updated,     topic::quota_invitation, topic::loyalty_awarded,  topic::blacklist_enforced};

/// Tickets of one type.
struct ticket_count {
  std::uint32_t ticket_type = 0; ///< ordinal
  std::uint32_t quantity = 0;
  friend bool operator==(const ticket_count&, const ticket_count&) = default;
};

struct domain_event {
  std::string_view topic;
  uuid subject; ///< nil: the customer, or the event
  uuid customer; ///< nil if it concerns everybody
  uuid order; ///< of claims and payments: nil if the claim was made without an order
  money amount = 0; ///< of the claim or payment; what was given back for payment.refunded
  timestamp until; ///< queue.turn_granted: end of the session of who claims in time; quota.invitation: of its
                   ///< validity; else never
  std::vector<ticket_count> items = {}; ///< of ticket.* topics and quota.invitation
  std::int64_t points = 0; ///< of loyalty.awarded
  std::string_view what = {}; ///< queue.expired: "place" or "session", whichever ran out
  timestamp claim_by = never; ///< queue.turn_granted: the turn is over then unless it has claimed
  uuid claim = {}; ///< of payments; other topics about a claim have it as their subject
  uuid entry = {}; ///< of claims and payments: the place that it was claimed from; nil: from none
  friend bool operator==(const domain_event&, const domain_event&) = default;
};

/// Through which lanes of the outbox a topic goes. `has_bus`: there is an event bus.
std::uint8_t lanes_of(std::string_view topic, bool has_bus);

/// In the order of the changes.
std::vector<domain_event> domain_events_of(const changes& content, aggregate_id aggregate);

/// What `told` earns its customer: `points_per_unit` for each whole unit of the currency (not of its minor
/// one) that was paid. Null for other topics than order.completed, and where there is nothing to award.
/// Points are not taken back by a refund: that is told, and left to whoever keeps them.
std::optional<domain_event> loyalty_of(const domain_event& told, std::string_view currency,
                                       std::int64_t points_per_unit);

} // namespace fq
