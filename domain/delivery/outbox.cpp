// SPDX-License-Identifier: Apache-2.0
#include "domain/delivery/outbox.hpp"

#include "domain/money/money_text.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace fq {
namespace {

/// One function for each kind of change that is published. The other kinds are not published.
struct teller {
  aggregate_id aggregate;
  const changes& content;

  [[nodiscard]] bool has_order(const claim_id& claim) const { return !order_of(claim).is_nil(); }

  /// The order that moves with the claim; nil: none.
  [[nodiscard]] order_id order_of(const claim_id& claim) const {
    for (const auto& c : content)
      if (const auto* moved = std::get_if<order_moved>(&c); moved != nullptr && moved->row.claim == claim)
        return moved->row.id;
    return {};
  }

  static domain_event admitted(const entry_id& id, const entry_row& row) {
    domain_event told{topic::turn_granted, id, row.subject, {}, 0, row.session_expires_at};
    told.claim_by = row.claim_by;
    return told;
  }
  static domain_event expired(const entry_id& id, const subject_key& whose, std::string_view what) {
    domain_event told{topic::queue_expired, id, whose, {}, 0, never};
    told.what = what;
    return told;
  }
  std::optional<domain_event> operator()(const entry_moved& c) const {
    if (c.from == c.row.status) return std::nullopt;
    const auto id = make_entry_id(c.row.joined_at, aggregate, c.row.number);
    switch (c.row.status) {
      case entry_status::admitted: return admitted(id, c.row);
      case entry_status::expired: return expired(id, c.row.subject, "place");
      case entry_status::session_expired: return expired(id, c.row.subject, "session");
      case entry_status::waiting:
      case entry_status::away:
      case entry_status::cancelled:
      case entry_status::completed:
      case entry_status::revoked: break;
    }
    return std::nullopt;
  }
  std::optional<domain_event> operator()(const claim_moved& c) const {
    if (c.from == c.row.status) return std::nullopt;
    if (c.row.status == claim_status::confirmed) // an order has its own topic
      return has_order(c.row.id)
               ? std::nullopt
               : std::optional{
                 domain_event{topic::order_completed, c.row.id, c.row.customer, {}, c.row.amount, never}};
    const bool ran_out = c.row.status == claim_status::released && c.row.ended_at >= c.row.expires_at;
    if (ran_out) return domain_event{topic::claim_expired, c.row.id, c.row.customer, {}, c.row.amount, never};
    return std::nullopt;
  }
  std::optional<domain_event> operator()(const fq::order_placed& c) const {
    return domain_event{topic::order_placed, c.row.claim, c.row.customer, c.row.id, c.row.total, never};
  }
  static domain_event failed(const order_row& row) {
    domain_event told{topic::order_failed, row.claim, row.customer, row.id, row.total, never};
    told.what = row.failure;
    return told;
  }
  std::optional<domain_event> operator()(const order_moved& c) const {
    if (c.from == c.row.status) return std::nullopt;
    switch (c.row.status) {
      case order_status::success:
        return domain_event{
          topic::order_completed, c.row.claim, c.row.customer, c.row.id, c.row.total, never};
      case order_status::failed: return failed(c.row);
      case order_status::cancelled:
        return domain_event{
          topic::order_cancelled, c.row.claim, c.row.customer, c.row.id, c.row.total, never};
      case order_status::pending:
      case order_status::awaiting_payment:
      case order_status::partially_refunded:
      case order_status::refunded: break;
    }
    return std::nullopt;
  }
  static domain_event about(std::string_view topic, const payment_row& row, money amount) {
    domain_event told{topic, row.id, row.customer, {}, amount, never};
    told.claim = row.claim;
    return told;
  }
  std::optional<domain_event> operator()(const payment_moved& c) const {
    if (c.from == c.row.status) return std::nullopt;
    switch (c.row.status) {
      case payment_status::failed: return about(topic::payment_failed, c.row, c.row.amount);
      case payment_status::refunded:
      case payment_status::partially_refunded: return about(topic::payment_refunded, c.row, c.row.refunded);
      case payment_status::initializing:
      case payment_status::pending:
      case payment_status::confirmed:
      case payment_status::quarantined:
      case payment_status::confirmed_late:
      case payment_status::refund_pending:
      case payment_status::refund_failed: break;
    }
    return std::nullopt;
  }
  /// The customer is the holder, who may not be the buyer.
  std::optional<domain_event> operator()(const event_ticket_moved& c) const {
    if (c.from == c.row.status || c.row.status != event_ticket_status::checked_in) return std::nullopt;
    domain_event told{topic::ticket_checked_in, c.row.claim, c.row.holder, {}, 0, never,
                      {{c.row.ticket_type, 1}}};
    told.event_tickets = {c.row.id};
    return told;
  }
  std::optional<domain_event> operator()(const event_changed& c) const {
    if (c.from == c.event.status || c.event.status != event_status::cancelled) return std::nullopt;
    return domain_event{topic::event_cancelled, c.event.id, {}, {}, 0, never};
  }
  /// The ticket moves in front of it.
  std::optional<domain_event> operator()(const transfer_moved& c) const {
    if (c.row.status != transfer_status::accepted) return std::nullopt;
    domain_event told{topic::ticket_transferred, {}, c.row.receiver, {}, 0, never};
    told.giver = c.row.giver;
    told.event_tickets = {c.row.ticket};
    for (const auto& other : content)
      if (const auto* ticket = std::get_if<event_ticket_moved>(&other);
          ticket != nullptr && ticket->row.id == c.row.ticket) {
        told.subject = ticket->row.claim;
        told.items = {{ticket->row.ticket_type, 1}};
      }
    return told;
  }
  template <class Other>
  std::optional<domain_event> operator()(const Other&) const {
    return std::nullopt;
  }
};

/// Ticket topics. A decision that takes tickets back first moves their stock and cancels them, then moves
/// their claim. The claim's row alone does not say how many of its refunded units are new. One that sells
/// first moves the claim, then issues its event tickets, without another change in between. Event tickets for
/// older purchases are no news; those that an older program has refunded, their cancellation is.
class ticket_teller {
public:
  explicit ticket_teller(const changes& content) : content_(content), orders_{{}, content} {}

