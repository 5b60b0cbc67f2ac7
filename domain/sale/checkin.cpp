// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/checkin.hpp"

#include <algorithm>
#include <tuple>

namespace fq {
namespace {

bool is_before(const scan_row* a, const scan_row* b) {
  return std::tie(a->at, a->id) < std::tie(b->at, b->id);
}

/// Later scans can explain these: an exit that was not known yet, or an entry.
bool is_about_order(scan_objection o) {
  return o == scan_objection::none || o == scan_objection::already_in || o == scan_objection::not_in;
}

} // namespace

bool are_in_conflict(std::span<const scan_row* const> scans) {
  const auto is_second_entry = [](const scan_row* a, const scan_row* b) {
    return a->type == scan_type::entry && b->type == scan_type::entry;
  };
  return std::ranges::any_of(scans, [](const scan_row* s) { return !is_about_order(s->objection); })
         || std::ranges::adjacent_find(scans, is_second_entry) != scans.end();
}

void checkin_book::load(const scan_row& row) {
  const auto [stored, is_new] = scans_.emplace(row.id, row);
  if (!is_new) return;
  ++scans_of_[row.device];
  auto& counts = counts_[row.list];
  if (!row.is_admitted) {
    ++counts.refused;
    ++refused_;
    return;
  }
  ++(row.type == scan_type::entry ? counts.entries : counts.exits);
  auto& scans = admitted_[row.ticket];
  const scan_row* added = &stored->second;
  scans.insert(std::ranges::upper_bound(scans, added, is_before), added);
  if (are_in_conflict(scans))
    conflicts_.insert(row.ticket);
  else
    conflicts_.erase(row.ticket);
}

const checkin_list_row* checkin_book::find_list(const checkin_list_id& id) const {
  const auto i = lists_.find(id);
  return i == lists_.end() ? nullptr : &i->second;
}

const checkin_device_row* checkin_book::find_device(const checkin_device_id& id) const {
  const auto i = devices_.find(id);
  return i == devices_.end() ? nullptr : &i->second;
}

const scan_row* checkin_book::find(const scan_id& id) const {
  const auto i = scans_.find(id);
  return i == scans_.end() ? nullptr : &i->second;
}

scan_counts checkin_book::counts(const checkin_list_id& list) const {
  const auto i = counts_.find(list);
  return i == counts_.end() ? scan_counts{} : i->second;
}

std::size_t checkin_book::scans_of(const checkin_device_id& device) const {
  const auto i = scans_of_.find(device);
  return i == scans_of_.end() ? 0 : i->second;
}

std::span<const scan_row* const> checkin_book::of_ticket(const event_ticket_id& ticket) const {
  const auto i = admitted_.find(ticket);
  return i == admitted_.end() ? std::span<const scan_row* const>{} : i->second;
}

void checkin_book::store(checkin_list_row row, changes& out) {
  load(row);
  out.emplace_back(std::in_place_type<checkin_list_stored>, checkin_list_stored{std::move(row)});
}

void checkin_book::store(checkin_device_row row, changes& out) {
  load(row);
  out.emplace_back(std::in_place_type<checkin_device_stored>, checkin_device_stored{std::move(row)});
}

void checkin_book::record(scan_row row, changes& out) {
  load(row);
  out.emplace_back(std::in_place_type<scan_recorded>, scan_recorded{std::move(row)});
}

} // namespace fq
