// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/claims.hpp"

#include <algorithm>

namespace fq {
namespace {
constexpr bool is_standing(claim_status s) { return is_live(s) || s == claim_status::confirmed; }

std::vector<claim_id> up_to(const std::set<std::pair<timestamp, claim_id>>& deadlines, timestamp t,
                            std::size_t limit) {
  std::vector<claim_id> due;
  for (auto i = deadlines.begin(); i != deadlines.end() && i->first <= t && due.size() < limit; ++i)
    due.push_back(i->second);
  return due;
}
} // namespace

void claims_book::index(const claim_row& row, timestamp grace_from) {
  if (is_standing(row.status)) standing_[row.customer].push_back(row.id);
  if (row.status == claim_status::claimed) claimed_.emplace(row.expires_at, row.id);
  if (row.status == claim_status::expiring) {
    grace_from = std::max(grace_from, row.expires_at);
    grace_from_[row.id] = grace_from;
    expiring_.emplace(grace_from, row.id);
  }
  if (is_live(row.status)) ++counts_.live;
  if (row.status == claim_status::confirmed) ++counts_.confirmed;
}

void claims_book::unindex(const claim_row& row) {
  if (is_standing(row.status)) {
    const auto i = standing_.find(row.customer);
    std::erase(i->second, row.id);
    if (i->second.empty()) standing_.erase(i);
  }
  if (row.status == claim_status::claimed) claimed_.erase({row.expires_at, row.id});
  if (const auto from = grace_from_.extract(row.id)) expiring_.erase({from.mapped(), row.id});
  if (is_live(row.status)) --counts_.live;
  if (row.status == claim_status::confirmed) --counts_.confirmed;
}

void claims_book::load(const claim_row& row) {
  index(rows_.emplace(row.id, row).first->second, row.expires_at);
}

const claim_row* claims_book::find(const claim_id& id) const {
  const auto i = rows_.find(id);
  return i == rows_.end() ? nullptr : &i->second;
}

const claim_row* claims_book::standing(const customer_id& customer) const {
  const auto i = standing_.find(customer);
  if (i == standing_.end()) return nullptr;
  return find(
    *std::ranges::min_element(i->second, {}, [this](const claim_id& c) { return find(c)->live_slot; }));
}

const claim_row* claims_book::live(const customer_id& customer) const {
  const auto i = standing_.find(customer);
  if (i == standing_.end()) return nullptr;
  for (const auto& id : i->second)
    if (const auto* c = find(id); is_live(c->status)) return c;
  return nullptr;
}

std::optional<std::uint8_t> claims_book::free_slot(const customer_id& customer, std::uint32_t slots) const {
  const auto i = standing_.find(customer);
  if (i != standing_.end() && i->second.size() >= slots) return std::nullopt; // after `slots` was lowered
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const auto taken = [&](const claim_id& id) { return find(id)->live_slot == slot; };
    if (i == standing_.end() || std::ranges::none_of(i->second, taken))
      return static_cast<std::uint8_t>(slot);
  }
  return std::nullopt;
}

std::uint64_t claims_book::promo_uses(const customer_id& customer, std::uint32_t promo) const {
  const auto i = standing_.find(customer);
  if (i == standing_.end()) return 0;
  return static_cast<std::uint64_t>(
    std::ranges::count_if(i->second, [&](const claim_id& id) { return find(id)->promo == promo; }));
}

std::uint64_t claims_book::units_of(const customer_id& customer, std::uint32_t ticket_type) const {
  std::uint64_t units = 0;
  for (const auto& id : standing_of(customer))
    for (const auto& i : find(id)->items)
      if (i.ticket_type == ticket_type) units += i.quantity - i.refunded;
  return units;
}

std::vector<claim_id> claims_book::standing_of(const customer_id& customer) const {
  const auto i = standing_.find(customer);
  return i == standing_.end() ? std::vector<claim_id>{} : i->second;
}

std::vector<claim_id> claims_book::due(timestamp now, std::size_t limit) const {
  return up_to(claimed_, now, limit);
}

std::vector<claim_id> claims_book::overdue(timestamp now, milliseconds grace, std::size_t limit) const {
  return up_to(expiring_, now - grace, limit);
}

std::vector<claim_id> claims_book::live_ones(std::size_t limit) const {
  auto ids = up_to(claimed_, timestamp::max(), limit);
  for (const auto& id : up_to(expiring_, timestamp::max(), limit - ids.size())) ids.push_back(id);
  return ids;
}

timestamp claims_book::next_deadline(milliseconds grace) const {
  auto t = claimed_.empty() ? never : claimed_.begin()->first;
  if (!expiring_.empty())
    if (const auto e = expiring_.begin()->first + grace; !is_set(t) || e < t) t = e;
  return t;
}

void claims_book::restart_grace(timestamp now) {
  expiring_.clear();
  for (auto& [id, from] : grace_from_) {
    from = std::max(from, now);
    expiring_.emplace(from, id);
  }
}

const claim_row& claims_book::open(claim_row row, changes& out) {
  const auto& stored = rows_.emplace(row.id, row).first->second;
  index(stored, stored.expires_at);
  out.emplace_back(std::in_place_type<claim_opened>, claim_opened{std::move(row)});
  return stored;
}

bool claims_book::move(const claim_id& id, claim_trigger trigger, timestamp now, changes& out) {
  auto& row = rows_.at(id);
  const auto from = row.status;
  const auto to = next(claim_rules, from, trigger);
  if (!to) return false;
  unindex(row);
  row.status = *to;
  if (!is_live(*to)) row.ended_at = now;
  index(row, now);
  out.emplace_back(std::in_place_type<claim_moved>, claim_moved{from, row});
  return true;
}

bool claims_book::confirm_for(const customer_id& buyer, std::uint8_t slot, const claim_id& id, timestamp now,
                              changes& out) {
  auto& row = rows_.at(id);
  if (!next(claim_rules, row.status, claim_trigger::confirm)) return false;
  unindex(row);
  row.customer = buyer;
  row.live_slot = slot;
  index(row, now);
  return move(id, claim_trigger::confirm, now, out);
}

void claims_book::refund(const claim_id& id, std::span<const refund_item> items, timestamp now,
                         changes& out) {
  auto& row = rows_.at(id);
  for (const auto& back : items)
    std::ranges::find(row.items, back.ticket_type, &claim_item::ticket_type)->refunded += back.quantity;
  if (std::ranges::all_of(row.items, [](const claim_item& i) { return i.refunded == i.quantity; }))
    move(id, claim_trigger::refund, now, out);
  else
    out.emplace_back(std::in_place_type<claim_moved>, claim_moved{row.status, row});
}

} // namespace fq
