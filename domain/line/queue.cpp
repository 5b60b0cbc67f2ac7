// SPDX-License-Identifier: Apache-2.0
#include "domain/line/queue.hpp"

#include "domain/base/planted.hpp"
#include "domain/line/limits.hpp"

#include <algorithm>
#include <bit>

namespace fq {

/// Adds the entry in its present state to the counts, or (-1) takes it out.
void queue_line::count(const entry& e, int delta) {
  const auto add = [delta](std::uint64_t& n) { n += static_cast<std::uint64_t>(delta); };
  auto& group = groups_[e.group];
  if (is_live(e.row.status)) add(group.members);
  switch (e.row.status) {
    case entry_status::waiting: add(group.waiting); return add(counts_.waiting);
    case entry_status::away: return add(counts_.away);
    case entry_status::admitted:
      add(e.live_claims > 0 ? counts_.admitted_with_claim : group.unclaimed);
      return add(counts_.admitted);
    case entry_status::completed:
    case entry_status::expired:
    case entry_status::cancelled:
    case entry_status::session_expired:
    case entry_status::revoked: return;
  }
}

queue_line::entry& queue_line::append(const entry_row& row) {
  const auto index = (value_of(row.number) - 1) / chunk_size;
  if (chunks_.empty()) first_chunk_ = index;
  while (first_chunk_ + chunks_.size() <= index) chunks_.emplace_back();
  auto& own = chunk_of(row.number);
  if (!own) own = std::make_unique<chunk>();
  ++own->used;
  auto& e = at(row.number);
  e.row = row;
  newest_.put(row.subject, row.number, subject_of());
  last_number_ = std::max(last_number_, value_of(row.number));
  count(e, 1);
  if (is_in_line(row.status)) enter_line(e);
  return e;
}

void queue_line::enter_line(const entry& e) {
  in_line_[e.row.priority_class].insert(e.row.number);
  if (e.row.status == entry_status::waiting) waiting_[e.group][e.row.priority_class].insert(e.row.number);
}

void queue_line::load(const line_totals& totals) {
  last_number_ = counts_.joined_total = value_of(totals.last_number);
  first_chunk_ = last_number_ / chunk_size;
  counts_.admitted_total = totals.admitted;
  counts_.completed_total = totals.completed;
  last_batch_ = totals.last_batch;
}

void queue_line::load(const entry_row& row) {
  append(row);
  if (row.status == entry_status::admitted) session_deadlines_.emplace(deadline_of(row), row.number);
  if (is_set(row.admitted_at)) window_.record(row.admitted_at, 1);
}

line_totals queue_line::totals() const {
  return {last_number(), first_kept(), counts_.admitted_total, counts_.completed_total, last_batch_};
}

const queue_line::entry* queue_line::find(queue_number n) const {
  const auto index = (value_of(n) - 1) / chunk_size - first_chunk_; // huge for a lower number
  if (value_of(n) == 0 || index >= chunks_.size() || !chunks_[index]) return nullptr;
  const auto& e = at(n);
  return e.row.number == n ? &e : nullptr;
}

const queue_line::entry* queue_line::find(const subject_key& subject) const {
  const auto n = newest_.find(subject, subject_of());
  return n ? find(*n) : nullptr;
}

void queue_line::forget(queue_number n) {
  newest_.erase(n, subject_of());
  auto& own = chunk_of(n);
  at(n) = {};
  if (--own->used == 0) own = nullptr;
  while (!chunks_.empty() && !chunks_.front()) {
    chunks_.pop_front();
    ++first_chunk_;
  }
}

std::uint64_t queue_line::position(const entry& e) const {
  auto p = in_line_[e.row.priority_class].rank(e.row.number);
  for (std::size_t c = 0; c < e.row.priority_class; ++c) p += in_line_[c].size();
  return p;
}

bool queue_line::overtakes(std::uint8_t priority_class) const {
  return !std::all_of(in_line_.begin() + priority_class + 1, in_line_.end(),
                      [](const number_set& line) { return line.empty(); });
}

timestamp queue_line::next_session_deadline() const {
  return session_deadlines_.empty() ? never : session_deadlines_.begin()->first;
}

const queue_line::entry* queue_line::first(std::size_t group) const {
  for (const auto& line : waiting_[group])
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
  for (const auto& line : in_line_)
    if (const auto n = line.first(); n && (!lowest || *n < *lowest)) lowest = n;
  return lowest ? find(*lowest) : nullptr;
}

std::size_t queue_line::group_for(hidden_types opens) {
  std::size_t best = 0, unused = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const auto& group = groups_[g];
    if (group.opens == opens) return g;
    if (g > 0 && group.members == 0) unused = g;
    if ((group.opens & ~opens) == 0 && std::popcount(group.opens) > std::popcount(groups_[best].opens))
      best = g;
  }
  if (unused == 0 && groups_.size() == groups_max) return best;
  if (unused == 0) {
    unused = groups_.size();
    groups_.emplace_back();
    waiting_.emplace_back();
  }
  groups_[unused].opens = opens;
  return unused;
}

