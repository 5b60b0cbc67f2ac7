// SPDX-License-Identifier: Apache-2.0
// Rules, event and ticket types of the random sales of sale_walk_test, and what they covered.
#pragma once
#include "tests/domain/sale/sample_sale.hpp"
#include "tests/domain/seats/sample_plan.hpp"

#include <iterator>
#include <vector>

namespace sale_walk_test {

using namespace fq;
using namespace fq::test;

/// Coverage of the walks: a property that no walk exercised proves nothing.
struct coverage {
  std::uint64_t steps = 0, reloads = 0, admitted = 0, session_expired = 0, expired = 0;
  std::map<claim_status, std::uint64_t> claims;
  std::map<payment_status, std::uint64_t> payments;
  std::map<order_status, std::uint64_t> orders;
  /// steps with a blocked fan; invitations; units of quotas sold or held at the end
  std::uint64_t blocked = 0, invited = 0, of_quota = 0;
  std::uint64_t with_promo = 0, promo_refused = 0, preferred = 0;
  std::uint64_t scanned_in = 0, conflicts = 0; ///< admitted scans; tickets in conflict at the end
  std::uint64_t claimed_again = 0, expiring_seen = 0, cancelled = 0, waiting_seen = 0,
                refusals_of_refunds = 0, transferred = 0;
  std::uint64_t upgrades = 0,
                refunds_with_names = 0; ///< loads after an older program; begun refunds of a named ticket
  std::uint64_t seated = 0; ///< seats of claims, also of those that have ended
};

/// What the rows at the end of a walk tell.
inline void count_rows(const naive_ledger& ledger, coverage& seen) {
  for (const auto& [n, e] : ledger.entries) {
    seen.admitted += is_set(e.admitted_at);
    seen.session_expired += e.status == entry_status::session_expired;
    seen.expired += e.status == entry_status::expired;
  }
  for (const auto& [id, c] : ledger.claims) {
    ++seen.claims[c.status];
    seen.claimed_again += c.created_at == c.expires_at;
  }
  for (const auto& [id, p] : ledger.payments) ++seen.payments[p.status];
  for (const auto& [id, o] : ledger.orders) {
    ++seen.orders[o.status];
    seen.with_promo += !o.promo_code.empty();
  }
  seen.seated += ledger.claim_seats.size();
  seen.invited += ledger.invitations.size();
  for (const auto& t : ledger.types)
    seen.of_quota += t.hidden ? static_cast<std::uint64_t>(t.held + t.sold) : 0;
  for (const auto& [n, e] : ledger.entries)
    seen.preferred += e.priority_class == priority_vip && is_set(e.admitted_at);
  for (const auto& [id, r] : ledger.refunds) seen.refusals_of_refunds += r.attempts;
  seen.cancelled += ledger.event.status == event_status::cancelled;
}

inline sale_rules quick_rules() {
  sale_rules r;
  r.stale_after = seconds{20};
  r.verdict_grace = seconds{4};
  r.refund_retry = {3, milliseconds{100}, milliseconds{3000}};
  r.pending_max = seconds{6};
  r.initialize_again = milliseconds{700};
  r.fees["NGN"] = {.platform_per_ticket = 7, .processing_basis_points = 290, .processing_fixed = 3};
  return r;
}

inline event_row random_event(dice& d) {
  auto e = sample_event();
  e.queue_opens_at = opening;
  e.sale_start = opening + seconds{d.below(3)};
  e.sale_end = opening + seconds{60 + d.below(400)};
  const admission_policy policies[] = {admission_policy::batch, admission_policy::batch,
                                       admission_policy::capacity, admission_policy::rate,
                                       admission_policy::open};
  e.queue.policy = policies[d.below(5)];
  e.queue.batch_size = 1 + static_cast<std::uint32_t>(d.below(5));
  e.queue.admission_interval = milliseconds{250 + d.below(4000)};
  const bool capped = e.queue.policy == admission_policy::capacity || d.chance(40);
  e.queue.concurrency = capped ? 1 + static_cast<std::uint32_t>(d.below(6)) : 0;
  e.queue.rate_per_minute =
    e.queue.policy == admission_policy::rate ? 5 + static_cast<std::uint32_t>(d.below(60)) : 0;
  e.queue.over_admission_percent = 100 + static_cast<std::uint32_t>(d.below(3)) * 50;
  e.queue.claim_window = seconds{2 + d.below(5)};
  e.claim_ttl = seconds{2 + d.below(8)};
  e.queue.session_ttl = e.queue.claim_window + e.claim_ttl + seconds{d.below(10)};
  e.queue.ticket_ttl = d.chance(20) ? seconds{10 + d.below(30)} : seconds{0};
  e.claims_per_customer = 1 + static_cast<std::uint32_t>(d.below(2));
  e.guests = d.chance(50);
  return e;
}

inline std::vector<ticket_type_row> random_types(dice& d) {
  auto types = sample_types(1 + static_cast<std::int64_t>(d.below(10)), d.chance(15) ? 0 : 500);
  types[0].max_per_order = 2;
  if (d.chance(50))
    types.push_back({.ordinal = 1,
                     .id = {0x77, 2},
                     .name = "Seat",
                     .price = 900,
                     .total = 1 + static_cast<std::int64_t>(d.below(5)),
                     .max_per_order = 3});
  if (d.chance(70))
    types.push_back({.ordinal = static_cast<std::uint32_t>(types.size()),
                     .id = {0x77, 3},
                     .name = "Quota",
                     .price = 100,
                     .total = 1 + static_cast<std::int64_t>(d.below(6)),
                     .max_per_order = 3,
                     .hidden = true});
  return types;
}

/// A hall of few seats for the first ticket types; standing places for the third.
inline void give_random_seats(sample_sale& s, dice& d) {
  const auto types = s.ledger.types.size();
  plan_draft draft;
  draft.ticket_types = {"One", "Two"};
  draft.sections.emplace_back().code = "P";
  for (std::uint64_t r = 1 + d.below(3); r > 0; --r) {
    std::string row = draft.sections[0].rows.empty() ? "sS" : ""; // each type has a seat
    for (auto n = 1 + d.below(6); n > 0; --n) {
      if (d.chance(10)) row += '|';
      row += d.chance(10) ? 'a' : d.chance(10) ? 'c' : d.chance(25) ? 'S' : 's';
    }
    draft.sections[0].rows.push_back(row_of(std::to_string(r), row, static_cast<std::int32_t>(100 * r)));
  }
  std::vector<std::uint8_t> ordinals{0, static_cast<std::uint8_t>(types > 1 ? 1 : 0)};
  if (types > 2 && d.chance(50)) {
    draft.ticket_types.push_back("Floor");
    draft.areas.push_back({"F", "", 2, 1 + static_cast<std::uint32_t>(d.below(6)), {0, 900}, 100, 100});
    ordinals.push_back(2);
  }
  s.give_plan(make_plan(draft).plan, ordinals,
              {static_cast<single_rule>(d.below(3)), d.chance(50), d.chance(20)});
}

inline std::vector<std::string> some_seats(const seating& seats, dice& d, std::uint64_t count) {
  const auto& map = seats.map();
  std::vector<std::string> names;
  for (auto n = static_cast<seat_number>(d.below(map.size())); n < map.size() && names.size() < count; ++n)
    names.push_back(map.plan().name_of(n));
  return names;
}

/// What a claim wants of seats; names seats in its items. Sometimes the organizer changes seats before.
inline seat_wish random_seats(sample_sale& s, dice& d, std::vector<item_wish>& wishes) {
  const auto* seats = s.it->seats();
  if (seats == nullptr || seats->map().size() == 0) return {};
  if (d.chance(15)) {
    seat_patch p{some_seats(*seats, d, 1 + d.below(2))};
    if (d.chance(70)) p.is_blocked = {true, d.chance(50)};
    if (d.chance(50)) p.ticket_type = d.pick(s.ledger.types).id;
    if (d.chance(10)) p.singles = {true, static_cast<std::uint8_t>(d.below(3))};
    s.set_seats(p);
  }
  for (auto& w : wishes)
    if (d.chance(50) && seats->has_seats(s.it->stock().find(w.ticket_type)->ordinal))
      w.seats = some_seats(*seats, d, w.quantity);
  seat_wish wish;
  wish.asks_accessible = d.chance(30) ? 1 : 0;
  if (wishes.empty() || !d.chance(30)) return wish;
  wish.best.count = wishes.front().quantity;
  if (d.chance(30)) wish.best.ticket_type = wishes.front().ticket_type;
  if (d.chance(20)) wish.best.section = "P";
  if (d.chance(20)) wish.best.accessible = 1;
  wishes.clear();
  return wish;
}

/// A holder offers a ticket, or giver or receiver end an offer.
inline void transfer_something(sample_sale& s, dice& d, std::uint64_t fans) {
  const auto some = [&](const auto& rows) {
    return std::next(rows.begin(), static_cast<std::ptrdiff_t>(d.below(rows.size())))->second;
  };
  const auto n = 1 + d.below(fans);
  if (!s.ledger.transfers.empty() && d.chance(60)) {
    const auto offer = some(s.ledger.transfers);
    const auto how = static_cast<transfer_trigger>(d.below(3));
    const auto by = how == transfer_trigger::withdraw ? offer.giver : offer.receiver;
    s.end_transfer(offer.id, d.chance(90) ? by.lo : n, how);
  } else if (!s.ledger.event_tickets.empty())
    s.offer(some(s.ledger.event_tickets).id, n);
}

} // namespace sale_walk_test
