// SPDX-License-Identifier: Apache-2.0
#include "store/port/restored.hpp"

#include <set>
#include <span>
#include <utility>

namespace fq {
namespace {

/// Respects the leases of nodes.
const lease_terms own_lease{"accept-loss", milliseconds{0}};

[[noreturn]] void refuse(const std::string& why) {
  throw ledger_unavailable(why + ": stop all nodes, wait until their leases have ended, and run this again");
}

/// How far it has come. Keeps no lease: the time after its end would count as an outage and delay deadlines.
ledger_mark mark_unowned(ledger& store, aggregate_id aggregate) {
  const auto got = store.acquire(aggregate, own_lease, std::nullopt);
  if (const auto* held = std::get_if<lease_held>(&got)) refuse("node " + held->owner + " is running");
  if (std::holds_alternative<aggregate_busy>(got)) refuse("a node is running");
  if (const auto* lost = std::get_if<ledger_lost>(&got)) return lost->stored;
  const auto* own = std::get_if<acquired>(&got);
  if (own == nullptr) return {};
  const tenure taken{aggregate, own->epoch};
  store.release(own_lease.owner, std::span{&taken, 1});
  return {own->epoch, own->applied_seq};
}

/// The mark that a process would leave that remembers later decisions.
void mark_lost(ledger& store, aggregate_id aggregate) {
  const auto stored = mark_unowned(store, aggregate);
  const ledger_mark seen{stored.epoch + restored_gap, stored.seq + restored_gap};
  if (!std::holds_alternative<ledger_lost>(store.acquire(aggregate, own_lease, std::nullopt, seen)))
    refuse("a node is running");
}

} // namespace

audit_row accepted_row(const lost_aggregate& lost, std::string detail, environment& env, timestamp now) {
  audit_row row;
  row.id = env.make_id(now, lost.aggregate);
  row.tenant = lost.tenant;
  row.target = lost.event;
  row.actor = "system";
  row.action = "loss.accept";
  row.detail = std::move(detail);
  row.at = now;
  return row;
}

std::size_t accept_restored(ledger& store, environment& env, const event_id& only,
                            const std::function<void(const lost_aggregate&)>& accepted) {
  std::set<aggregate_id> restored;
  std::size_t logs = 0;
  const auto last = number_of(store.last_aggregate());
  for (auto n = number_of(first_event_aggregate); n <= last; ++n) {
    const auto log = store.read_log(aggregate_id{n}, {}).state;
    if (!log || (!only.is_nil() && log->origin.find(to_string(only)) == std::string::npos)) continue;
    ++logs;
    if (!log->is_lost) restored.insert(aggregate_id{n});
  }
  // A node has these whatever it serves.
  for (const auto aggregate : {accounts_aggregate, catalog_aggregate}) mark_unowned(store, aggregate);
  for (const auto aggregate : restored) mark_unowned(store, aggregate);
  for (const auto aggregate : restored) mark_lost(store, aggregate);
  for (const auto& lost : store.losses()) {
    if (!restored.contains(lost.aggregate)) continue;
    const auto row = accepted_row(lost, R"({"restored":true})", env, env.wall_now());
    if (store.accept_loss(lost.aggregate, row)) accepted(lost);
  }
  return logs;
}

} // namespace fq
