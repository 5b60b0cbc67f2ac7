// SPDX-License-Identifier: Apache-2.0
// Ownership in the memory ledger: aggregates with their epochs, and outbox partitions. Leases end by the
// ledger's clock; writes of a former owner are refused by their epoch.
#include "store/memory/memory_ledger.hpp"

#include "domain/base/planted.hpp"
#include "store/port/history.hpp"
#include "store/port/ledger_rows.hpp"

namespace fq {
namespace {

template <class Row>
void keep_newest(std::vector<Row>& rows, std::size_t most) {
  if (rows.size() > most) rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(most));
}

std::set<aggregate_id> aggregates_of(std::span<const tenure> tenures) {
  std::set<aggregate_id> all;
  for (const auto& t : tenures) all.insert(t.aggregate);
  return all;
}

} // namespace

bool memory_ledger::held_lease::keeps_out(const std::string& who, timestamp now) const {
  return !who.empty() && !owner.empty() && owner != who && until > now;
}

/// Throws superseded unless this is the latest process of the node.
void memory_ledger::refuse_earlier(const std::string& node, std::uint64_t incarnation) const {
  const auto latest = state_.incarnations.find(node);
  if (latest != state_.incarnations.end() && latest->second > incarnation
      && !planted(bug::earlier_takes_back))
    throw superseded("process " + std::to_string(incarnation) + " of the node is not the latest");
}

std::set<aggregate_id> memory_ledger::owned_by(const std::string& node) const {
  std::set<aggregate_id> owned;
  for (const auto& [number, state] : state_.aggregates)
    if (state.lease.owner == node) owned.insert(number);
  return owned;
}

std::uint64_t memory_ledger::enlist(const std::string& node) {
  const auto owned = owned_by(node);
  pass_a_call(owned);
  for (const auto number : owned) ++state_.aggregates.at(number).head.epoch;
  return ++state_.incarnations[node];
}

acquire_result memory_ledger::acquire(aggregate_id aggregate, const lease_terms& lease,
                                      const std::optional<load_since>& since, const ledger_mark& seen) {
  pass_a_call({aggregate});
  if (options_.faults.acquire_fails && options_.faults.acquire_fails(aggregate))
    throw ledger_unavailable("memory ledger: told to fail");
  refuse_earlier(lease.owner, lease.incarnation);
  const auto found = state_.aggregates.find(aggregate);
  if (found == state_.aggregates.end()) return no_such_aggregate{};
  auto& own = found->second;
  const auto now = options_.now();
  if (own.lease.keeps_out(lease.owner, now)) return lease_held{own.lease.owner, own.lease.until - now};
  const ledger_mark stored{own.head.epoch, own.head.applied_seq};
  auto lost = own.lost;
  if (stored.is_behind(seen)) {
    if (!lost) lost.emplace();
    lost->raise(seen);
  }
  if (!planted(bug::loss_not_written)) own.lost = lost;
  if (lost) return ledger_lost{stored, *lost};
  own.clock_lag += silence_of(own.lease, lease.term);
  own.lease = lease.owner.empty() ? held_lease{} : held_lease{lease.owner, now + lease.term};
  ++own.head.epoch;
  acquired result{own.head.epoch, own.head.applied_seq,      own.head.committed_at, now,
                  own.clock_lag,  own.head.cache_generation, own.head.line,         {}};
  if (since) result.image = load(aggregate, *since);
  return result;
}

std::vector<lost_aggregate> memory_ledger::losses() {
  std::vector<lost_aggregate> all;
  for (const auto& [number, own] : state_.aggregates)
    if (own.lost) {
      const auto& event = own.image.event;
      all.push_back({number,
                     event ? event->id : event_id{},
                     event ? event->tenant : default_tenant,
                     {{own.head.epoch, own.head.applied_seq}, *own.lost}});
    }
  return all;
}

bool memory_ledger::accept_loss(aggregate_id aggregate, const audit_row& row) {
  pass_a_call({aggregate});
  const auto found = state_.aggregates.find(aggregate);
  if (found == state_.aggregates.end() || !found->second.lost) return false;
  auto& own = found->second;
  auto& head = own.head;
  head.cache_generation += std::max(head.applied_seq, own.lost->seq) - head.applied_seq + 1;
  head.applied_seq = std::max(head.applied_seq, own.lost->seq) + 1;
  head.epoch = std::max(head.epoch, own.lost->epoch) + 1;
  own.lost.reset();
  if (own.image.log) own.image.log->is_lost = true;
  own.audit.push_back(row);
  return true;
}

