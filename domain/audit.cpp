// SPDX-License-Identifier: Apache-2.0
#include "domain/audit.hpp"

#include "domain/queue.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace fq {
namespace {

using lines = std::vector<std::string>;

void tell(lines& out, std::string line) {
  if (out.size() < contradictions_max) out.push_back(std::move(line));
}

struct units {
  std::int64_t held = 0, sold = 0;
};

std::map<std::uint32_t, units> units_in(std::span<const claim_row> claims) {
  std::map<std::uint32_t, units> sums;
  for (const auto& c : claims)
    for (const auto& item : c.items) {
      auto& sum = sums[item.ticket_type];
      if (is_live(c.status)) sum.held += item.quantity;
      if (c.status == claim_status::confirmed) sum.sold += std::int64_t{item.quantity} - item.refunded;
    }
  return sums;
}

void audit_stock(const audited_rows& rows, lines& out) {
  auto counted = units_in(rows.claims);
  for (const auto& t : rows.ticket_types) {
    const auto sum = counted[t.ordinal];
    const auto name = "I1: ticket type " + to_string(t.id);
    if (t.held + t.sold > t.total) tell(out, name + " is oversold");
    if (t.held != sum.held)
      tell(out, name + " counts " + std::to_string(t.held) + " held, its claims hold " + std::to_string(sum.held));
    if (t.sold != sum.sold)
      tell(out, name + " counts " + std::to_string(t.sold) + " sold, its confirmed claims are " + std::to_string(sum.sold));
  }
}

void audit_places(const audited_rows& rows, lines& out) {
  std::unordered_map<subject_key, queue_number> live;
  for (const auto& e : rows.entries) {
    if (!is_live(e.status)) continue;
    const auto [first, fresh] = live.try_emplace(e.subject, e.number);
    if (!fresh)
      tell(out, "I2: entries " + std::to_string(value_of(first->second)) + " and " + std::to_string(value_of(e.number))
                  + " are live places of one subject");
  }
  std::map<customer_id, std::uint32_t> claims;
  for (const auto& c : rows.claims)
    if (is_live(c.status) && ++claims[c.customer] == rows.event.claims_per_customer + 1)
      tell(out, "I2: customer of claim " + to_string(c.id) + " has more live claims than allowed");
}

/// Captured, and not, or not wholly, given back.
bool is_kept(const payment_row& p) {
  switch (p.status) {
    case payment_status::confirmed:
    case payment_status::refund_pending:
    case payment_status::partially_refunded:
    case payment_status::refund_failed: return true;
    default: return false;
  }
}

/// A claim may have more captures than its own: late money on its way back.
void audit_money(const audited_rows& rows, lines& out) {
  std::map<claim_id, std::vector<money>> captured;
  for (const auto& p : rows.payments)
    if (is_kept(p)) captured[p.claim].push_back(p.captured - p.tax);
  for (const auto& c : rows.claims) {
    if (c.status != claim_status::confirmed || c.amount == 0) continue;
    if (std::ranges::find(captured[c.id], c.amount) == captured[c.id].end())
      tell(out, "I4: claim " + to_string(c.id) + " is confirmed for " + std::to_string(c.amount) + ", and no payment captured that");
  }
}

} // namespace

std::vector<std::string> contradictions(const audited_rows& rows) {
  lines out;
  audit_stock(rows, out);
  audit_places(rows, out);
  audit_money(rows, out);
  return out;
}

} // namespace fq