bool queue_line::set_hidden_types(queue_number n, hidden_types opens) {
  auto& e = at(n);
  const auto to = group_for(opens);
  if (to == e.group) return false;
  const auto move_waiting = [&](auto step) {
    if (e.row.status == entry_status::waiting) step(waiting_[e.group][e.row.priority_class]);
  };
  count(e, -1);
  move_waiting([n](number_set& line) { line.erase(n); });
  e.group = static_cast<std::uint8_t>(to);
  move_waiting([n](number_set& line) { line.insert(n); });
  count(e, 1);
  return true;
}

const queue_line::entry& queue_line::join(const subject_key& subject, std::uint64_t join_key, timestamp now,
                                          changes& out, std::string subject_name,
                                          std::uint8_t priority_class) {
  entry_row row;
  row.number = queue_number{last_number_ + 1};
  row.priority_class = priority_class;
  row.subject = subject;
  row.subject_name = std::move(subject_name);
  row.join_key = join_key;
  row.joined_at = now;
  auto& e = append(row);
  ++counts_.joined_total;
  arrivals_.record(now, 1);
  arrivals_.forget_before(now - arrival_memory);
  out.emplace_back(std::in_place_type<entry_joined>, entry_joined{row});
  return e;
}

std::vector<queue_number> queue_line::admit(std::uint64_t count_wanted, const next_entry& next, timestamp now,
                                            const queue_settings& q, changes& out) {
  std::vector<queue_number> admitted;
  const auto batch = last_batch_ + 1;
  while (admitted.size() < count_wanted) {
    const auto* head = next();
    if (head == nullptr) break;
    auto& e = at(head->row.number);
    const auto from = e.row.status;
    in_line_[e.row.priority_class].erase(e.row.number);
    waiting_[e.group][e.row.priority_class].erase(e.row.number);
    count(e, -1);
    e.row.status = entry_status::admitted;
    e.row.admitted_at = now;
    e.row.session_expires_at = now + q.session_ttl;
    e.row.claim_by = now + std::min(q.claim_window, q.session_ttl);
    e.row.admission_batch = batch;
    ++e.row.admission_no;
    count(e, 1);
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
  if (from == entry_status::waiting) waiting_[e.group][e.row.priority_class].erase(n);
  if (is_in_line(from) && !is_in_line(*to)) in_line_[e.row.priority_class].erase(n);
  if (from == entry_status::admitted) session_deadlines_.erase({deadline_of(e.row), n});
  count(e, -1);
  e.row.status = *to;
  count(e, 1);
  if (*to == entry_status::waiting) waiting_[e.group][e.row.priority_class].insert(n);
  if (!is_live(*to)) e.row.ended_at = now;
  if (*to == entry_status::completed) ++counts_.completed_total;
  out.emplace_back(std::in_place_type<entry_moved>, entry_moved{from, e.row});
  return true;
}

void queue_line::claim_opened(queue_number n, changes& out) {
  restore_claim(n);
  auto& e = at(n);
  if (e.row.has_claimed || e.row.status != entry_status::admitted) return;
  session_deadlines_.erase({deadline_of(e.row), n});
  e.row.has_claimed = true;
  session_deadlines_.emplace(deadline_of(e.row), n);
  out.emplace_back(std::in_place_type<entry_moved>, entry_moved{e.row.status, e.row});
}

void queue_line::claim_closed(queue_number n) {
  auto& e = at(n);
  if (e.live_claims == 0) return;
  count(e, -1);
  --e.live_claims;
  count(e, 1);
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
  count(e, -1);
  ++e.live_claims;
  count(e, 1);
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
