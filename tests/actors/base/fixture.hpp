// SPDX-License-Identifier: Apache-2.0
// The fixture of all actor tests: one thread, virtual time, a memory ledger with injected faults.
#pragma once
#include "actors/base/supervisor.hpp"
#include "actors/cluster/region.hpp"
#include "actors/payments/payments.hpp"
#include "actors/protocol/system_config.hpp"
#include "actors/sale/event_actor.hpp"
#include "actors/storage/ledger_worker.hpp"
#include "actors/storage/ledger_workers.hpp"
#include "store/memory/memory_ledger.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/message.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>
#include <caf/test/unit_test.hpp>

#include <deque>
#include <functional>
#include <memory>

namespace fq::test {

using namespace std::chrono_literals;

struct config : system_config {
  config() {
    set("scheduler.policy", caf::atom("testing"));
    set("logger.verbosity", caf::atom("quiet"));
  }
};

/// Time comes from the test clock; random bytes count upwards.
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

/// The result of a request.
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
  std::deque<commit_fault> commit_faults; ///< for the next commits, one fault each
  std::uint32_t acquire_failures = 0; ///< number of next acquires that fail
  std::size_t commits = 0; ///< number of commit calls
  memory_ledger store{ledger_options()};
  session_keys sessions{secret_key{}};
  ledger_worker_handle worker =
    sys.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&env),
              ledger_worker_settings{.prune_interval = 24h});
  ledger_workers ledgers{worker};
  std::vector<caf::actor> extra; ///< ended with the fixture

  fixture();
  ~fixture();

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

  /// Processes all queued messages, no timers.
  void run() {
    while (sched.try_run_once()) {}
  }
  /// The same, but `one` stays paused.
  template <class Handle>
  void run_without(const Handle& one) {
    auto* idle = dynamic_cast<caf::resumable*>(caf::actor_cast<caf::abstract_actor*>(one));
    sched.run_jobs_filtered([idle](caf::resumable* job) { return job != idle; });
  }
  void advance(milliseconds d) {
    sched.advance_time(d);
    run();
  }

  /// Sends a request; read the answer after run(). Any message may be sent to any handle: a wrong one is
  /// answered with an error.
  template <class Reply, class Handle, class Message>
  std::shared_ptr<answer<Reply>> ask(const Handle& handle, Message message) {
    auto a = std::make_shared<answer<Reply>>();
    ask_for(caf::actor_cast<caf::strong_actor_ptr>(handle), caf::make_message(std::move(message)),
            [a](caf::type_erased_tuple& content) {
              a->ok = content.size() == 1 && content.match_element<Reply>(0);
              if (a->ok)
                a->value = content.get_as<Reply>(0);
              else if (content.size() == 1 && content.match_element<caf::error>(0))
                a->error = content.get_as<caf::error>(0);
              else
                a->error = caf::sec::unexpected_message;
            });
    return a;
  }

  /// Puts an ACTIVE event with `total` tickets directly into the ledger.
  event_row put_event(std::int64_t total, queue_settings queue = {},
                      aggregate_id aggregate = first_event_aggregate, tenant_id tenant = default_tenant);

  /// Access as the event's organizer.
  static managed managed_by_organizer(const event_row& e) {
    return {e.id, {principal_kind::organizer, e.tenant, e.organizer}, e.kind};
  }
  static customer_id customer(std::uint64_t n) {
    return make_uuid(from_unix_ms(1'700'000'000'000), accounts_aggregate, n);
  }

private:
  memory_ledger_options ledger_options();
  /// Untyped, because each kind of CAF's typed requests costs a second of compile time.
  void ask_for(const caf::strong_actor_ptr& target, caf::message question,
               std::function<void(caf::type_erased_tuple&)> take);
};

} // namespace fq::test
