// SPDX-License-Identifier: Apache-2.0
// Commits of the memory ledger with injected faults, and its age.
#include "store/memory/memory_ledger.hpp"

#include "store/memory/memory_applier.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace fq {
namespace {

std::set<aggregate_id> touched_by(std::span<const batch> batches) {
  std::set<aggregate_id> result;
  for (const auto& b : batches) {
    result.insert(b.aggregate);
    for (const auto& c : b.content)
      if (const auto* created = std::get_if<event_created>(&c)) result.insert(created->event.aggregate);
  }
  return result;
}

bool overlap(const std::set<aggregate_id>& a, const std::set<aggregate_id>& b) {
  return std::any_of(a.begin(), a.end(), [&](aggregate_id id) { return b.contains(id); });
}

} // namespace

memory_ledger::memory_ledger(memory_ledger_options options) : options_(std::move(options)) {
  state_.aggregates[accounts_aggregate].image.tenants = {{default_tenant, "default", {}, {}, never}};
  state_.aggregates[catalog_aggregate];
  if (!options_.sync_each_commit) synced_ = state_;
}

memory_ledger::~memory_ledger() = default;

commit_outcome memory_ledger::apply(const batch& b) {
  const auto found = state_.aggregates.find(b.aggregate);
  if (found == state_.aggregates.end()) return commit_outcome::fenced;
  auto& own = found->second;
  const bool is_owner = b.epoch != 0 && b.epoch == own.head.epoch;
  if (!is_owner && !options_.skip_epoch_guard) return commit_outcome::fenced;
  if (b.to_seq <= b.from_seq) return commit_outcome::out_of_order;
  if (own.head.applied_seq != b.from_seq)
    return own.head.applied_seq >= b.to_seq ? commit_outcome::already_applied : commit_outcome::out_of_order;
  if (!applier(state_, own, b).apply_content()) return commit_outcome::conflict;
  own.head.applied_seq = b.to_seq;
  own.head.committed_at = std::max(own.head.committed_at, b.at);
  own.clock_lag = std::max(options_.now() - b.at, milliseconds{0});
  add(own.head.line, totals_gained(b));
  if (options_.on_applied) options_.on_applied(b);
  return commit_outcome::committed;
}

std::vector<commit_outcome> memory_ledger::apply_all(std::span<const batch> batches) {
  std::vector<commit_outcome> outcomes;
  outcomes.reserve(batches.size());
  for (const auto& b : batches) outcomes.push_back(apply(b));
  return outcomes;
}

/// Counts one call. Commits in flight are applied when their calls are over, or when the call touches an
/// aggregate that they lock.
void memory_ledger::pass_a_call(const std::set<aggregate_id>& touched) {
  std::vector<undecided> waiting;
  std::vector<undecided> landing;
  for (auto& u : air_) {
    const bool lands = u.calls_left == 0 || (u.holds_locks && overlap(touched_by(u.batches), touched));
    if (!lands) --u.calls_left;
    (lands ? landing : waiting).push_back(std::move(u));
  }
  air_ = std::move(waiting);
  for (const auto& u : landing) apply_all(u.batches);
}

std::vector<commit_outcome> memory_ledger::commit(std::span<const batch> batches) {
  pass_a_call(touched_by(batches));
  const auto fault = options_.faults.on_commit ? options_.faults.on_commit(batches) : commit_fault{};
  switch (fault.what) {
    case commit_fault::kind::none: return apply_all(batches);
    case commit_fault::kind::unavailable: throw ledger_unavailable("memory ledger: told to fail");
    case commit_fault::kind::busy: return std::vector(batches.size(), commit_outcome::busy);
    case commit_fault::kind::unknown_applied: apply_all(batches); break;
    case commit_fault::kind::unknown_lost: break;
    case commit_fault::kind::unknown_late:
    case commit_fault::kind::unknown_delayed:
      air_.push_back(
        {{batches.begin(), batches.end()}, fault.calls, fault.what == commit_fault::kind::unknown_late});
      break;
  }
  throw commit_unknown("memory ledger: told to leave the commit unknown");
}

