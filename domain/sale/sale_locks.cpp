// SPDX-License-Identifier: Apache-2.0
// A standalone queue's decisions about names that sessions lock.
#include "domain/sale/sale.hpp"

#include "domain/base/planted.hpp"

namespace fq {

sale::locked sale::lock(queue_number n, std::uint32_t admission_no, const std::string& name, timestamp now,
                        decision& out) {
  const auto* e = session_of(n, admission_no);
  if (e == nullptr) return {reason::not_admitted};
  const auto* known = locks_.find(name);
  if (known != nullptr && known->number == n) return {{}, false, *known};
  if (known != nullptr && !planted(bug::lock_given_twice)) return {reason::lock_held};
  if (locks_.of(n).size() >= event_.queue.locks_per_session) {
    refusal no{reason::locks_exhausted};
    no.first = event_.queue.locks_per_session;
    return {std::move(no)};
  }
  const session_lock_row row{name, n, now};
  if (known != nullptr) return {{}, true, row};
  locks_.add(row);
  out.content.emplace_back(lock_taken{row});
  out.reveals = true;
  return {{}, true, row};
}

refusal sale::unlock(queue_number n, std::uint32_t admission_no, const std::string& name, decision& out) {
  if (session_of(n, admission_no) == nullptr) return reason::not_admitted;
  const auto* known = locks_.find(name);
  if (known != nullptr && known->number == n) free_lock(name, out);
  return {};
}

/// Null: it is over, or another one.
const queue_line::entry* sale::session_of(queue_number n, std::uint32_t admission_no) const {
  const auto* e = queue_.find(n);
  const bool is_it =
    e != nullptr && e->status == entry_status::admitted && e->session().admission_no == admission_no;
  return is_it ? e : nullptr;
}

void sale::free_lock(const std::string& name, decision& out) {
  out.content.emplace_back(lock_freed{name});
  out.reveals = true;
  locks_.remove(name);
}

/// A program that does not know locks has ended their sessions.
void sale::find_lost_locks() {
  for (const auto& [name, row] : locks_.all()) {
    const auto* e = queue_.find(row.number);
    if (e == nullptr || e->status != entry_status::admitted) lost_locks_.push_back(name);
  }
}

void sale::free_lost_locks(decision& out) {
  for (std::size_t n = 0; n < rules_.bounds.rows_per_run && !lost_locks_.empty(); ++n) {
    free_lock(lost_locks_.back(), out);
    lost_locks_.pop_back();
  }
}

} // namespace fq
