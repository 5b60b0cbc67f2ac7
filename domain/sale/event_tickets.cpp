// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/event_tickets.hpp"

#include <algorithm>
#include <functional>

namespace fq {

void event_tickets_book::load(const event_ticket_row& row) {
  const auto& stored = rows_.emplace_hint(rows_.end(), row.id, row)->second; // most are newer than all before
  auto& of_claim = by_claim_[row.claim];
  of_claim.insert(std::ranges::upper_bound(of_claim, row.id, {}, &event_ticket_row::id), &stored);
}

const event_ticket_row* event_tickets_book::find(const event_ticket_id& id) const {
  const auto i = rows_.find(id);
  return i == rows_.end() ? nullptr : &i->second;
}

std::span<const event_ticket_row* const> event_tickets_book::of_claim(const claim_id& claim) const {
  const auto i = by_claim_.find(claim);
  return i == by_claim_.end() ? std::span<const event_ticket_row* const>{} : i->second;
}

std::size_t event_tickets_book::count_valid(const claim_id& claim, std::uint32_t ticket_type) const {
  return static_cast<std::size_t>(std::ranges::count_if(of_claim(claim), [&](const event_ticket_row* row) {
    return row->ticket_type == ticket_type && is_valid(row->status);
  }));
}

std::vector<event_ticket_id> event_tickets_book::first_to_cancel(const claim_id& claim,
                                                                 std::uint32_t ticket_type,
                                                                 std::size_t count) const {
  std::vector<event_ticket_id> chosen;
  if (count == 0) return chosen;
  std::vector<const event_ticket_row*> unused, used;
  const auto all = of_claim(claim);
  for (auto i = all.rbegin(); i != all.rend(); ++i) {
    const auto& row = **i;
    if (row.ticket_type != ticket_type || !is_valid(row.status)) continue;
    const bool was_in =
      row.status == event_ticket_status::checked_in || row.status == event_ticket_status::checked_out;
    (was_in ? used : unused).push_back(&row);
  }
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
  auto& row = rows_.at(id);
  const auto from = row.status;
  const auto to = next(event_ticket_rules, from, trigger);
  if (!to) return false;
  row.status = *to;
  row.updated_at = now;
  out.emplace_back(std::in_place_type<event_ticket_moved>, event_ticket_moved{from, row});
  return true;
}

} // namespace fq
