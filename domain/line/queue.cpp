// SPDX-License-Identifier: Apache-2.0
#include "domain/line/queue.hpp"

#include "domain/base/planted.hpp"
#include "domain/line/limits.hpp"

#include <algorithm>

namespace fq {

void queue_line::count(entry_status s, std::int64_t delta) {
  auto add = [delta](std::uint64_t& n) {
    n = static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + delta);
  };
  switch (s) {
    case entry_status::waiting: return add(counts_.waiting);
    case entry_status::away: return add(counts_.away);
    case entry_status::admitted: return add(counts_.admitted);
    case entry_status::completed: return add(counts_.completed_total);
    case entry_status::expired:
    case entry_status::cancelled:
    case entry_status::session_expired:
    case entry_status::revoked: return;
  }
}

queue_line::entry& queue_line::append(const entry_row& row) {
  while (size_ < value_of(row.number)) {
    if (size_ % chunk_size == 0) chunks_.push_back(std::make_unique<chunk>());
    ++size_;
  }
  auto& e = at(row.number);
  e.row = row;
  newest_[row.subject] = row.number;
  ++counts_.joined_total;
  count(row.status, 1);
  return e;
}

void queue_line::enter_line(const entry_row& row) { order_[row.priority_class].append(row.number); }

void queue_line::load(const entry_row& row) {
  append(row);
  if (is_in_line(row.status)) {
    enter_line(row);
    if (row.status == entry_status::away) order_[row.priority_class].set_away(row.number, true);
  }
  if (row.status == entry_status::admitted) session_deadlines_.emplace(deadline_of(row), row.number);
  if (!is_set(row.admitted_at)) return;
  ++counts_.admitted_total;
  window_.record(row.admitted_at, 1);
  last_batch_ = std::max(last_batch_, row.admission_batch);
}

const queue_line::entry* queue_line::find(queue_number n) const {
  if (value_of(n) == 0 || value_of(n) > size_) return nullptr;
  const auto& e = at(n);
  return e.row.number == n ? &e : nullptr;
}

const queue_line::entry* queue_line::find(const subject_key& subject) const {
  const auto i = newest_.find(subject);
  return i == newest_.end() ? nullptr : find(i->second);
}

std::uint64_t queue_line::position(const entry& e) const {
  std::uint64_t before = 0;
  for (std::size_t c = 0; c < e.row.priority_class; ++c) before += order_[c].size();
  return before + order_[e.row.priority_class].rank(e.row.number);
}

bool queue_line::overtakes(std::uint8_t priority_class) const {
  return std::any_of(order_.begin() + priority_class + 1, order_.end(),
                     [](const line_rank& line) { return line.size() > 0; });
}

timestamp queue_line::next_session_deadline() const {
  return session_deadlines_.empty() ? never : session_deadlines_.begin()->first;
}

const queue_line::entry* queue_line::first() const {
  for (const auto& line : order_)
    if (const auto n = line.first()) {
      const auto* e = find(*n);
      if (planted(bug::order_by_timestamp))
        for (auto m = value_of(*n) + 1; const auto* other = find(queue_number{m}); ++m)
          if (other->row.status == entry_status::waiting && other->row.joined_at == e->row.joined_at)
            e = other;
      return e;
    }
  return nullptr;
}

const queue_line::entry* queue_line::oldest() const {
  std::optional<queue_number> lowest;
  for (const auto& line : order_)
    if (const auto n = line.first_in_line(); n && (!lowest || *n < *lowest)) lowest = n;
  return lowest ? find(*lowest) : nullptr;
}

const queue_line::entry& queue_line::join(const subject_key& subject, std::uint64_t join_key, timestamp now,
                                          changes& out, std::string subject_name,
                                          std::uint8_t priority_class) {
  entry_row row;
  row.number = queue_number{size_ + 1};
  row.priority_class = priority_class;
  row.subject = subject;
  row.subject_name = std::move(subject_name);
  row.join_key = join_key;
  row.joined_at = now;
  auto& e = append(row);
  enter_line(row);
  arrivals_.record(now, 1);
  arrivals_.forget_before(now - arrival_memory);
  out.emplace_back(std::in_place_type<entry_joined>, entry_joined{row});
  return e;
}