/// Erases at most `most` rows older than `before`, oldest first, from the vectors that `rows_of` names.
template <class RowsOf, class TimeOf, class Forget>
std::size_t memory_ledger::prune_rows(RowsOf rows_of, TimeOf time_of_row, timestamp before, std::size_t most,
                                      Forget forget) {
  using place = std::tuple<timestamp, aggregate_id, std::size_t>; // ties: by aggregate, then by insertion
  std::vector<place> old;
  for (auto& [number, state] : state_.aggregates)
    for (std::size_t i = 0; i < rows_of(state).size(); ++i)
      if (const auto at = time_of_row(rows_of(state)[i]); at < before) old.emplace_back(at, number, i);
  std::sort(old.begin(), old.end());
  if (old.size() > most) old.resize(most);
  // From the back of each vector, so that the remaining indexes stay valid.
  const auto later_place = [](const place& a, const place& b) { return std::get<2>(a) > std::get<2>(b); };
  std::sort(old.begin(), old.end(), later_place);
  for (const auto& [at, number, i] : old) {
    auto& rows = rows_of(state_.aggregates.at(number));
    forget(rows[i]);
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return old.size();
}

std::size_t memory_ledger::prune(const prune_bounds& bounds) {
  const auto idempotency = prune_rows(
    [](auto& s) -> auto& { return s.image.idempotency; },
    [](const idempotency_row& r) { return r.created_at; }, bounds.idempotency_before, bounds.limit,
    [](const idempotency_row&) {});
  const auto forget_receipt = [this](const receipt_row& r) {
    state_.receipts.erase({r.gateway, r.gateway_event});
  };
  const auto receipts = prune_rows(
    [](auto& s) -> auto& { return s.image.receipts; }, [](const receipt_row& r) { return r.received_at; },
    bounds.receipts_before, bounds.limit - idempotency, forget_receipt);
  // Undelivered rows are never deleted.
  const auto delivered = prune_rows(
    [](auto& s) -> auto& { return s.outbox; },
    [](const stored_outbox_row& r) { return is_set(r.delivered_at) ? r.delivered_at : timestamp::max(); },
    bounds.outbox_delivered_before, bounds.limit - idempotency - receipts, [](const stored_outbox_row&) {});
  const auto left = bounds.limit - idempotency - receipts - delivered;
  const auto notices = prune_notices(bounds, left);
  const auto entries = prune_entries(bounds.entries_before, left - notices);
  auto gone = idempotency + receipts + delivered + notices + entries;
  gone += prune_statistics(bounds.statistics_before, bounds.limit - gone);
  gone += prune_logs(bounds.logs_before, bounds.limit - gone);
  return gone + prune_personal(bounds, bounds.limit - gone);
}

/// All but the last row of an event.
std::size_t memory_ledger::prune_statistics(timestamp before, std::size_t most) {
  std::vector<std::pair<timestamp, aggregate_id>> due;
  for (const auto& [number, state] : state_.aggregates)
    for (const auto& r : state.statistics)
      if (r.at < before && r.at < state.statistics.back().at) due.emplace_back(r.at, number);
  std::ranges::sort(due);
  if (due.size() > most) due.resize(most);
  for (const auto& [at, number] : due) erase_row(state_.aggregates.at(number).statistics, at);
  return due.size();
}

/// Entries that never had a claim, with their access codes; in standalone queues also the history of as old
/// entries, among the first rows.
std::size_t memory_ledger::prune_entries(timestamp before, std::size_t most) {
  if (!is_set(before)) return 0;
  std::map<aggregate_id, std::size_t> gone;
  const auto end_of = [](const entry_row& r) {
    return is_set(r.ended_at) && !r.has_claimed && r.reclaims == 0 ? r.ended_at : timestamp::max();
  };
  std::vector<std::tuple<timestamp, aggregate_id, queue_number>> due;
  for (const auto& [number, state] : state_.aggregates)
    for (const auto& r : state.image.entries)
      if (end_of(r) < before) due.emplace_back(end_of(r), number, r.number);
  std::ranges::sort(due);
  if (due.size() > most) due.resize(most);
  for (const auto& [at, aggregate, number] : due) {
    auto& image = state_.aggregates.at(aggregate).image;
    erase_row(image.entries, number);
    std::erase_if(image.access, [n = number](const entry_access_row& r) { return r.number == n; });
    ++gone[aggregate];
  }
  for (const auto& [aggregate, count] : gone) {
    auto& state = state_.aggregates.at(aggregate);
    if (!state.image.event || state.image.event->kind != event_kind::queue) continue;
    std::size_t looked = 0;
    std::erase_if(state.history, [&, entries = count](const history_row& r) {
      return looked++ < entries * history_rows_per_entry && r.kind == name_of(history_kind::entry)
             && r.at < before;
    });
  }
  return due.size();
}

void memory_ledger::settle() {
  const auto landing = std::exchange(air_, {});
  for (const auto& u : landing) apply_all(u.batches);
}

void memory_ledger::sync() {
  if (!options_.sync_each_commit) synced_ = state_;
}

void memory_ledger::crash() {
  air_.clear();
  if (!options_.sync_each_commit) state_ = synced_;
}

} // namespace fq
