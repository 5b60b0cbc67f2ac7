// SPDX-License-Identifier: Apache-2.0
// What an owner pushes and answers gives an io thread the positions that the owner itself would tell.
#define CAF_SUITE line_pushes
#include "domain/line/line_copy.hpp"
#include "tests/actors/sale/event_fixture.hpp"
#include "tests/domain/sale/seeds.hpp"

namespace line_pushes_test {

using namespace fq;
using namespace fq::test;

namespace {

/// The line of one io thread.
struct reader {
  line_copy copy;
  std::map<std::uint64_t, std::pair<line_spot, std::int64_t>> places; ///< by customer
  int missed = 0, lost = 0;
  bool was_told_first = true; ///< every push after its version
  std::shared_ptr<const told_version> told;
};

struct line_fixture : event_fixture {
  std::shared_ptr<reader> thread = std::make_shared<reader>();

  void subscribe_thread() {
    const auto subscriber =
      sys.spawn([t = thread](subscriber_handle::pointer) -> subscriber_handle::behavior_type {
        return {[t](const entries_changed& x) {
                  t->was_told_first = t->was_told_first && t->told && !t->told->is_in(x.version - 1);
                  const auto news = t->copy.advance(x.before, x.version);
                  t->missed += news == line_copy::news::missed ? 1 : 0;
                  if (news != line_copy::news::next) return;
                  for (const auto& s : x.overtaking) t->copy.arrived(s);
                  for (const auto& c : x.changes) t->copy.changed(c.spot, c.status);
                },
                [](const event_noticed&) {},
                [](const orders_changed&) {},
                [](const owner_left&) {},
                [](const push_mark&) {},
                [t](const pushes_lost&) { ++t->lost; }};
      });
    keep(subscriber);
    caf::actor_cast<caf::abstract_actor*>(owner)->eq_impl(
      caf::make_message_id(), caf::actor_cast<caf::strong_actor_ptr>(subscriber), nullptr, subscribe{true});
    begin();
  }
  void begin() {
    auto line = ask<line_reply>(owner, find_line{event.id});
    run();
    CAF_REQUIRE(line->ok);
    thread->copy.begin(line->value.line.version);
    thread->told = line->value.line.told;
    thread->places.clear();
  }
  entry_reply poll(std::uint64_t n) {
    auto found = find_as(n);
    run();
    CAF_REQUIRE(found->ok);
    return found->value;
  }
  void check(std::uint64_t seed, std::uint64_t n) {
    const auto now = poll(n);
    if (now.no) return;
    FQ_HOLDS(seed, now.line_version == thread->copy.version());
    FQ_HOLDS(seed, thread->told->is_in(now.line_version));
    const bool waits = is_in_line(now.entry.status);
    if (const auto known = thread->places.find(n);
        known != thread->places.end() && known->second.first == now.entry.spot) {
      const auto position = thread->copy.position(now.entry.spot, known->second.second);
      FQ_HOLDS(seed, position.has_value() == waits);
      FQ_HOLDS(seed, !position || *position == now.entry.position);
    } else if (waits) {
      thread->places[n] = {now.entry.spot, thread->copy.base_of(now.entry.spot, now.entry.position)};
    }
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(line_pushes_tests, line_fixture)

CAF_TEST(positions from pushes are those of the owner) {
  const std::uint64_t seed = 11;
  dice d{seed};
  auto queue = one_by_one();
  queue.concurrency = 3;
  queue.presence_timeout = 20s;
  start(1'000, queue);
  std::vector<customer_id> preferred;
  for (std::uint64_t n = 0; n < 60; n += 5) preferred.push_back(customer(n));
  ask<count_reply>(owner, set_priorities{managed_by_organizer(event), {}, preferred, {true, priority_vip}});
  run();
  subscribe_thread();
  for (int i = 0; i < 1200; ++i) {
    const auto n = d.below(60);
    const auto what = d.below(100);
    if (what < 50) join_as(n);
    if (what >= 50 && what < 80) ask<ack_reply>(owner, leave{event.id, customer(n)});
    if (what >= 80 && what < 82) advance(21s); // all that do not poll are AWAY
    if (d.chance(30)) run(); // else the next change may join its batch
    for (int k = d.chance(40) ? 8 : 0; k > 0; --k) check(seed, d.below(60));
  }
  CAF_CHECK_EQUAL(thread->missed, 0);
  CAF_CHECK(thread->was_told_first);
  CAF_CHECK_GREATER(thread->copy.moves(), 200u);
}

CAF_TEST(an owner that loads again voids what io threads know) {
  start(10, one_by_one());
  for (std::uint64_t n = 1; n <= 4; ++n) join_as(n);
  run();
  subscribe_thread();
  check(0, 4);
  const auto told = thread->told;
  CAF_CHECK(told->is_in(thread->copy.version()));
  store.acquire_unleased(event.aggregate, never); // a rival owner
  auto lost = ask<ack_reply>(owner, leave{event.id, customer(2)});
  run();
  CAF_CHECK(!told->is_in(thread->copy.version()));
  CAF_CHECK_EQUAL(thread->lost, 1);
  begin();
  check(0, 4);
  ask<ack_reply>(owner, leave{event.id, customer(3)});
  run();
  check(0, 4);
  CAF_CHECK_EQUAL(thread->missed, 0);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace line_pushes_test