bool memory_ledger::is_lost(aggregate_id aggregate) const {
  const auto* own = find(aggregate);
  return own != nullptr && own->lost.has_value();
}

aggregate_image memory_ledger::load(aggregate_id aggregate, const load_since& since) {
  const auto* own = find(aggregate);
  if (!own) return {};
  auto image = own->image;
  std::erase_if(image.idempotency,
                [&](const idempotency_row& r) { return r.created_at < since.idempotency; });
  const bool is_queue = image.event && image.event->kind == event_kind::queue;
  std::erase_if(image.entries, [&](const entry_row& r) {
    return r.number < own->head.line.first_kept
           || (is_queue && is_set(r.ended_at) && r.ended_at < since.entries);
  });
  keep_newest(image.idempotency, loaded_idempotency_max);
  keep_newest(image.receipts, loaded_receipts_max);
  return image;
}

lease_renewal memory_ledger::renew(const lease_terms& lease, std::span<const tenure> tenures) {
  pass_a_call(aggregates_of(tenures));
  lease_renewal result;
  if (lease.owner.empty()) return result; // no lease to renew
  const auto until = options_.now() + lease.term;
  for (const auto& t : tenures) {
    const auto found = state_.aggregates.find(t.aggregate);
    if (found != state_.aggregates.end() && found->second.lease.owner == lease.owner
        && (found->second.head.epoch == t.epoch || planted(bug::renewal_ignores_epoch)))
      found->second.lease.until = until;
    else
      result.lost.push_back(t.aggregate);
  }
  return result;
}

void memory_ledger::release(const std::string& owner, std::span<const tenure> tenures) {
  pass_a_call(aggregates_of(tenures));
  for (const auto& t : tenures) {
    const auto found = state_.aggregates.find(t.aggregate);
    if (found != state_.aggregates.end() && found->second.head.epoch == t.epoch
        && found->second.lease.owner == owner)
      found->second.lease = {};
  }
}

/// Since the last renewal of a lease; 0: it was given back.
milliseconds memory_ledger::silence_of(const held_lease& lease, milliseconds term) const {
  if (lease.owner.empty()) return milliseconds{0};
  return std::max(term - (lease.until - options_.now()), milliseconds{0});
}

std::size_t memory_ledger::end_leases(const node_row& last, bool is_silent, milliseconds term) {
  const auto row = state_.nodes.find(last.id);
  const bool is_dead = is_silent && row != state_.nodes.end() && row->second.seen_at == last.seen_at
                       && row->second.incarnation == last.incarnation;
  const auto owned = is_dead ? owned_by(last.id) : std::set<aggregate_id>{};
  pass_a_call(owned);
  if (!is_dead) return 0;
  for (const auto number : owned) {
    auto& own = state_.aggregates.at(number);
    own.clock_lag += silence_of(own.lease, term);
    own.lease = {};
    ++own.head.epoch;
  }
  for (auto& partition : state_.partitions)
    if (partition.owner == last.id) partition = {};
  return owned.size();
}

std::vector<node_row> memory_ledger::beat(const node_row& self, milliseconds alive_for) {
  pass_a_call({});
  refuse_earlier(self.id, self.incarnation);
  const auto now = options_.now();
  auto mine = self;
  mine.seen_at = now;
  state_.nodes[self.id] = std::move(mine);
  std::erase_if(state_.nodes, [now](const auto& n) { return n.second.seen_at < now - node_memory; });
  std::vector<node_row> alive;
  for (const auto& [id, node] : state_.nodes)
    if (node.seen_at > now - alive_for) alive.push_back(node);
  return alive;
}

void memory_ledger::leave(const std::string& node, std::uint64_t incarnation) {
  pass_a_call({});
  const auto row = state_.nodes.find(node);
  if (row != state_.nodes.end() && row->second.incarnation == incarnation) state_.nodes.erase(row);
}

std::vector<std::uint32_t> memory_ledger::lease_outbox(const lease_terms& lease,
                                                       std::span<const std::uint32_t> wanted) {
  pass_a_call({});
  if (lease.owner.empty()) return {wanted.begin(), wanted.end()};
  refuse_earlier(lease.owner, lease.incarnation);
  const auto now = options_.now();
  std::vector<std::uint32_t> held;
  for (const auto p : wanted) {
    auto& partition = state_.partitions.at(p);
    if (partition.keeps_out(lease.owner, now)) continue;
    partition = {lease.owner, now + lease.term};
    held.push_back(p);
  }
  return held;
}

} // namespace fq
