// SPDX-License-Identifier: Apache-2.0
#include "domain/line/queue.hpp"

#include "domain/base/planted.hpp"
#include "domain/line/limits.hpp"

#include <algorithm>
#include <bit>

namespace fq {

queue_line::entry::entry(const entry_row& row) :
    subject(row.subject),
    number(row.number),
    status(row.status),
    priority_class(row.priority_class),
    join_key(row.join_key),
    joined_at(row.joined_at),
    ended_at(row.ended_at),
    subject_name_(row.subject_name) {
  const entry_session s{row.admitted_at,
                        row.session_expires_at,
                        row.claim_by,
                        row.admission_no,
                        row.admission_batch,
                        row.reclaims,
                        0,
                        row.has_claimed};
  if (s != no_session) own_session() = s;
}

entry_row queue_line::entry::row() const {
  const auto& s = session();
  return {.number = number,
          .subject = subject,
          .subject_name = subject_name_,
          .join_key = join_key,
          .joined_at = joined_at,
          .admitted_at = s.admitted_at,
          .session_expires_at = s.session_expires_at,
          .ended_at = ended_at,
          .claim_by = s.claim_by,
          .admission_no = s.admission_no,
          .admission_batch = s.admission_batch,
          .priority_class = priority_class,
          .status = status,
          .has_claimed = s.has_claimed,
          .reclaims = s.reclaims};
}

entry_session& queue_line::entry::own_session() {
  if (!session_) session_ = std::make_unique<entry_session>();
  return *session_;
}

/// Memory that the index needs is fetched so many entries ahead.
constexpr std::size_t loads_ahead = 8;

/// Adds the entry in its present state to the counts, or (-1) takes it out.
void queue_line::count(const entry& e, int delta) {
  const auto add = [delta](std::uint64_t& n) { n += static_cast<std::uint64_t>(delta); };
  auto& group = groups_[e.group];
  if (is_live(e.status)) add(group.members);
  switch (e.status) {
    case entry_status::waiting: add(group.waiting); return add(counts_.waiting);
    case entry_status::away: return add(counts_.away);
    case entry_status::admitted:
      add(e.live_claims() > 0 ? counts_.admitted_with_claim : group.unclaimed);
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
  e = entry{row};
  newest_.put(row.subject, row.number, subject_of());
  last_number_ = std::max(last_number_, value_of(row.number));
  count(e, 1);
  if (is_in_line(row.status)) enter_line(e);
  if (row.party != queue_number{}) parties_.enter(row.number, row.party, is_in_line(row.status));
  return e;
}

void queue_line::enter_line(const entry& e) {
  const auto rank = ranks_.rank_of(e.number);
  in_line_[e.priority_class].insert(rank);
  if (e.status == entry_status::waiting) waiting_with(e).insert(rank);
}

entry_row queue_line::row_of(const entry& e) const {
  auto row = e.row();
  row.party = parties_.party_of(e.number);
  return row;
}

/// The entry is admitted, or its session has got a new end.
void queue_line::begin_session(const entry& e) {
  const auto& s = e.session();
  session_deadlines_.emplace(deadline_of(s), e.number);
  count_session(digests_, e.number, s.admission_no, e.subject, e.joined_at, deadline_of(s), e.subject_name(),
                1);
}

/// Before the session or its end changes.
void queue_line::end_session(const entry& e) {
  const auto& s = e.session();
  session_deadlines_.erase({deadline_of(s), e.number});
  count_session(digests_, e.number, s.admission_no, e.subject, e.joined_at, deadline_of(s), e.subject_name(),
                -1);
}

void queue_line::load(const line_totals& totals) {
  last_number_ = counts_.joined_total = value_of(totals.last_number);
  first_chunk_ = last_number_ / chunk_size;
  counts_.admitted_total = totals.admitted;
  counts_.completed_total = totals.completed;
  last_batch_ = totals.last_batch;
}

void queue_line::load(const entry_row& row) {
  const auto& e = append(row);
  if (row.status == entry_status::admitted) begin_session(e);
  if (is_set(row.admitted_at)) window_.record(row.admitted_at, 1);
}

void queue_line::load(std::span<const entry_row> rows) {
  newest_.reserve(rows.size(), subject_of());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + 2 * loads_ahead < rows.size()) newest_.prefetch(rows[i + 2 * loads_ahead].subject);
    if (i + loads_ahead < rows.size()) newest_.prefetch(rows[i + loads_ahead].subject, subject_of());
    load(rows[i]);
  }
}

