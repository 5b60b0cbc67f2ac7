// SPDX-License-Identifier: Apache-2.0
// The bridge between io threads and actors: every request ends exactly once, whatever the actor does.
// Shutdown during requests is safe (hundreds of repetitions, for the sanitizers).
#define CAF_SUITE net_bridge
#include "caf/test/unit_test.hpp"

#include "tests/net/server/fakes.hpp"

#include <caf/make_actor.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <memory>
#include <thread>

namespace actor_bridge_test {

using namespace fq;
using namespace fq::net;
using fake::behaves;

namespace {

using outcome = answer<entry_reply>;

/// A deadline that no test reaches: what ends, ends without it.
constexpr std::chrono::hours no_deadline{1};

awaitable<outcome> question(actor_bridge& bridge, aggregate_id aggregate, customer_id who) {
  co_return co_await ask_event_operation<entry_reply>{
    bridge, aggregate, packed(find_entry{fake::event_of(number_of(aggregate)), who})};
}

awaitable<outcome> question_to(actor_bridge& bridge, event_handle actor) {
  co_return co_await ask_operation<event_handle, entry_reply>{
    bridge, actor, packed(find_entry{fake::event_of(1), fake::customer(behaves::well)})};
}

struct log final : push_receiver {
  std::vector<std::string> heard;
  void on_entries_changed(const entries_changed& p) override {
    heard.push_back("changed " + std::to_string(p.changes.size()));
  }
  void on_event_noticed(const event_noticed&) override { heard.push_back("noticed"); }
  void on_orders_changed(const orders_changed&) override { heard.push_back("ordered"); }
  void on_owner_gone(aggregate_id a) override { heard.push_back("gone " + std::to_string(number_of(a))); }
};

/// A bridge on the test's io thread.
struct fixture {
  explicit fixture(milliseconds timeout = milliseconds{5000}, std::size_t in_flight = 10'000) :
      system(cfg),
      region(system.spawn(fake::region)),
      bridge(std::make_unique<actor_bridge>(system, io, region, state, bridge_limits{timeout, in_flight})) {
    bridge->set_receiver(&pushes);
    bridge->sweep(clock.steady_now());
  }
  ~fixture() {
    bridge.reset();
    io.restart();
    io.poll();
    caf::anon_send_exit(region, caf::exit_reason::user_shutdown);
  }

  template <class Condition>
  bool run_until(Condition condition, milliseconds patience = milliseconds{5000}) {
    const auto end = clock.steady_now() + patience;
    while (!condition() && clock.steady_now() < end) {
      io.restart();
      io.run_for(milliseconds{5});
      bridge->sweep(clock.steady_now());
    }
    return condition();
  }

  outcome ask(std::uint32_t aggregate, customer_id who) {
    auto q = question(*bridge, aggregate_id{aggregate}, who);
    q.start(nullptr, nullptr);
    if (!run_until([&] { return q.finished(); })) CAF_FAIL("no answer at all");
    return q.take();
  }

  void order(timer_kind kind, std::uint64_t n = 0) { caf::anon_send(region, timer_fired{kind, n}); }

  boost::asio::io_context io{1};
  fake::environment clock;
  server_state state;
  log pushes;
  fake::one_thread_config cfg;
  caf::actor_system system;
  region_handle region;
  std::unique_ptr<actor_bridge> bridge;
};

/// Sleeps until its first message, and notes how many it has when it runs. Gives its thread time to run
/// between two messages.
class sleeper final : public caf::monitorable_actor, public caf::resumable {
public:
  explicit sleeper(caf::actor_config& cfg) : caf::monitorable_actor(cfg) {}
  const char* name() const override { return "sleeper"; }
  subtype_t subtype() const override { return unspecified; }
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit* unit) override {
    if (++messages_ > 1) return std::this_thread::sleep_for(milliseconds{20});
    intrusive_ptr_add_ref_impl();
    unit != nullptr ? unit->exec_later(this) : home_system().scheduler().enqueue(this);
  }
  resume_result resume(caf::execution_unit*, std::size_t) override {
    seen = messages_.load();
    return awaiting_message;
  }
  void intrusive_ptr_add_ref_impl() override { intrusive_ptr_add_ref(ctrl()); }
  void intrusive_ptr_release_impl() override { intrusive_ptr_release(ctrl()); }

