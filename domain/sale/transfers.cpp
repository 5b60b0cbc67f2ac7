// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/transfers.hpp"

#include <algorithm>

namespace fq {

void transfers_book::load(const transfer_row& row) {
  rows_.insert_or_assign(row.id, row);
  auto& all = of_ticket_[row.ticket];
  all.insert(std::ranges::upper_bound(all, row.id), row.id);
  if (row.status != transfer_status::offered) return;
  open_[row.ticket] = row.id;
  deadlines_.emplace(row.expires_at, row.id);
}

const transfer_row* transfers_book::find(const transfer_id& id) const {
  const auto i = rows_.find(id);
  return i == rows_.end() ? nullptr : &i->second;
}

const transfer_row* transfers_book::open_of(const event_ticket_id& ticket) const {
  const auto i = open_.find(ticket);
  return i == open_.end() ? nullptr : find(i->second);
}

std::span<const transfer_id> transfers_book::of_ticket(const event_ticket_id& ticket) const {
  const auto i = of_ticket_.find(ticket);
  if (i == of_ticket_.end()) return {};
  return i->second;
}

std::size_t transfers_book::accepted_of(const event_ticket_id& ticket) const {
  const auto i = of_ticket_.find(ticket);
  if (i == of_ticket_.end()) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(
    i->second, [this](const transfer_id& id) { return find(id)->status == transfer_status::accepted; }));
}

std::vector<transfer_id> transfers_book::due(timestamp now, std::size_t most) const {
  std::vector<transfer_id> ids;
  for (const auto& [at, id] : deadlines_) {
    if (at > now || ids.size() == most) break;
    ids.push_back(id);
  }
  return ids;
}

timestamp transfers_book::next_deadline() const {
  return deadlines_.empty() ? never : deadlines_.begin()->first;
}

void transfers_book::offer(transfer_row row, changes& out) {
  load(row);
  out.emplace_back(std::in_place_type<transfer_offered>, transfer_offered{std::move(row)});
}

bool transfers_book::end(const transfer_id& id, transfer_trigger trigger, timestamp now, changes& out) {
  auto& row = rows_.at(id);
  const auto to = next(transfer_rules, row.status, trigger);
  if (!to) return false;
  const auto from = row.status;
  row.status = *to;
  row.ended_at = now;
  row.giver_email.clear();
  row.receiver_email.clear();
  open_.erase(row.ticket);
  deadlines_.erase({row.expires_at, id});
  out.emplace_back(std::in_place_type<transfer_moved>, transfer_moved{from, row});
  return true;
}

void transfers_book::forget_addresses(std::span<const customer_id> erased) {
  if (erased.empty()) return;
  for (const auto& [ticket, id] : open_) {
    auto& row = rows_.at(id);
    if (std::ranges::binary_search(erased, row.giver)) row.giver_email.clear();
    if (std::ranges::binary_search(erased, row.receiver)) row.receiver_email.clear();
  }
}

} // namespace fq
