// SPDX-License-Identifier: Apache-2.0
#include "domain/outbox.hpp"

#include <algorithm>
#include <optional>

namespace fq {
namespace {

/// One function for each kind of change that is told; the others are nobody's business outside.
struct teller {
  aggregate_id aggregate;
  const changes& content;

  [[nodiscard]] bool has_order(const claim_id& claim) const {
    return std::ranges::any_of(content, [&](const change& c) {
      const auto* moved = std::get_if<order_moved>(&c);
      return moved != nullptr && moved->row.claim == claim;
    });
  }

  std::optional<domain_event> operator()(const entry_moved& c) const {
    if (c.from == c.row.status) return std::nullopt;
    const auto id = make_entry_id(c.row.joined_at, aggregate, c.row.number);
    switch (c.row.status) {
      case entry_status::admitted: return domain_event{topic::turn_granted, id, c.row.subject, {}, 0, c.row.session_expires_at};
      case entry_status::expired:
      case entry_status::session_expired: return domain_event{topic::queue_expired, id, c.row.subject, {}, 0, never};
      default: return std::nullopt;
    }
  }
  std::optional<domain_event> operator()(const claim_moved& c) const {
    if (c.from == c.row.status) return std::nullopt;
    if (c.row.status == claim_status::confirmed) // an order tells of itself
      return has_order(c.row.id) ? std::nullopt
                                 : std::optional{domain_event{topic::order_completed, c.row.id, c.row.customer, {}, c.row.amount, never}};
    const bool ran_out = c.row.status == claim_status::released && c.row.ended_at >= c.row.expires_at;
    if (ran_out) return domain_event{topic::claim_expired, c.row.id, c.row.customer, {}, c.row.amount, never};
    return std::nullopt;
  }
  std::optional<domain_event> operator()(const fq::order_placed& c) const {
    return domain_event{topic::order_placed, c.row.claim, c.row.customer, c.row.id, c.row.total, never};
  }
  std::optional<domain_event> operator()(const order_moved& c) const {
    if (c.from == c.row.status) return std::nullopt;
    switch (c.row.status) {
      case order_status::success:
        return domain_event{topic::order_completed, c.row.claim, c.row.customer, c.row.id, c.row.total, never};
      case order_status::failed: return domain_event{topic::order_failed, c.row.claim, c.row.customer, c.row.id, c.row.total, never};
      case order_status::cancelled:
        return domain_event{topic::order_cancelled, c.row.claim, c.row.customer, c.row.id, c.row.total, never};
      default: return std::nullopt;
    }
  }
  std::optional<domain_event> operator()(const payment_moved& c) const {
    if (c.from == c.row.status) return std::nullopt;
    switch (c.row.status) {
      case payment_status::failed: return domain_event{topic::payment_failed, c.row.id, c.row.customer, {}, c.row.amount, never};
      case payment_status::refunded:
      case payment_status::partially_refunded:
        return domain_event{topic::payment_refunded, c.row.id, c.row.customer, {}, c.row.refunded, never};
      default: return std::nullopt;
    }
  }
  std::optional<domain_event> operator()(const event_changed& c) const {
    if (c.from == c.event.status || c.event.status != event_status::cancelled) return std::nullopt;
    return domain_event{topic::event_cancelled, c.event.id, {}, {}, 0, never};
  }
  template <class Other>
  std::optional<domain_event> operator()(const Other&) const {
    return std::nullopt;
  }
};

} // namespace

std::vector<domain_event> domain_events_of(const changes& content, aggregate_id aggregate) {
  std::vector<domain_event> told;
  for (const auto& c : content)
    if (auto event = std::visit(teller{aggregate, content}, c)) told.push_back(*event);
  return told;
}

} // namespace fq