void queue_line::draw(line_ranks ranks) {
  ranks_ = std::move(ranks);
  in_line_ = {};
  for (auto& group : waiting_) group = {};
  each([this](const entry& e) {
    if (!is_in_line(e.status)) return;
    const auto rank = ranks_.rank_of(e.number);
    in_line_[e.priority_class].mark(rank);
    if (e.status == entry_status::waiting) waiting_with(e).mark(rank);
  });
  const auto count_all = [](by_class& sets) {
    for (auto& set : sets) set.count_marks();
  };
  count_all(in_line_);
  for (auto& group : waiting_) count_all(group);
}

line_totals queue_line::totals() const {
  return {last_number(), first_kept(), counts_.admitted_total, counts_.completed_total, last_batch_};
}

const queue_line::entry* queue_line::find(queue_number n) const {
  const auto index = (value_of(n) - 1) / chunk_size - first_chunk_; // huge for a lower number
  if (value_of(n) == 0 || index >= chunks_.size() || !chunks_[index]) return nullptr;
  const auto& e = at(n);
  return e.number == n ? &e : nullptr;
}

const queue_line::entry* queue_line::find(const subject_key& subject) const {
  const auto n = newest_.find(subject, subject_of());
  return n ? find(*n) : nullptr;
}

void queue_line::forget(queue_number n) {
  newest_.erase(n, subject_of());
  parties_.forget(n);
  auto& own = chunk_of(n);
  at(n) = {};
  if (--own->used == 0) own = nullptr;
  while (!chunks_.empty() && !chunks_.front()) {
    chunks_.pop_front();
    ++first_chunk_;
  }
}

std::uint64_t queue_line::position(const entry& e) const {
  auto p = in_line_[e.priority_class].place(ranks_.rank_of(e.number));
  for (std::size_t c = 0; c < e.priority_class; ++c) p += in_line_[c].size();
  return p;
}

bool queue_line::overtakes(std::uint8_t priority_class) const {
  return !std::all_of(in_line_.begin() + priority_class + 1, in_line_.end(),
                      [](const rank_set& line) { return line.empty(); });
}

timestamp queue_line::next_session_deadline() const {
  return session_deadlines_.empty() ? never : session_deadlines_.begin()->first;
}

const queue_line::entry* queue_line::first(std::size_t group) const {
  for (const auto& line : waiting_[group])
    if (const auto rank = line.first()) {
      const auto* e = find(ranks_.number_at(*rank));
      if (planted(bug::order_by_timestamp))
        for (auto m = value_of(e->number) + 1; const auto* other = find(queue_number{m}); ++m)
          if (other->status == entry_status::waiting && other->joined_at == e->joined_at) e = other;
      return e;
    }
  return nullptr;
}

const queue_line::entry* queue_line::oldest() const {
  std::optional<line_rank> lowest;
  for (const auto& line : in_line_)
    if (const auto rank = line.first(); rank && (!lowest || *rank < *lowest)) lowest = rank;
  return lowest ? find(ranks_.number_at(*lowest)) : nullptr;
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
  const bool waits = e.status == entry_status::waiting;
  const auto rank = ranks_.rank_of(n);
  count(e, -1);
  if (waits) waiting_with(e).erase(rank);
  e.group = static_cast<std::uint8_t>(to);
  if (waits) waiting_with(e).insert(rank);
  count(e, 1);
  return true;
}

const queue_line::entry& queue_line::join(const subject_key& subject, std::uint64_t join_key, timestamp now,
                                          changes& out, std::string subject_name, std::uint8_t priority_class,
                                          queue_number party) {
  entry_row row;
  row.number = queue_number{last_number_ + 1};
  row.priority_class = priority_class;
  row.subject = subject;
  row.subject_name = std::move(subject_name);
  row.join_key = join_key;
  row.joined_at = now;
  row.party = party;
  auto& e = append(row);
  ++counts_.joined_total;
  arrivals_.record(now, 1);
  arrivals_.forget_before(now - arrival_memory);
  out.emplace_back(std::in_place_type<entry_joined>, std::move(row));
  return e;
}

