// SPDX-License-Identifier: Apache-2.0
// Check-in lists, devices and scans of an event in memory. The sale decides what a scan means
// (sale_checkin.cpp).
#pragma once
#include "domain/model/change.hpp"
#include "domain/sale/views.hpp"

#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace fq {

class checkin_book {
public:
  void load(const checkin_list_row& row) { lists_.insert_or_assign(row.id, row); }
  void load(const checkin_device_row& row) { devices_.insert_or_assign(row.id, row); }
  void load(const scan_row& row);

  /// Also removed ones. Null: none.
  [[nodiscard]] const checkin_list_row* find_list(const checkin_list_id& id) const;
  [[nodiscard]] const std::map<checkin_list_id, checkin_list_row>& lists() const { return lists_; }
  /// Also revoked ones. Null: none.
  [[nodiscard]] const checkin_device_row* find_device(const checkin_device_id& id) const;
  [[nodiscard]] const std::map<checkin_device_id, checkin_device_row>& devices() const { return devices_; }

  /// Null: none.
  [[nodiscard]] const scan_row* find(const scan_id& id) const;
  [[nodiscard]] std::size_t scans() const { return scans_.size(); }
  [[nodiscard]] std::size_t refused() const { return refused_; }
  [[nodiscard]] std::size_t scans_of(const checkin_device_id& device) const;
  [[nodiscard]] scan_counts counts(const checkin_list_id& list) const;
  /// Admitted scans of a ticket, by their time at the gate.
  [[nodiscard]] std::span<const scan_row* const> of_ticket(const event_ticket_id& ticket) const;
  /// Tickets that gates let in twice, or against the rules; by id.
  [[nodiscard]] const std::set<event_ticket_id>& conflicts() const { return conflicts_; }

  void store(checkin_list_row row, changes& out);
  void store(checkin_device_row row, changes& out);
  void record(scan_row row, changes& out);

private:
  std::map<checkin_list_id, checkin_list_row> lists_;
  std::map<checkin_device_id, checkin_device_row> devices_;
  std::unordered_map<scan_id, scan_row> scans_;
  std::unordered_map<event_ticket_id, std::vector<const scan_row*>> admitted_;
  std::map<checkin_list_id, scan_counts> counts_;
  std::size_t refused_ = 0;
  std::map<checkin_device_id, std::size_t> scans_of_; ///< recorded ones
  std::set<event_ticket_id> conflicts_;
};

/// `scans`: admitted ones of one ticket, by time. Two entries without an exit between them are a conflict,
/// in whatever order they arrived. So is a scan that the rules forbade for another reason.
[[nodiscard]] bool are_in_conflict(std::span<const scan_row* const> scans);

} // namespace fq
