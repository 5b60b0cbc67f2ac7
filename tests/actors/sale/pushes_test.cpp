// SPDX-License-Identifier: Apache-2.0
// Listeners on other nodes that do not read: the owner stops pushing, and lets them restart after they have
// read.
#define CAF_SUITE pushes
#include "tests/actors/base/nodes.hpp"

#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>

namespace pushes_test {

using namespace fq;
using namespace fq::test;

namespace {

/// Stands for an actor of another node.
class remote_listener final : public caf::monitorable_actor {
public:
  explicit remote_listener(caf::actor_config& config) : caf::monitorable_actor(config) {}
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) override {
    const auto& content = element->content();
    if (content.match_element<push_mark>(0)) marks.push_back(content.get_as<push_mark>(0));
    if (content.match_element<entries_changed>(0))
      changes += content.get_as<entries_changed>(0).changes.size();
    if (content.match_element<sessions_changed>(0)) {
      ++words;
      if (content.get_as<sessions_changed>(0).is_lost) ++lost;
    }
    if (content.match_element<pushes_lost>(0)) ++lost;
  }
  std::vector<push_mark> marks;
  std::size_t changes = 0, words = 0, lost = 0;
};

constexpr aggregate_id open_aggregate{17};

struct pushes_fixture : nodes_fixture {
  event_row open_event; ///< admits every place at once
  event_handle owner;
  caf::strong_actor_ptr handle = make_listener();
  remote_listener& listener = *static_cast<remote_listener*>(caf::actor_cast<caf::abstract_actor*>(handle));
  std::uint64_t fans = 0;

  pushes_fixture() {
    queue_settings queue;
    queue.policy = admission_policy::open;
    open_event = put_event(1'000'000, queue, open_aggregate);
    const auto found = ask<event_handle>(start("a").root, resolve_event{open_aggregate});
    run();
    owner = found->value;
  }
  caf::strong_actor_ptr make_listener() {
    caf::actor_config config{sys.dummy_execution_unit()};
    const auto elsewhere = caf::make_node_id(77, caf::node_id::default_data::host_id_type{});
    return caf::make_actor<remote_listener, caf::strong_actor_ptr>(sys.next_actor_id(), elsewhere, &sys,
                                                                   config);
  }
  template <class Message>
  void tell(const Message& message) {
    caf::actor_cast<caf::abstract_actor*>(owner)->eq_impl(caf::make_message_id(), handle, nullptr, message);
    run();
  }
  void admit(std::uint64_t count) {
    for (const auto last = fans + count; fans < last; ++fans) {
      ask<entry_reply>(owner, join{open_event.id, customer(fans), 0});
      run();
    }
  }
  void read_all() {
    for (const auto& mark : std::exchange(listener.marks, {})) tell(push_read{mark.number, mark.kind});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(pushes_tests, pushes_fixture)

CAF_TEST(a subscriber of another node that reads everything misses nothing) {
  tell(subscribe{true});
  for (int i = 0; i < 25; ++i) {
    admit(1'000);
    read_all();
  }
  CAF_CHECK_GREATER(listener.changes, push_window_max);
  CAF_CHECK_EQUAL(listener.lost, 0u);
}

CAF_TEST(a subscriber of another node that reads nothing is told no more and begins anew when it has read) {
  tell(subscribe{true});
  admit(25'000);
  CAF_CHECK_LESS(listener.changes, push_window_max + 1);
  CAF_CHECK_EQUAL(listener.lost, 0u);
  const auto before = listener.changes;
  admit(10);
  CAF_CHECK_EQUAL(listener.changes, before);
  read_all();
  CAF_CHECK_EQUAL(listener.lost, 1u);
  admit(10);
  CAF_CHECK_GREATER(listener.changes, before);
}

CAF_TEST(a table of sessions of another node that reads nothing forgets them when it has read) {
  tell(watch_sessions{true});
  admit(25'000);
  const auto before = listener.words;
  CAF_CHECK_LESS(before, push_window_max + 1);
  advance(10s); // no confirmation of unchanged state either
  CAF_CHECK_EQUAL(listener.words, before);
  CAF_CHECK_EQUAL(listener.lost, 0u);
  read_all();
  CAF_CHECK_EQUAL(listener.lost, 1u);
  advance(1s);
  CAF_CHECK_GREATER(listener.words, before + 1);
}

CAF_TEST(a table that watches an event of very many sessions and reads keeps them) {
  admit(25'000);
  tell(watch_sessions{true});
  for (int i = 0; i < 20; ++i) {
    read_all();
    advance(1s);
    admit(10);
  }
  CAF_CHECK_GREATER(listener.words, 20u);
  CAF_CHECK_EQUAL(listener.lost, 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace pushes_test
