// SPDX-License-Identifier: Apache-2.0
#include "store/port/restored.hpp"

#include <utility>

namespace fq {
namespace {

/// Respects the leases of nodes, and leaves none.
const lease_terms unleased{"accept-loss", milliseconds{0}};

[[noreturn]] void refuse(const std::string& why) {
  throw ledger_unavailable(why + ": stop all nodes, wait until their leases have ended, and run this again");
}

void expect_unowned(ledger& store, aggregate_id aggregate) {
  const auto got = store.acquire(aggregate, unleased, std::nullopt);
  if (const auto* held = std::get_if<lease_held>(&got)) refuse("node " + held->owner + " is running");
  if (std::holds_alternative<aggregate_busy>(got)) refuse("a node is running");
}

/// The mark that a process would leave that remembers later decisions.
void mark_lost(ledger& store, aggregate_id aggregate) {
  const auto now = store.acquire(aggregate, unleased, std::nullopt);
  ledger_mark stored;
  if (const auto* own = std::get_if<acquired>(&now)) stored = {own->epoch, own->applied_seq};
  if (const auto* lost = std::get_if<ledger_lost>(&now)) stored = lost->stored;
  store.acquire(aggregate, unleased, std::nullopt, {stored.epoch + restored_gap, stored.seq + restored_gap});
}

std::optional<lost_aggregate> marked(ledger& store, aggregate_id aggregate) {
  for (auto& lost : store.losses())
    if (lost.aggregate == aggregate) return std::move(lost);
  return std::nullopt;
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
  std::vector<aggregate_id> restored;
  std::size_t logs = 0;
  const auto last = number_of(store.last_aggregate());
  for (auto n = number_of(first_event_aggregate); n <= last; ++n) {
    const auto log = store.read_log(aggregate_id{n}, {}).state;
    if (!log || (!only.is_nil() && log->origin.find(to_string(only)) == std::string::npos)) continue;
    ++logs;
    if (!log->is_lost) restored.push_back(aggregate_id{n});
  }
  // A node has these whatever it serves.
  for (const auto aggregate : {accounts_aggregate, catalog_aggregate}) expect_unowned(store, aggregate);
  for (const auto aggregate : restored) expect_unowned(store, aggregate);
  for (const auto aggregate : restored) {
    mark_lost(store, aggregate);
    const auto lost = marked(store, aggregate);
    if (lost
        && store.accept_loss(aggregate, accepted_row(*lost, R"({"restored":true})", env, env.wall_now())))
      accepted(*lost);
  }
  return logs;
}

} // namespace fq
