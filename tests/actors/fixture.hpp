// SPDX-License-Identifier: Apache-2.0
// One thread, virtual time, a memory ledger with faults on demand: what every test of an actor needs.
#pragma once
#include "actors/event_actor.hpp"
#include "actors/ledger_worker.hpp"
#include "actors/payments.hpp"
#include "actors/region.hpp"
#include "actors/supervisor.hpp"
#include "store/memory_ledger.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>
#include <caf/test/unit_test.hpp>

#include <deque>
#include <memory>

namespace fq::test {

using namespace std::chrono_literals;

struct config : caf::actor_system_config {
  config() {
    add_message_types<caf::id_block::fairqueue>();
    set("scheduler.policy", caf::atom("testing"));
    set("logger.verbosity", caf::atom("quiet"));
  }
};

/// Time is the test clock's; random bytes count upwards.
class test_environment final : public environment {
public:
  explicit test_environment(caf::detail::test_actor_clock& clock) : clock_(clock) {}
  timestamp wall_now() override { return from_unix_ms(1'800'000'000'000) + steady_now() + skew; }
  milliseconds steady_now() override {
    return std::chrono::duration_cast<milliseconds>(clock_.now().time_since_epoch());
  }
  void random_bytes(std::span<std::byte> out) override {
    for (auto& b : out)
      b = static_cast<std::byte>((next_ = next_ * 6364136223846793005ull + 1442695040888963407ull) >> 56);
  }
  milliseconds skew{0};

private:
  caf::detail::test_actor_clock& clock_;
  std::uint64_t next_ = 1;
};

/// What became of a request.
template <class Reply>
struct answer {
  bool ok = false;
  caf::error error;
  Reply value{};
  [[nodiscard]] bool open() const { return !ok && !error; }
  [[nodiscard]] bool unavailable() const { return is(error, errc::unavailable); }
};

template <class Handle, class State>
State& state_of(const Handle& handle) {
  return dynamic_cast<std::remove_pointer_t<typename Handle::template stateful_pointer<State>>&>(
             *caf::actor_cast<caf::abstract_actor*>(handle))
      .state;
}

struct fixture {
  config cfg;
  caf::actor_system sys{cfg};
  caf::scheduler::test_coordinator& sched = dynamic_cast<caf::scheduler::test_coordinator&>(sys.scheduler());
  test_environment env{sched.clock()};
  std::deque<commit_fault> commit_faults; ///< for the next commits, one each
  std::uint32_t acquire_failures = 0;     ///< the next ones
  std::size_t commits = 0;                ///< calls
  memory_ledger store{options()};
  session_keys sessions{secret_key{}};
  ledger_worker_handle worker = sys.spawn(ledger_worker, static_cast<ledger*>(&store),
                                          static_cast<environment*>(&env), milliseconds{24h});
  std::vector<caf::actor> extra; ///< ended with the fixture

  fixture() {
    sched.clock().current_time += 1h;
    run();
  }
  ~fixture() {
    for (auto& a : extra) caf::anon_send_exit(a, caf::exit_reason::kill);
    extra.clear();
    caf::anon_send_exit(worker, caf::exit_reason::kill);
    run();
    sched.clock().cancel_all();
    run();
  }

  memory_ledger_options options() {
    memory_ledger_options o;
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

  template <class Handle>
  Handle keep(Handle handle) {
    extra.push_back(caf::actor_cast<caf::actor>(handle));
    return handle;
  }
  template <class Handle>
  void kill(const Handle& handle) {
    caf::anon_send_exit(handle, caf::exit_reason::kill);
    run();
  }

  /// All messages that are there, no timers.
  void run() {
    while (sched.try_run_once()) {}
  }
  /// The same, but `one` does nothing.
  template <class Handle>
  void run_without(const Handle& one) {
    auto* idle = dynamic_cast<caf::resumable*>(caf::actor_cast<caf::abstract_actor*>(one));
    sched.run_jobs_filtered([idle](caf::resumable* job) { return job != idle; });
  }
  void advance(milliseconds d) {
    sched.advance_time(d);
    run();
  }

  /// Sends a request from an actor of its own; look at the answer after run().
  template <class Reply, class Handle, class Message>
  std::shared_ptr<answer<Reply>> ask(const Handle& handle, Message message) {
    auto a = std::make_shared<answer<Reply>>();
    sys.spawn([=](caf::event_based_actor* self) {
      self->request(handle, 3'600s, message)
          .then([a](const Reply& r) { a->ok = true, a->value = r; },
                [a](const caf::error& e) { a->error = e; });
    });
    return a;
  }

  /// An ACTIVE event of `total` tickets, straight into the ledger.
  event_row put_event(std::int64_t total, queue_settings queue = {},
                      aggregate_id aggregate = first_event_aggregate) {
    event_row e;
    const auto t = env.wall_now();
    e.id = env.make_id(t, aggregate);
    e.aggregate = aggregate;
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
    const auto own = store.acquire(catalog_aggregate, never);
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

  static customer_id customer(std::uint64_t n) {
    return make_uuid(from_unix_ms(1'700'000'000'000), accounts_aggregate, n);
  }
};

} // namespace fq::test
