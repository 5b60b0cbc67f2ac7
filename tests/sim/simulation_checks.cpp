// SPDX-License-Identifier: Apache-2.0
// What must hold in the quiet phase and at the end.
#include "tests/sim/log_check.hpp"
#include "tests/sim/sale_simulation.hpp"

namespace fq::sim {

// -- what must hold when nothing fails --------------------------------------------------------------------

/// The state of the only serving owner, without frozen processes.
event_state* simulation::serving() {
  event_state* found = nullptr;
  for (auto& n : nodes_) {
    auto* state = n.runs && !n.runs->is_frozen() ? n.runs->serving() : nullptr;
    if (state != nullptr && found != nullptr) check_.fail("I17", "two processes serve the sale");
    if (state != nullptr) found = state;
  }
  if (earlier_ && earlier_->serving() != nullptr)
    check_.fail("I17", "a process serves the sale although a later one has its name");
  return found;
}

/// Runs when no jobs are left and everything should have recovered.
void simulation::scan_unowned() {
  const auto* owner = serving();
  check_served(owner);
  if (owner == nullptr) return;
  check_liveness(*owner);
  if (net_) check_watchers(*owner);
  if (!cache_ || now() < next_look_ || now() < world_.calm_from + world_.options.reconciliation_interval)
    return;
  next_look_ = now() + look_interval;
  cache_->check_equal(owner->peek_now());
}

void simulation::check_served(const event_state* owner) {
  if (owner != nullptr) {
    served_at_ = now();
    return;
  }
  const auto must_run = store_.aggregates_to_wake({});
  if (std::ranges::find(must_run, sale_aggregate) == must_run.end()) idle_at_ = now();
  if (net_ && now() <= std::max(served_at_, world_.calm_from) + on_the_move) return;
  // What becomes due by its time waits for a scan, and for the next one, which leaves it to other nodes.
  const auto since = std::max({idle_at_, served_at_, world_.calm_from});
  if (now() > since + world_.options.takeover_interval * 3 + load_time)
    check_.fail("I13", "the sale must run, and no process runs it");
}

/// Uses the aggregate's own time, which stopped while the ledger was unavailable and must advance now.
void simulation::check_liveness(const event_state& owner) {
  const auto lag = env_.wall_now() - owner.peek_now();
  const auto epoch = store_.head(sale_aggregate)->epoch;
  // The time of an owner may be ahead of the ledger's: its clock is fast, or the ledger's stepped back. The
  // next owner goes on from the last commit, or from the ledger's time.
  if (lag_ && epoch != epoch_seen_ && *lag_ < -world_.ledger_skew) lag_ = -world_.ledger_skew;
  if (!lag_) {
    lag_ = lag;
    lag_seen_at_ = committed_at_; // an owner that loads takes over the lag of the last commit
  }
  if (lag > *lag_ + world_.drift_within(now() - lag_seen_at_))
    check_.fail("I13", "the aggregate's time stands still: it lags by " + std::to_string(lag.count())
                         + " ms, before by " + std::to_string(lag_->count()) + " ms, "
                         + std::to_string((now() - lag_seen_at_).count()) + " ms ago");
  const auto t = env_.wall_now() - lag;
  if (epoch != epoch_seen_) {
    epoch_seen_ = epoch;
    owned_since_ = t;
  }
  check_.check_liveness(t, owned_since_);
}

void simulation::check_watchers(const event_state& owner) {
  for (const auto& n : nodes_) {
    if (!n.runs || n.runs->is_frozen()) continue;
    const auto& watcher = n.runs->watches();
    watcher.check_calm(n.name, std::max(world_.calm_from, n.awake_since));
    if (owner.peek_is_told(watcher.line_version())) watcher.check_positions(n.name, owner.peek()->queue());
  }
}

// -- limits -----------------------------------------------------------------------------------------------

void simulation::check_bounds() {
  for (const auto& n : nodes_)
    if (n.runs) check_bounds(*n.runs);
  if (earlier_) check_bounds(*earlier_);
}

/// An accepted request holds its answer and some effects. Time goes on: one run moves rows of a dozen kinds,
/// and each may hold an effect.
void simulation::check_bounds(const process& p) {
  const auto of_one_decision = 16 + 12 * world_.options.rules.bounds.rows_per_run;
  const auto& most = world_.options.bounds;
  const auto used = p.used();
  const auto check = [&](std::size_t n, std::size_t limit, std::size_t beyond, rare met, const char* what) {
    if (n >= limit && n > 0) check_.reached(met);
    if (n > limit + beyond)
      check_.fail("I14", std::to_string(n) + " " + what + ", more than " + std::to_string(limit));
  };
  check(used.held, most.held, of_one_decision, rare::journal_full, "answers and effects are held");
  check(used.loading, most.loading, 0, rare::loading_full, "requests wait for an owner to load");
  check(used.moving, most.moving, 0, rare::moving_full, "requests wait for an event that moves");
  check(used.order_waiters, most.order_waiters, 0, rare::order_waiters_full, "requests wait for an order");
  check(used.report_waiters, most.report_waiters, 0, rare::report_waiters_full,
        "webhooks wait for the gateway");
  check(used.forgotten_reads, most.forgotten_reads, 0, rare::forgotten_reads_full,
        "forgotten entries are read");
}

/// Checks that the owner's memory equals the ledger.
void simulation::check_memory() {
  auto* state = serving();
  if (state == nullptr) return; // passivated
  const auto step = world_.options.statistics_step;
  const auto changed_at = std::max(store_.head(sale_aggregate)->committed_at, owned_since_);
  if (step.count() > 0 && state->peek_now() > changed_at + 3 * step) {
    check_.check_statistics();
    check_.reached(rare::statistics_complete);
  }
  const auto& memory = *state->peek();
  const auto& counts = memory.queue().counts();
  const auto model = check_.counts();
  if (memory.stock().types() != store_.committed(sale_aggregate)->ticket_types
      || memory.event() != check_.event() || counts.waiting != model.waiting
      || counts.admitted != model.admitted || memory.claims().counts().live != model.claims_live
      || memory.claims().counts().confirmed != model.claims_confirmed
      || memory.payments().open_count() != model.payments_open || memory.orders().all() != check_.orders()
      || memory.promo_codes().all() != store_.committed(sale_aggregate)->promo_codes)
    check_.fail("I11", "the owner's memory is not what the ledger holds");
  if (memory.seats() == nullptr) return;
  const auto& map = memory.seats()->map();
  const auto& image = *store_.committed(sale_aggregate);
  for (const auto& lines :
       {contradictions(map), contradictions(map, holdings_of(image.claim_seats, image.claims))})
    if (!lines.empty()) check_.fail("I1", lines.front());
}

/// Of all processes that run and are not frozen for some seconds.
void simulation::check_directories() {
  std::vector<std::string> all;
  for (const auto& n : nodes_)
    if (n.runs && !n.runs->is_frozen() && n.awake_since + read_within < now())
      all.push_back(n.runs->offered().process);
  directory_->check_end(all);
}

void simulation::check_end() {
  if (steps_ >= steps_max) return check_.fail("I14", "the sale did not come to rest");
  if (loss_.has_lost()) return loss_.check_end(serving() != nullptr);
  check_.check_end();
  check_memory();
  if (const auto wrong = what_is_wrong_in_log(store_, sale_aggregate, false); !wrong.empty())
    check_.fail("log", wrong);
  if (world_.options.has_dispatcher) outbox_.check_end();
  if (notices_) notices_->check_end();
  if (letters_) letters_->check_end();
  if (directory_) check_directories();
  mails_.check_end();
  gateway_.check_end(check_);
  if (disk_) disk_->check_end();
}

} // namespace fq::sim