void queue_line::set_party(queue_number n, queue_number party, changes& out) {
  const auto& e = at(n);
  parties_.forget(n);
  parties_.enter(n, party, true);
  out.emplace_back(std::in_place_type<entry_moved>, e.status, row_of(e));
}

void queue_line::set_class(queue_number n, std::uint8_t priority_class, changes& out) {
  auto& e = at(n);
  const auto rank = ranks_.rank_of(n);
  in_line_[e.priority_class].erase(rank);
  if (e.status == entry_status::waiting) waiting_with(e).erase(rank);
  e.priority_class = priority_class;
  enter_line(e);
  out.emplace_back(std::in_place_type<entry_moved>, e.status, row_of(e));
}

std::vector<queue_number> queue_line::admit(std::uint64_t count_wanted, const next_entry& next, timestamp now,
                                            const queue_settings& q, changes& out) {
  std::vector<queue_number> admitted;
  const auto batch = last_batch_ + 1;
  while (admitted.size() < count_wanted) {
    const auto* head = next();
    if (head == nullptr) break;
    auto& e = at(head->number);
    const auto from = e.status;
    const auto rank = ranks_.rank_of(e.number);
    in_line_[e.priority_class].erase(rank);
    waiting_with(e).erase(rank);
    parties_.left_line(e.number);
    count(e, -1);
    e.status = entry_status::admitted;
    auto& s = e.own_session();
    s.admitted_at = now;
    s.session_expires_at = now + q.session_ttl;
    s.claim_by = now + std::min(q.claim_window, q.session_ttl);
    s.admission_batch = batch;
    ++s.admission_no;
    count(e, 1);
    begin_session(e);
    out.emplace_back(std::in_place_type<entry_moved>, from, row_of(e));
    admitted.push_back(e.number);
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
  const auto from = e.status;
  const auto to = next(entry_rules, from, trigger);
  if (!to) return false;
  const auto rank = ranks_.rank_of(n);
  if (from == entry_status::waiting) waiting_with(e).erase(rank);
  if (is_in_line(from) && !is_in_line(*to)) {
    in_line_[e.priority_class].erase(rank);
    parties_.left_line(n);
  }
  if (from == entry_status::admitted) end_session(e);
  count(e, -1);
  e.status = *to;
  count(e, 1);
  if (*to == entry_status::waiting) waiting_with(e).insert(rank);
  if (!is_live(*to)) e.ended_at = now;
  if (*to == entry_status::completed) ++counts_.completed_total;
  out.emplace_back(std::in_place_type<entry_moved>, from, row_of(e));
  return true;
}

void queue_line::claim_opened(queue_number n, changes& out) {
  restore_claim(n);
  auto& e = at(n);
  if (e.session().has_claimed || e.status != entry_status::admitted) return;
  end_session(e);
  e.own_session().has_claimed = true;
  begin_session(e);
  auto* admitted = out.empty() ? nullptr : std::get_if<entry_moved>(&out.back());
  if (admitted != nullptr && admitted->row.number == n) // in this decision: one change does for both
    admitted->row = row_of(e);
  else
    out.emplace_back(std::in_place_type<entry_moved>, e.status, row_of(e));
}

void queue_line::claim_closed(queue_number n) {
  auto& e = at(n);
  if (e.live_claims() == 0) return;
  count(e, -1);
  --e.own_session().live_claims;
  count(e, 1);
}

bool queue_line::claim_returned(queue_number n, timestamp now, const queue_settings& q, changes& out) {
  auto& e = at(n);
  auto& s = e.own_session();
  if (q.reclaim_window.count() == 0 || s.reclaims >= q.reclaims_max) return false;
  end_session(e);
  s.has_claimed = false;
  s.claim_by = std::min(now + q.reclaim_window, s.session_expires_at);
  ++s.reclaims;
  begin_session(e);
  out.emplace_back(std::in_place_type<entry_moved>, e.status, row_of(e));
  return true;
}

void queue_line::restore_claim(queue_number n) {
  auto& e = at(n);
  count(e, -1);
  ++e.own_session().live_claims;
  count(e, 1);
}

std::vector<queue_number> queue_line::sessions_due(timestamp now, std::size_t limit) const {
  std::vector<queue_number> due;
  for (auto i = session_deadlines_.begin();
       i != session_deadlines_.end() && i->first <= now && due.size() < limit; ++i)
    due.push_back(i->second);
  return due;
}

} // namespace fq