  std::optional<domain_event> tell(std::size_t i) {
    if (const auto* stock = std::get_if<stock_moved>(&content_[i]); stock != nullptr && stock->sold_delta < 0)
      taken_back_.push_back({stock->ticket_type, static_cast<std::uint32_t>(-stock->sold_delta)});
    const auto* ticket = std::get_if<event_ticket_moved>(&content_[i]);
    if (ticket != nullptr && ticket->from != ticket->row.status
        && ticket->row.status == event_ticket_status::cancelled) {
      cancelled_.push_back(&ticket->row);
      if (!is_about(ticket->row.claim, i + 1)) return settled(ticket->row.claim);
    }
    if (const auto* claim = std::get_if<claim_moved>(&content_[i])) return moved(*claim, i);
    return std::nullopt;
  }

private:
  /// Whether the change at `i` goes on with the claim: another of its event tickets, or its own step.
  [[nodiscard]] bool is_about(const claim_id& claim, std::size_t i) const {
    if (i >= content_.size()) return false;
    const auto* ticket = std::get_if<event_ticket_moved>(&content_[i]);
    const auto* moved = std::get_if<claim_moved>(&content_[i]);
    return (ticket != nullptr && ticket->row.claim == claim) || (moved != nullptr && moved->row.id == claim);
  }

  /// Event tickets of units that an earlier event has in `items`: without `items`, or consumers count them
  /// twice. The owner knows the customer.
  domain_event settled(const claim_id& claim) {
    domain_event told{topic::ticket_cancelled, claim, {}, {}, 0, never};
    for (const auto* ticket : std::exchange(cancelled_, {})) told.event_tickets.push_back(ticket->id);
    return told;
  }

  std::optional<domain_event> moved(const claim_moved& c, std::size_t i) {
    auto back = std::exchange(taken_back_, {});
    const auto cancelled = std::exchange(cancelled_, {});
    const bool is_sold = c.row.status == claim_status::confirmed && c.from != claim_status::confirmed;
    if (is_sold) {
      std::vector<ticket_count> items;
      for (const auto& item : c.row.items) items.push_back({item.ticket_type, item.quantity});
      return about(topic::ticket_generated, c.row, std::move(items), issued_behind(i));
    }
    if (c.from != claim_status::confirmed || back.empty()) return std::nullopt;
    std::vector<event_ticket_id> ids;
    for (const auto* ticket : cancelled) ids.push_back(ticket->id);
    return about(topic::ticket_cancelled, c.row, std::move(back), std::move(ids));
  }

  [[nodiscard]] std::vector<event_ticket_id> issued_behind(std::size_t i) const {
    std::vector<event_ticket_id> ids;
    while (++i < content_.size())
      if (const auto* issued = std::get_if<event_ticket_issued>(&content_[i]))
        ids.push_back(issued->row.id);
      else
        break;
    return ids;
  }

  [[nodiscard]] domain_event about(std::string_view topic, const claim_row& claim,
                                   std::vector<ticket_count> items, std::vector<event_ticket_id> ids) const {
    domain_event told{topic, claim.id, claim.customer,  orders_.order_of(claim.id),
                      0,     never,    std::move(items)};
    told.event_tickets = std::move(ids);
    return told;
  }

  const changes& content_;
  teller orders_;
  std::vector<ticket_count> taken_back_; ///< since the last claim_moved
  std::vector<const event_ticket_row*> cancelled_; ///< the same; of one claim
};

} // namespace

std::uint8_t lanes_of(std::string_view topic, bool has_bus) {
  if (topic == topic::mail_send) return bit_of(lane::mail);
  return static_cast<std::uint8_t>(bit_of(lane::notices) | (has_bus ? bit_of(lane::bus) : 0));
}

std::vector<domain_event> domain_events_of(const changes& content, aggregate_id aggregate) {
  std::vector<domain_event> told;
  ticket_teller tickets{content};
  for (std::size_t i = 0; i < content.size(); ++i) {
    if (auto event = std::visit(teller{aggregate, content}, content[i])) told.push_back(std::move(*event));
    if (auto event = tickets.tell(i)) told.push_back(std::move(*event));
  }
  return told;
}

std::optional<domain_event> loyalty_of(const domain_event& told, std::string_view currency,
                                       std::int64_t points_per_unit) {
  if (told.topic != topic::order_completed || points_per_unit <= 0) return std::nullopt;
  money minor_per_unit = 1;
  for (auto left = decimals_of(currency); left > 0; --left) minor_per_unit *= 10;
  const auto units = told.amount / minor_per_unit;
  if (units <= 0) return std::nullopt;
  auto award = told;
  award.topic = topic::loyalty_awarded;
  const auto most = std::numeric_limits<std::int64_t>::max() / points_per_unit;
  award.points = std::min(units, most) * points_per_unit;
  return award;
}

} // namespace fq
