// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/event_tickets.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace fq {

void event_tickets_book::load(const event_ticket_row& row) {
  const auto added = static_cast<index>(rows_.size());
  const bool is_newest = rows_.empty() || at(rows_.size() - 1).id < row.id; // most are
  const auto place = is_newest ? rows_.size() : place_of(row.id);
  rows_.push_back(row);
  if (by_change_) by_change_->emplace(changed_at(row), row.id);
  ++counter_of(row);
  by_id_.insert(by_id_.begin() + static_cast<std::ptrdiff_t>(place), added);
  auto* newer = &newest_.try_emplace(row.claim, none).first->second;
  while (*newer != none && rows_[*newer].id > row.id) newer = &older_[*newer];
  const auto older = std::exchange(*newer, added);
  older_.push_back(older);
}

std::size_t event_tickets_book::place_of(const event_ticket_id& id) const {
  const auto found = std::ranges::lower_bound(
    by_id_, id, {}, [this](index i) -> const event_ticket_id& { return rows_[i].id; });
  return static_cast<std::size_t>(found - by_id_.begin());
}

std::size_t& event_tickets_book::counter_of(const event_ticket_row& row) {
  if (counts_.size() <= row.ticket_type) counts_.resize(row.ticket_type + 1);
  return counts_[row.ticket_type][static_cast<std::size_t>(row.status)];
}

std::size_t event_tickets_book::count(std::uint32_t ticket_type, event_ticket_status status) const {
  return ticket_type < counts_.size() ? counts_[ticket_type][static_cast<std::size_t>(status)] : 0;
}

timestamp event_tickets_book::changed_at(const event_ticket_row& row) const {
  const auto refund = refunds_changed_.find(row.claim);
  return refund == refunds_changed_.end() ? row.updated_at : std::max(row.updated_at, refund->second);
}

std::vector<const event_ticket_row*> event_tickets_book::changed_after(timestamp at,
                                                                       const event_ticket_id& id,
                                                                       timestamp until,
                                                                       std::size_t limit) const {
  if (!by_change_) {
    by_change_.emplace();
    for (const auto& row : rows_) by_change_->emplace(changed_at(row), row.id);
  }
  std::vector<const event_ticket_row*> changed;
  for (auto i = by_change_->upper_bound({at, id});
       i != by_change_->end() && i->first < until && changed.size() < limit; ++i)
    changed.push_back(find(i->second));
  return changed;
}

const event_ticket_row* event_tickets_book::find(const event_ticket_id& id) const {
  const auto place = place_of(id);
  return place < size() && at(place).id == id ? &at(place) : nullptr;
}

template <class Visit>
void event_tickets_book::newest_first(const claim_id& claim, Visit visit) const {
  const auto newest = newest_.find(claim);
  for (auto i = newest == newest_.end() ? none : newest->second; i != none; i = older_[i]) visit(rows_[i]);
}

void event_tickets_book::refund_changed(const claim_id& claim, timestamp at) {
  auto& known = refunds_changed_[claim];
  if (at <= known) return; // a load may bring an older refund later
  if (by_change_)
    newest_first(claim, [&](const event_ticket_row& row) { by_change_->erase({changed_at(row), row.id}); });
  known = at;
  if (by_change_)
    newest_first(claim, [&](const event_ticket_row& row) { by_change_->emplace(changed_at(row), row.id); });
}

std::vector<const event_ticket_row*> event_tickets_book::of_claim(const claim_id& claim) const {
  std::vector<const event_ticket_row*> found;
  newest_first(claim, [&](const event_ticket_row& row) { found.push_back(&row); });
  std::ranges::reverse(found);
  return found;
}

std::size_t event_tickets_book::count_valid(const claim_id& claim, std::uint32_t ticket_type) const {
  std::size_t count = 0;
  newest_first(claim, [&](const event_ticket_row& row) {
    count += row.ticket_type == ticket_type && is_valid(row.status) ? 1 : 0;
  });
  return count;
}

std::vector<event_ticket_id> event_tickets_book::first_to_cancel(const claim_id& claim,
                                                                 std::uint32_t ticket_type,
                                                                 std::size_t count) const {
  std::vector<const event_ticket_row*> valid;
  newest_first(claim, [&](const event_ticket_row& row) {
    if (row.ticket_type == ticket_type && is_valid(row.status)) valid.push_back(&row);
  });
  std::ranges::stable_sort(valid, {}, [](const event_ticket_row* row) {
    const bool was_in =
      row->status == event_ticket_status::checked_in || row->status == event_ticket_status::checked_out;
    return std::tuple{row->generation > 1, was_in, ~row->seat};
  });
  std::vector<event_ticket_id> ids;
  for (const auto* row : valid)
    if (ids.size() < count) ids.push_back(row->id);
  return ids;
}

void event_tickets_book::issue(event_ticket_row row, changes& out) {
  load(row);
  out.emplace_back(std::in_place_type<event_ticket_issued>, event_ticket_issued{std::move(row)});
}

void event_tickets_book::set(event_ticket_row& row, event_ticket_status to, timestamp now) {
  if (by_change_) by_change_->erase({changed_at(row), row.id});
  --counter_of(row);
  row.status = to;
  row.updated_at = now;
  if (by_change_) by_change_->emplace(changed_at(row), row.id);
  ++counter_of(row);
}

bool event_tickets_book::move(const event_ticket_id& id, event_ticket_trigger trigger, timestamp now,
                              changes& out) {
  auto& row = rows_[by_id_[place_of(id)]];
  const auto from = row.status;
  const auto to = next(event_ticket_rules, from, trigger);
  if (!to || trigger == event_ticket_trigger::transfer) return false;
  set(row, *to, now);
  out.emplace_back(std::in_place_type<event_ticket_moved>, event_ticket_moved{from, row});
  return true;
}

bool event_tickets_book::hand_over(const event_ticket_id& id, const customer_id& holder, timestamp now,
                                   changes& out) {
  auto& row = rows_[by_id_[place_of(id)]];
  const auto from = row.status;
  const auto to = next(event_ticket_rules, from, event_ticket_trigger::transfer);
  if (!to) return false;
  set(row, *to, now);
  row.holder = holder;
  ++row.generation;
  out.emplace_back(std::in_place_type<event_ticket_moved>, event_ticket_moved{from, row});
  return true;
}

void event_tickets_book::void_codes(const event_ticket_id& id, timestamp now, changes& out) {
  auto& row = rows_[by_id_[place_of(id)]];
  set(row, row.status, now);
  ++row.generation;
  out.emplace_back(std::in_place_type<event_ticket_moved>, event_ticket_moved{row.status, row});
}

} // namespace fq
