// SPDX-License-Identifier: Apache-2.0
// Which facts of a decision are told to the world outside (I16). Pure; the owner gives them ids and writes them with the decision.
#pragma once
#include "domain/change.hpp"

#include <string_view>
#include <vector>

namespace fq {

/// The catalog of topics, with what `subject` is.
namespace topic {
inline constexpr std::string_view turn_granted = "queue.turn_granted"; ///< entry: admitted
inline constexpr std::string_view queue_expired = "queue.expired"; ///< entry: its place or its session ran out
inline constexpr std::string_view claim_expired = "claim.expired"; ///< claim: not paid in time, its stock is free again
inline constexpr std::string_view order_completed = "order.completed"; ///< claim: paid, the tickets are the customer's
inline constexpr std::string_view order_placed = "order.placed"; ///< claim: its tickets are held
inline constexpr std::string_view order_failed = "order.failed"; ///< claim: nothing was bought
inline constexpr std::string_view order_cancelled = "order.cancelled"; ///< claim: its customer gave it up
inline constexpr std::string_view payment_failed = "payment.failed"; ///< payment: declined or given up
inline constexpr std::string_view payment_refunded = "payment.refunded"; ///< payment: given back, in part or as a whole
inline constexpr std::string_view event_cancelled = "event.cancelled"; ///< event
inline constexpr std::string_view mail_send = "mail.send"; ///< a mail to be sent; made by the owner, see actors/mails
} // namespace topic

struct domain_event {
  std::string_view topic;
  uuid subject;
  uuid customer; ///< nil if it concerns everybody
  uuid order; ///< of order.* topics: nil if the claim was made without an order
  money amount = 0; ///< of the claim or payment; what was given back for payment.refunded
  timestamp until; ///< queue.turn_granted: end of the session; else never
  friend bool operator==(const domain_event&, const domain_event&) = default;
};

/// In the order of the changes.
std::vector<domain_event> domain_events_of(const changes& content, aggregate_id aggregate);

} // namespace fq
