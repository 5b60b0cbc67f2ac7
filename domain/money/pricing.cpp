// SPDX-License-Identifier: Apache-2.0
#include "domain/money/pricing.hpp"

#include <algorithm>

namespace fq {
namespace {

money discount_of(const priced_item& item, const discount& d) {
  if (!d.covers(item.ticket_type)) return 0;
  switch (d.kind) {
    case discount_kind::none: break;
    case discount_kind::percent: return share_of(item.unit_price, d.value);
    case discount_kind::amount: return std::min<money>(item.unit_price, d.value);
  }
  return 0;
}

} // namespace

price_quote price(std::span<const priced_item> items, const discount& reduction, const fee_rules& fees) {
  price_quote q;
  std::int64_t paid_tickets = 0;
  for (auto item : items) {
    item.unit_discount = discount_of(item, reduction);
    q.subtotal += item.unit_price * item.quantity;
    q.discount += item.unit_discount * item.quantity;
    q.donations += item.donation * item.quantity;
    if (item.unit_price > item.unit_discount) paid_tickets += item.quantity;
    q.items.push_back(item);
  }
  q.platform_fee = paid_tickets * fees.platform_per_ticket;
  const auto charged = q.subtotal - q.discount + q.donations + q.platform_fee;
  q.processing_fee =
    share_of(charged, fees.processing_basis_points) + (paid_tickets > 0 ? fees.processing_fixed : 0);
  q.total = charged + q.processing_fee;
  return q;
}

money fees_of(const claim_row& claim) {
  auto fees = claim.amount;
  for (const auto& i : claim.items) fees -= price_of_one(i) * i.quantity;
  return fees;
}

std::vector<claim_item> items_of(const price_quote& price) {
  std::vector<claim_item> items;
  for (const auto& i : price.items)
    items.push_back({.ticket_type = i.ticket_type,
                     .quantity = i.quantity,
                     .unit_price = i.unit_price,
                     .donation = i.donation,
                     .unit_discount = i.unit_discount});
  return items;
}

} // namespace fq
