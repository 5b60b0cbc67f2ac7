// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/event_tickets.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace fq {

void event_tickets_book::load(const event_ticket_row& row) {
  const auto added = static_cast<index>(rows_.size());
  const bool is_newest = rows_.empty() || at(rows_.size() - 1).id < row.id; // most are
  const auto place = is_newest ? rows_.size() : place_of(row.id);
  rows_.push_back(row);
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

const event_ticket_row* event_tickets_book::find(const event_ticket_id& id) const {
  const auto place = place_of(id);
  return place < size() && at(place).id == id ? &at(place) : nullptr;
}

template <class Visit>
void event_tickets_book::newest_first(const claim_id& claim, Visit visit) const {
  const auto newest = newest_.find(claim);
  for (auto i = newest == newest_.end() ? none : newest->second; i != none; i = older_[i]) visit(rows_[i]);
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
  std::vector<const event_ticket_row*> unused, used;
  newest_first(claim, [&](const event_ticket_row& row) {
    if (row.ticket_type != ticket_type || !is_valid(row.status)) return;
    const bool was_in =
      row.status == event_ticket_status::checked_in || row.status == event_ticket_status::checked_out;
    (was_in ? used : unused).push_back(&row);
  });
  std::vector<event_ticket_id> chosen;
  for (auto* part : {&unused, &used}) {
    std::ranges::stable_sort(*part, std::greater{}, &event_ticket_row::seat);
    for (const auto* row : *part)
      if (chosen.size() < count) chosen.push_back(row->id);
  }
  return chosen;
}

void event_tickets_book::issue(event_ticket_row row, changes& out) {
  load(row);
  out.emplace_back(std::in_place_type<event_ticket_issued>, event_ticket_issued{std::move(row)});
}

bool event_tickets_book::move(const event_ticket_id& id, event_ticket_trigger trigger, timestamp now,
                              changes& out) {
  auto& row = rows_[by_id_[place_of(id)]];
  const auto from = row.status;
  const auto to = next(event_ticket_rules, from, trigger);
  if (!to || trigger == event_ticket_trigger::transfer) return false;
  row.status = *to;
  row.updated_at = now;
  out.emplace_back(std::in_place_type<event_ticket_moved>, event_ticket_moved{from, row});
  return true;
}

} // namespace fq
