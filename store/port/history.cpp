// SPDX-License-Identifier: Apache-2.0
// State texts by kind, from domain/model/states, and counters of a batch.
#include "store/port/history.hpp"

#include "domain/model/states.hpp"

#include <algorithm>

namespace fq {

std::string name_of(history_kind kind) {
  switch (kind) {
    case history_kind::event: return "event";
    case history_kind::entry: return "entry";
    case history_kind::claim: return "claim";
    case history_kind::payment: return "payment";
    case history_kind::refund: return "refund";
    case history_kind::order: return "order";
    case history_kind::event_ticket: return "event ticket";
  }
  return {};
}

std::string state_name(history_kind kind, std::uint8_t status) {
  switch (kind) {
    case history_kind::event: return std::string{name_of(static_cast<event_status>(status))};
    case history_kind::entry: return std::string{name_of(static_cast<entry_status>(status))};
    case history_kind::claim: return std::string{name_of(static_cast<claim_status>(status))};
    case history_kind::payment: return std::string{name_of(static_cast<payment_status>(status))};
    case history_kind::refund: return std::string{name_of(static_cast<refund_status>(status))};
    case history_kind::order: return std::string{name_of(static_cast<order_status>(status))};
    case history_kind::event_ticket: return std::string{name_of(static_cast<event_ticket_status>(status))};
  }
  return {};
}

bool is_plain_join(const entry_row& r) {
  return r.status == entry_status::waiting && !r.has_claimed && r.admission_no == 0 && r.admission_batch == 0
         && !is_set(r.admitted_at) && !is_set(r.session_expires_at) && !is_set(r.claim_by)
         && !is_set(r.ended_at);
}

std::int64_t live_entries_gained(const batch& b) {
  std::int64_t gained = 0;
  for (const auto& c : b.content)
    if (const auto* joined = std::get_if<entry_joined>(&c))
      gained += is_live(joined->row.status) ? 1 : 0;
    else if (const auto* moved = std::get_if<entry_moved>(&c))
      gained += (is_live(moved->row.status) ? 1 : 0) - (is_live(moved->from) ? 1 : 0);
  return gained;
}

line_totals totals_gained(const batch& b) {
  line_totals gained;
  gained.first_kept = {};
  for (const auto& c : b.content)
    if (const auto* joined = std::get_if<entry_joined>(&c)) {
      const auto& row = joined->row;
      add(gained, {row.number,
                   {},
                   is_set(row.admitted_at),
                   row.status == entry_status::completed,
                   row.admission_batch});
    } else if (const auto* moved = std::get_if<entry_moved>(&c)) {
      const auto reached = [&](entry_status s) { return moved->row.status == s && moved->from != s; };
      add(gained, {{},
                   {},
                   reached(entry_status::admitted),
                   reached(entry_status::completed),
                   moved->row.admission_batch});
    } else if (const auto* forgotten = std::get_if<entries_forgotten>(&c)) {
      add(gained, {{}, forgotten->first_kept, 0, 0, 0});
    }
  return gained;
}

void add(line_totals& to, const line_totals& gained) {
  to.last_number = std::max(to.last_number, gained.last_number);
  to.first_kept = std::max(to.first_kept, gained.first_kept);
  to.admitted += gained.admitted;
  to.completed += gained.completed;
  to.last_batch = std::max(to.last_batch, gained.last_batch);
}

} // namespace fq