  std::atomic<int> seen{0};

private:
  std::atomic<int> messages_{0};
};

} // namespace

CAF_TEST(an actor that sleeps wakes up once for a burst) {
  fixture f;
  caf::actor_config cfg{f.system.dummy_execution_unit()};
  const auto actor = caf::make_actor<sleeper, caf::strong_actor_ptr>(f.system.next_actor_id(),
                                                                     f.system.node(), &f.system, cfg);
  auto& asleep = *static_cast<sleeper*>(caf::actor_cast<caf::abstract_actor*>(actor));
  std::vector<awaitable<outcome>> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(question_to(*f.bridge, caf::actor_cast<event_handle>(actor)));
    waiting.back().start(nullptr, nullptr);
  }
  CAF_CHECK(f.run_until([&] { return asleep.seen > 0; }));
  CAF_CHECK_EQUAL(asleep.seen.load(), 3);
  f.bridge->stop();
}

CAF_TEST(an actor answers) {
  fixture f;
  const auto r = f.ask(fake::good_event, fake::customer(behaves::well, 4));
  CAF_CHECK(!r.error);
  CAF_CHECK_EQUAL(value_of(r.reply.entry.number), 5u);
  CAF_CHECK_EQUAL(f.bridge->calls_in_flight(), 0u);
}

CAF_TEST(a business no is an answer) {
  fixture f;
  const auto r = f.ask(fake::good_event, fake::customer(behaves::not_in_queue));
  CAF_CHECK(!r.error);
  CAF_CHECK(r.reply.no.why == reason::not_in_queue);
}

CAF_TEST(an error a handler returns is unavailable) {
  fixture f;
  CAF_CHECK(
    is(f.ask(fake::good_event, fake::customer(behaves::refuses_with_error)).error, errc::unavailable));
}

CAF_TEST(an exception in a handler fails the question and the next one finds a new owner) {
  fixture f;
  CAF_CHECK(is(f.ask(fake::good_event, fake::customer(behaves::throws)).error, errc::unavailable));
  CAF_CHECK(f.run_until([&] { return !f.pushes.heard.empty(); }));
  CAF_CHECK_EQUAL(f.pushes.heard.front(), "gone 16");
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
}

CAF_TEST(an absent aggregate is absent and an ownerless one unavailable and one of another node not ours) {
  fixture f;
  CAF_CHECK(is(f.ask(fake::foreign_event, fake::customer(behaves::well)).error, errc::not_owner));
  CAF_CHECK(is(f.ask(fake::absent_event, fake::customer(behaves::well)).error, errc::absent));
  CAF_CHECK(is(f.ask(fake::unavailable_event, fake::customer(behaves::well)).error, errc::unavailable));
}

CAF_TEST(an actor that this server does not have is unavailable) {
  fixture f;
  auto q = question_to(*f.bridge, {});
  q.start(nullptr, nullptr);
  CAF_CHECK(f.run_until([&] { return q.finished(); }));
  CAF_CHECK(is(q.take().error, errc::unavailable));
  CAF_CHECK_EQUAL(f.bridge->calls_in_flight(), 0u);
}

CAF_TEST(silence ends at the deadline) {
  fixture f{milliseconds{50}};
  CAF_CHECK(is(f.ask(fake::good_event, fake::customer(behaves::silent)).error, errc::unavailable));
  CAF_CHECK(is(f.ask(fake::silent_region, fake::customer(behaves::well)).error, errc::unavailable));
  CAF_CHECK_GREATER_OR_EQUAL(f.state.asks_timed_out.load(), 2u);
  CAF_CHECK_EQUAL(f.bridge->calls_in_flight(), 0u);
}

