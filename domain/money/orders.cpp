// SPDX-License-Identifier: Apache-2.0
#include "domain/money/orders.hpp"

#include <algorithm>

namespace fq {
namespace {

std::vector<order_id> orders_until(const std::set<std::pair<timestamp, order_id>>& times, timestamp t,
                                   std::size_t limit) {
  std::vector<order_id> due;
  for (auto i = times.begin(); i != times.end() && i->first <= t && due.size() < limit; ++i)
    due.push_back(i->second);
  return due;
}

} // namespace

void orders_book::index(const order_row& row) {
  by_claim_[row.claim] = row.id;
  if (row.status == order_status::pending) pending_.emplace(row.created_at, row.id);
  if (is_set(row.payment_link_at)) links_.emplace(row.payment_link_at, row.id);
}

void orders_book::unindex(const order_row& row) {
  by_claim_.erase(row.claim);
  pending_.erase({row.created_at, row.id});
  links_.erase({row.payment_link_at, row.id});
}

void orders_book::load(const order_row& row) {
  index(rows_.emplace(row.id, row).first->second);
  if (!row.guest.is_nil()) by_guest_.emplace(row.guest, row.id);
}

const order_row* orders_book::find(const order_id& id) const {
  const auto i = rows_.find(id);
  return i == rows_.end() ? nullptr : &i->second;
}

const order_row* orders_book::of_claim(const claim_id& claim) const {
  const auto i = by_claim_.find(claim);
  return i == by_claim_.end() ? nullptr : find(i->second);
}

std::vector<order_id> orders_book::of_guest(const customer_id& guest) const {
  std::vector<order_id> ids;
  const auto [first, last] = by_guest_.equal_range(guest);
  for (auto i = first; i != last; ++i) ids.push_back(i->second);
  return ids;
}

std::vector<order_id> orders_book::pending_since(timestamp t, std::size_t limit) const {
  return orders_until(pending_, t, limit);
}

std::vector<order_id> orders_book::links_due(timestamp now, std::size_t limit) const {
  return orders_until(links_, now, limit);
}

void orders_book::forget_contacts(std::span<const customer_id> erased) {
  if (erased.empty()) return;
  for (auto& [id, row] : rows_)
    if (std::ranges::binary_search(erased, row.customer)) row.contact = {};
}

void orders_book::forget_old_contacts() {
  for (auto& [id, row] : rows_)
    if (!is_open(row.status)) row.contact = {};
}

void orders_book::place(order_row row, changes& out) {
  load(row);
  out.emplace_back(std::in_place_type<order_placed>, order_placed{std::move(row)});
}

bool is_told_of_end(const order_row& order, bool paid, timestamp cancelled_at) {
  const bool is_fresh = order.updated_at >= cancelled_at; // changed by the cancellation
  const bool has_paid = order.status == order_status::success
                        || order.status == order_status::partially_refunded
                        || (order.status == order_status::refunded && is_fresh);
  const bool was_open = is_open(order.status) || (order.status == order_status::failed && is_fresh);
  return (paid ? has_paid : was_open) && !order.contact.email.empty();
}

} // namespace fq
