// SPDX-License-Identifier: Apache-2.0
#include "tests/actors/base/fixture.hpp"

#include <caf/abstract_actor.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>

namespace fq::test {
namespace {

/// Waits for one answer.
class asker final : public caf::monitorable_actor {
public:
  using taker = std::function<void(caf::type_erased_tuple&)>;
  asker(caf::actor_config& cfg, taker take) : caf::monitorable_actor(cfg), take_(std::move(take)) {}
  const char* name() const override { return "asker"; }
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) override {
    if (element->mid.is_response() && take_) std::exchange(take_, nullptr)(element->content());
  }

private:
  taker take_;
};

} // namespace

fixture::fixture() {
  sched.clock().current_time += 1h;
  run();
}

fixture::~fixture() {
  for (auto& a : extra) caf::anon_send_exit(a, caf::exit_reason::kill);
  extra.clear();
  ledgers.clear();
  caf::anon_send_exit(worker, caf::exit_reason::kill);
  run();
  sched.clock().cancel_all();
  run();
}

memory_ledger_options fixture::ledger_options() {
  memory_ledger_options o;
  o.now = [this] { return env.wall_now(); };
  o.sync_each_commit = false; // a crash loses unsynced data
  o.faults.on_commit = [this](std::span<const batch>) {
    ++commits;
    if (commit_faults.empty()) return commit_fault{};
    const auto fault = commit_faults.front();
    commit_faults.pop_front();
    return fault;
  };
  o.faults.acquire_fails = [this](aggregate_id) { return acquire_failures > 0 && acquire_failures-- > 0; };
  return o;
}

void fixture::ask_for(const caf::strong_actor_ptr& target, caf::message question,
                      std::function<void(caf::type_erased_tuple&)> take) {
  caf::actor_config cfg{sys.dummy_execution_unit()};
  const auto from = caf::make_actor<asker, caf::strong_actor_ptr>(sys.next_actor_id(), sys.node(), &sys, cfg,
                                                                  std::move(take));
  target->enqueue(from, caf::make_message_id(1), std::move(question), nullptr);
}

event_row fixture::put_event(std::int64_t total, queue_settings queue, aggregate_id aggregate,
                             tenant_id tenant) {
  event_row e;
  const auto t = env.wall_now();
  e.id = env.make_id(t, aggregate);
  e.aggregate = aggregate;
  e.tenant = tenant;
  e.organizer = env.make_id(t, accounts_aggregate);
  e.name = "Test sale";
  e.currency = "NGN";
  e.status = event_status::active;
  e.queue_opens_at = e.sale_start = t;
  e.sale_end = t + 24h;
  e.queue = queue;
  e.created_at = e.updated_at = t;
  const auto faults_before = std::exchange(commit_faults, {});
  const auto failures_before = std::exchange(acquire_failures, 0);
  batch b;
  b.aggregate = catalog_aggregate;
  const auto own = store.acquire_unleased(catalog_aggregate, never);
  b.epoch = own->epoch;
  b.from_seq = own->applied_seq;
  b.to_seq = b.from_seq + 1;
  b.at = t;
  b.content.emplace_back(
    event_created{e, {{0, env.make_id(t, aggregate), "Standard", 5'000, total, 0, 0, 2, true}}});
  store.commit(std::span{&b, 1});
  commit_faults = faults_before;
  acquire_failures = failures_before;
  commits = 0;
  return e;
}

} // namespace fq::test