std::vector<queue_number> queue_line::admit(std::uint64_t count_wanted, timestamp now,
                                            const queue_settings& q, changes& out) {
  std::vector<queue_number> admitted;
  const auto batch = last_batch_ + 1;
  while (admitted.size() < count_wanted) {
    const auto* head = first();
    if (head == nullptr) break;
    auto& e = at(head->row.number);
    const auto from = e.row.status;
    order_[e.row.priority_class].remove(e.row.number);
    count(from, -1);
    e.row.status = entry_status::admitted;
    e.row.admitted_at = now;
    e.row.session_expires_at = now + q.session_ttl;
    e.row.claim_by = now + std::min(q.claim_window, q.session_ttl);
    e.row.admission_batch = batch;
    ++e.row.admission_no;
    count(e.row.status, 1);
    session_deadlines_.emplace(deadline_of(e.row), e.row.number);
    out.emplace_back(std::in_place_type<entry_moved>, entry_moved{from, e.row});
    admitted.push_back(e.row.number);
  }
  if (admitted.empty()) return admitted;
  last_batch_ = batch;
  counts_.admitted_total += admitted.size();
  window_.record(now, admitted.size());
  window_.forget_before(now - window_memory);
  return admitted;
}

bool queue_line::move(queue_number n, entry_trigger trigger, timestamp now, changes& out) {
  auto& e = at(n);
  const auto from = e.row.status;
  const auto to = next(entry_rules, from, trigger);
  if (!to) return false;
  auto& line = order_[e.row.priority_class];
  if (is_in_line(from) && !is_in_line(*to)) line.remove(n);
  if (is_in_line(from) && is_in_line(*to)) line.set_away(n, *to == entry_status::away);
  if (from == entry_status::admitted) {
    session_deadlines_.erase({deadline_of(e.row), n});
    if (e.live_claims > 0) --counts_.admitted_with_claim;
  }
  count(from, -1);
  count(*to, 1);
  e.row.status = *to;
  if (!is_live(*to)) e.row.ended_at = now;
  out.emplace_back(std::in_place_type<entry_moved>, entry_moved{from, e.row});
  return true;
}

void queue_line::claim_opened(queue_number n, changes& out) {
  auto& e = at(n);
  if (++e.live_claims == 1 && e.row.status == entry_status::admitted) ++counts_.admitted_with_claim;
  if (e.row.has_claimed || e.row.status != entry_status::admitted) return;
  session_deadlines_.erase({deadline_of(e.row), n});
  e.row.has_claimed = true;
  session_deadlines_.emplace(deadline_of(e.row), n);
  out.emplace_back(std::in_place_type<entry_moved>, entry_moved{e.row.status, e.row});
}

void queue_line::claim_closed(queue_number n) {
  auto& e = at(n);
  if (e.live_claims > 0 && --e.live_claims == 0 && e.row.status == entry_status::admitted)
    --counts_.admitted_with_claim;
}

bool queue_line::claim_returned(queue_number n, timestamp now, const queue_settings& q, changes& out) {
  auto& e = at(n);
  if (q.reclaim_window.count() == 0 || e.row.reclaims >= q.reclaims_max) return false;
  session_deadlines_.erase({deadline_of(e.row), n});
  e.row.has_claimed = false;
  e.row.claim_by = std::min(now + q.reclaim_window, e.row.session_expires_at);
  ++e.row.reclaims;
  session_deadlines_.emplace(deadline_of(e.row), n);
  out.emplace_back(std::in_place_type<entry_moved>, entry_moved{e.row.status, e.row});
  return true;
}

void queue_line::restore_claim(queue_number n) {
  auto& e = at(n);
  if (++e.live_claims == 1 && e.row.status == entry_status::admitted) ++counts_.admitted_with_claim;
}

std::vector<queue_number> queue_line::sessions_due(timestamp now, std::size_t limit) const {
  std::vector<queue_number> due;
  for (auto i = session_deadlines_.begin();
       i != session_deadlines_.end() && i->first <= now && due.size() < limit; ++i)
    due.push_back(i->second);
  return due;
}

timestamp deadline_of(const entry_row& row) {
  return row.has_claimed ? row.session_expires_at : row.claim_by;
}

} // namespace fq
