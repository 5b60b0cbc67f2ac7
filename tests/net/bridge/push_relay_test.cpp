// SPDX-License-Identifier: Apache-2.0
// A push from an owner on another node is sent once and reaches every io thread that subscribed.
#define CAF_SUITE net_relay
#include "caf/test/unit_test.hpp"

#include "net/bridge/push_relay.hpp"
#include "tests/net/server/fakes.hpp"

#include <caf/scoped_actor.hpp>

namespace push_relay_test {

using namespace fq;
using namespace fq::net;

namespace {

struct fixture {
  fake::one_thread_config cfg;
  caf::actor_system system{cfg};
  shared_push_relay relay{system};
  caf::scoped_actor a{system}, b{system},
    owner{system}; ///< two io threads, and an owner whose messages the test sends
  const event_id event = fake::event_of(fake::good_event);

  static caf::strong_actor_ptr sink(caf::scoped_actor& x) {
    return caf::actor_cast<caf::strong_actor_ptr>(x);
  }
  event_handle handle() { return caf::actor_cast<event_handle>(sink(owner)); }
  /// Names of the messages that `who` receives within a short time.
  std::string heard(caf::scoped_actor& who) {
    std::string all;
    bool more = true;
    while (more)
      who->receive(
        [&](const subscribe& x) { all += x.on ? "subscribe " : "unsubscribe "; },
        [&](const watch_sessions& x) { all += x.on ? "watch " : "unwatch "; },
        [&](const push_read& x) { all += "read " + std::to_string(x.number) + " "; },
        [&](const entries_changed&) { all += "moved "; }, [&](const owner_left&) { all += "left "; },
        [&](const sessions_changed&) { all += "sessions "; }, [&](const entry_reply&) { all += "answer "; },
        caf::after(milliseconds{20}) >> [&] { more = false; });
    return all;
  }
  template <class Message>
  void push(const Message& message) {
    relay.get()->enqueue(caf::make_mailbox_element(sink(owner), caf::make_message_id(), {}, message),
                         nullptr);
  }
  entries_changed moved(std::uint64_t version = 1) const { return {event, version - 1, version, {}, {}}; }
  sessions_changed news() const {
    sessions_changed x;
    x.event = event;
    return x;
  }
};

} // namespace

CAF_TEST(who pushes once is heard by every thread that subscribed) {
  fixture f;
  f.relay.get()->subscribe(f.handle(), f.sink(f.a), true);
  f.relay.get()->subscribe(f.handle(), f.sink(f.b), true);
  CAF_CHECK_EQUAL(f.heard(f.owner), "subscribe subscribe "); // the second is a repeat for an owner
  f.push(f.moved());
  f.push(owner_left{fake::number(fake::good_event)});
  CAF_CHECK_EQUAL(f.heard(f.a), "moved left ");
  CAF_CHECK_EQUAL(f.heard(f.b), "moved left ");
}

CAF_TEST(the owner is left when the last thread leaves and not before) {
  fixture f;
  f.relay.get()->subscribe(f.handle(), f.sink(f.a), true);
  f.relay.get()->subscribe(f.handle(), f.sink(f.b), true);
  f.heard(f.owner);
  f.relay.get()->subscribe(f.handle(), f.sink(f.a), false);
  CAF_CHECK_EQUAL(f.heard(f.owner), "");
  f.push(f.moved());
  CAF_CHECK_EQUAL(f.heard(f.a), "");
  CAF_CHECK_EQUAL(f.heard(f.b), "moved ");
  f.relay.get()->subscribe(f.handle(), f.sink(f.b), false);
  CAF_CHECK_EQUAL(f.heard(f.owner), "unsubscribe ");
  f.relay.get()->subscribe(f.handle(), f.sink(f.b), false);
  CAF_CHECK_EQUAL(f.heard(f.owner), "");
}

CAF_TEST(sessions go to the tables and places to the hubs) {
  fixture f;
  const auto aggregate = fake::number(fake::good_event);
  f.relay.get()->watch_sessions(aggregate, f.handle(), f.sink(f.a), true);
  f.relay.get()->subscribe(f.handle(), f.sink(f.b), true);
  CAF_CHECK_EQUAL(f.heard(f.owner), "watch subscribe ");
  f.push(f.news());
  f.push(f.moved());
  CAF_CHECK_EQUAL(f.heard(f.a), "sessions ");
  CAF_CHECK_EQUAL(f.heard(f.b), "moved ");
  f.relay.get()->watch_sessions(aggregate, f.handle(), f.sink(f.b),
                                true); // subscribes again: the new table is empty
  CAF_CHECK_EQUAL(f.heard(f.owner), "watch ");
}

CAF_TEST(a table that comes with another owner begins a list of its own) {
  fixture f;
  const auto aggregate = fake::number(fake::good_event);
  f.relay.get()->watch_sessions(aggregate, f.handle(), f.sink(f.a), true);
  const auto successor = caf::actor_cast<event_handle>(f.sink(f.b));
  f.relay.get()->watch_sessions(aggregate, successor, f.sink(f.owner), true);
  f.relay.get()->watch_sessions(aggregate, f.handle(), f.sink(f.a),
                                false); // too late to end the successor's subscription
  f.heard(f.owner);
  f.push(f.news());
  CAF_CHECK_EQUAL(f.heard(f.a), "");
  CAF_CHECK_EQUAL(f.heard(f.owner), "sessions ");
}

CAF_TEST(a mark goes back to who sent it) {
  fixture f;
  f.push(push_mark{17, push_kind::places});
  CAF_CHECK_EQUAL(f.heard(f.owner), "read 17 ");
}

CAF_TEST(a thread that ends is told nothing more) {
  fixture f;
  f.relay.get()->subscribe(f.handle(), f.sink(f.a), true);
  f.relay.get()->watch_sessions(fake::number(fake::good_event), f.handle(), f.sink(f.a), true);
  f.relay.get()->forget(f.sink(f.a));
  f.push(f.moved());
  f.push(f.news());
  CAF_CHECK_EQUAL(f.heard(f.a), "");
}

CAF_TEST(a thread sees the version of a push that it has not read) {
  fixture f;
  const auto told = f.relay.get()->subscribe(f.handle(), f.sink(f.a), true);
  CAF_REQUIRE(told != nullptr);
  CAF_CHECK(told->is_in(0));
  f.push(f.moved(7));
  CAF_CHECK(told->is_in(7) && !told->is_in(6));
  CAF_CHECK(f.relay.get()->subscribe(f.handle(), f.sink(f.b), true) == told);
}

} // namespace push_relay_test