CAF_TEST(a dying owner fails what it had not answered at once) {
  fixture f{no_deadline};
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
  std::vector<awaitable<outcome>> waiting;
  for (int i = 0; i < 100; ++i) {
    waiting.push_back(question(*f.bridge, fake::number(fake::good_event), fake::customer(behaves::silent)));
    waiting.back().start(nullptr, nullptr);
  }
  f.order(timer_kind::idle);
  CAF_CHECK(f.run_until([&] { return f.bridge->calls_in_flight() == 0; }));
  for (auto& q : waiting) CAF_CHECK(q.finished() && is(q.take().error, errc::unavailable));
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
}

CAF_TEST(a cached handle of a dead owner fails soon) {
  fixture f{no_deadline};
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
  caf::scoped_actor self{f.system};
  const auto resolve = [&] {
    event_handle owner;
    self->request(f.region, seconds{10}, resolve_event{fake::number(fake::good_event)})
      .receive([&](const event_handle& found) { owner = found; }, [](const caf::error&) {});
    return owner;
  };
  const auto owner = resolve();
  f.order(timer_kind::idle);
  self->wait_for(owner); // dead, and its DOWN message is not processed yet
  resolve(); // on the only actor thread, so all that the death sends is sent
  CAF_CHECK(is(f.ask(fake::good_event, fake::customer(behaves::well)).error, errc::unavailable));
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
}

CAF_TEST(a request given back goes to the owner named next) {
  fixture f;
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
  f.order(timer_kind::moved);
  const auto has_moved = f.run_until([&] { // the owner's message is in flight
    const auto r = f.ask(fake::good_event, fake::customer(behaves::well, 4));
    CAF_CHECK(!r.error);
    CAF_CHECK_EQUAL(value_of(r.reply.entry.number), 5u);
    return !f.pushes.heard.empty();
  });
  CAF_CHECK(has_moved);
  CAF_CHECK((f.pushes.heard == std::vector<std::string>{"gone 16"}));
}

CAF_TEST(an owner that leaves is forgotten though nobody asks it) {
  fixture f;
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
  f.order(timer_kind::moved);
  CAF_CHECK(f.run_until([&] { return !f.pushes.heard.empty(); }));
  CAF_CHECK_EQUAL(f.pushes.heard.front(), "gone 16");
  CAF_CHECK(!f.bridge->tell_event(fake::number(fake::good_event), subscribe{true}));
}

CAF_TEST(a request that everybody gives back ends) {
  fixture f{no_deadline};
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
  f.order(timer_kind::lapse);
  f.order(timer_kind::moved);
  outcome last;
  const auto was_refused = f.run_until([&] { // the owner's messages are in flight
    last = f.ask(fake::good_event, fake::customer(behaves::well));
    return bool{last.error};
  });
  CAF_CHECK(was_refused);
  CAF_CHECK(is(last.error, errc::unavailable));
  CAF_CHECK_EQUAL(f.bridge->calls_in_flight(), 0u);
}

CAF_TEST(questions in flight are bounded per event) {
  fixture f{milliseconds{5000}, 3};
  std::vector<awaitable<outcome>> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(question(*f.bridge, fake::number(fake::good_event), fake::customer(behaves::silent)));
    waiting.back().start(nullptr, nullptr);
  }
  CAF_CHECK(is(f.ask(fake::good_event, fake::customer(behaves::well)).error, errc::unavailable));
  CAF_CHECK_EQUAL(f.state.asks_overloaded.load(), 1u);
  CAF_CHECK(!f.ask(fake::other_event, fake::customer(behaves::well)).error);
  waiting.clear();
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
}

