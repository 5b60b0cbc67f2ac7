// SPDX-License-Identifier: Apache-2.0
#include "store/port/restored.hpp"

#include <set>
#include <utility>

namespace fq {
namespace {

/// The mark that a process would leave that remembers later decisions.
void mark_lost(ledger& store, aggregate_id aggregate) {
  const auto now = store.acquire(aggregate, {}, std::nullopt);
  ledger_mark stored;
  if (const auto* own = std::get_if<acquired>(&now)) stored = {own->epoch, own->applied_seq};
  if (const auto* lost = std::get_if<ledger_lost>(&now)) stored = lost->stored;
  store.acquire(aggregate, {}, std::nullopt, {stored.epoch + restored_gap, stored.seq + restored_gap});
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

std::vector<lost_aggregate> accept_restored(ledger& store, environment& env, aggregate_id only) {
  std::set<aggregate_id> restored;
  const auto last = number_of(store.last_aggregate());
  for (auto n = number_of(first_event_aggregate); n <= last; ++n) {
    const aggregate_id aggregate{n};
    if (number_of(only) != 0 && aggregate != only) continue;
    const auto log = store.read_log(aggregate, {}).state;
    if (!log || log->is_lost) continue;
    mark_lost(store, aggregate);
    restored.insert(aggregate);
  }
  std::vector<lost_aggregate> accepted;
  for (auto& lost : store.losses())
    if (restored.contains(lost.aggregate)
        && store.accept_loss(lost.aggregate, accepted_row(lost, R"({"restored":true})", env, env.wall_now())))
      accepted.push_back(std::move(lost));
  if (accepted.size() < restored.size())
    throw ledger_unavailable("an event is in use: stop all nodes, and run the command again");
  return accepted;
}

} // namespace fq