CAF_TEST(a destroyed question is forgotten before and after its owner is found) {
  fixture f;
  for (int i = 0; i < 50; ++i) {
    auto q = question(*f.bridge, fake::number(fake::good_event), fake::customer(behaves::well));
    q.start(nullptr, nullptr);
    if (i % 2) {
      f.io.restart();
      f.io.poll();
    }
  }
  CAF_CHECK_EQUAL(f.bridge->calls_in_flight() <= 1, true); // the request to the region may still be open
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
}

CAF_TEST(many questions are all answered) {
  fixture f{no_deadline};
  std::vector<awaitable<outcome>> waiting;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    waiting.push_back(question(*f.bridge, fake::number(fake::good_event), fake::customer(behaves::well, i)));
    waiting.back().start(nullptr, nullptr);
  }
  for (auto& q : waiting) CAF_REQUIRE(f.run_until([&] { return q.finished(); }));
  CAF_CHECK_EQUAL(f.bridge->calls_in_flight(), 0u);
  for (std::uint64_t i = 0; i < waiting.size(); ++i) {
    const auto r = waiting[i].take();
    CAF_REQUIRE(!r.error);
    CAF_REQUIRE_EQUAL(value_of(r.reply.entry.number), i + 1);
  }
}

CAF_TEST(pushes reach the receiver in order) {
  fixture f;
  CAF_CHECK(!f.ask(fake::good_event, fake::customer(behaves::well)).error);
  CAF_CHECK(f.bridge->tell_event(fake::number(fake::good_event), subscribe{true}));
  f.run_until([] { return false; }, milliseconds{20}); // requests leave at the end of an io burst
  f.order(timer_kind::admission, 3);
  f.order(timer_kind::flush);
  CAF_CHECK(f.run_until([&] { return f.pushes.heard.size() == 2; }));
  for (const auto& what : f.pushes.heard) CAF_MESSAGE(what);
  CAF_CHECK((f.pushes.heard == std::vector<std::string>{"changed 3", "noticed"}));
}

CAF_TEST(stopping fails everything and refuses what comes later) {
  fixture f;
  auto q = question(*f.bridge, fake::number(fake::good_event), fake::customer(behaves::silent));
  q.start(nullptr, nullptr);
  f.run_until([&] { return false; }, milliseconds{20});
  f.bridge->stop();
  CAF_CHECK(q.finished());
  CAF_CHECK(is(q.take().error, errc::unavailable));
  auto late = question(*f.bridge, fake::number(fake::good_event), fake::customer(behaves::well));
  late.start(nullptr, nullptr);
  CAF_CHECK(late.finished());
}

CAF_TEST(starting and stopping in the middle of traffic harms nobody) {
  fake::environment clock;
  for (int run = 0; run < 300; ++run) {
    boost::asio::io_context io{1};
    server_state state;
    fake::one_thread_config cfg;
    caf::actor_system system{cfg};
    const auto region = system.spawn(fake::region);
    std::vector<awaitable<outcome>> waiting;
    {
      actor_bridge bridge{system, io, region, state, {milliseconds{5000}, 10'000}};
      bridge.sweep(clock.steady_now());
      for (std::uint64_t i = 0; i < 64; ++i) {
        const auto who = i % 7 == 0 ? fake::customer(behaves::silent) : fake::customer(behaves::well, i);
        waiting.push_back(question(bridge, fake::number(i % 2 ? fake::good_event : fake::other_event), who));
        waiting.back().start(nullptr, nullptr);
      }
      std::thread runner{[&] {
        const auto work = boost::asio::make_work_guard(io);
        io.run();
      }};
      if (run % 3 == 0) caf::anon_send(region, timer_fired{timer_kind::idle, 0});
      std::this_thread::sleep_for(std::chrono::microseconds{run * 13 % 900});
      io.stop();
      runner.join();
      if (run % 2) {
        bridge.stop();
        for (auto& q : waiting) CAF_REQUIRE(q.finished());
      }
      waiting.clear();
    }
    caf::anon_send_exit(region, caf::exit_reason::user_shutdown);
  }
}

} // namespace actor_bridge_test
