// SPDX-License-Identifier: Apache-2.0
// Domain events from the outbox to a consumer: complete, ordered per aggregate, repeated until acknowledged
// (I16).
#define CAF_SUITE dispatcher
#include "actors/outbox/dispatcher.hpp"
#include "tests/actors/base/fixture.hpp"

namespace dispatcher_test {

using namespace fq;
using namespace fq::test;

namespace {

/// Records what a consumer received, and sets its behaviour.
struct consumer_log {
  std::vector<outbox_item> seen;
  std::vector<aggregate_id> firsts; ///< first row's aggregate of each batch
  bool stops_at_first = false; ///< processes nothing, and ignores everything after the first aggregate's rows
  bool answers = true;
  std::size_t takes_at_most = 1'000;
};

struct dispatcher_fixture : fixture {
  std::shared_ptr<consumer_log> log = std::make_shared<consumer_log>();
  dispatcher_handle carrier;
  bool may_take = true;
  std::uint8_t lanes = bit_of(lane::notices); ///< lanes of the appended events
  outbox_counts counts;
  event_row event = put_event(10);

  void start() {
    auto l = log;
    auto consumer = keep(sys.spawn([l](consumer_handle::pointer self) -> consumer_handle::behavior_type {
      return {[self, l](const consume_outbox& x) {
        auto keys = std::make_shared<std::vector<outbox_key>>();
        const auto asker = caf::actor_cast<dispatcher_handle>(self->current_sender());
        l->firsts.push_back(x.items->front().key.aggregate);
        if (l->stops_at_first) return self->send(asker, outbox_consumed{std::move(keys), l->firsts.back()});
        for (const auto& item : *x.items) {
          if (keys->size() == l->takes_at_most) break;
          l->seen.push_back(item);
          keys->push_back(item.key);
        }
        if (l->answers) self->send(asker, outbox_consumed{std::move(keys), {}});
      }};
    }));
    carrier = keep(sys.spawn(dispatcher, ledgers, consumer,
                             dispatcher_settings{lane::notices, [this] { return may_take; }, &counts}));
    run();
  }
  ~dispatcher_fixture() { carrier = nullptr; }

  /// Appends `count` domain events in one batch of `aggregate`.
  void tell(std::size_t count, aggregate_id aggregate) {
    const auto own = store.acquire_unleased(aggregate, never);
    batch b;
    b.aggregate = aggregate;
    b.epoch = own->epoch;
    b.from_seq = own->applied_seq;
    b.to_seq = b.from_seq + 1;
    b.at = env.wall_now();
    for (std::size_t i = 0; i < count; ++i)
      b.content.emplace_back(
        outbox_appended{{env.make_id(b.at, aggregate), "queue.turn_granted", "{}", b.at, lanes}});
    CAF_REQUIRE(store.commit(std::span{&b, 1}).at(0) == commit_outcome::committed);
  }
  [[nodiscard]] bool in_order() const {
    std::map<aggregate_id, outbox_key> last;
    for (const auto& item : log->seen) {
      auto [i, first] = last.try_emplace(item.key.aggregate, item.key);
      if (!first && !(i->second < item.key)) return false;
      i->second = item.key;
    }
    return true;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(dispatcher_tests, dispatcher_fixture)

CAF_TEST(what waits is shown with its age and what went out is counted) {
  log->takes_at_most = 1;
  tell(3, event.aggregate);
  const auto began = unix_ms(env.wall_now());
  start();
  CAF_CHECK_EQUAL(counts.rows.get(), 3);
  CAF_CHECK_EQUAL(counts.oldest.get(), began);
  for (int i = 0; i < 4; ++i) advance(1s);
  CAF_CHECK_EQUAL(counts.rows.get(), 0);
  CAF_CHECK_EQUAL(counts.oldest.get(), 0);
  CAF_CHECK_EQUAL(counts.delivered.get(), 3u);
  log->takes_at_most = 0;
  tell(2, event.aggregate);
  advance(10s);
  CAF_CHECK_EQUAL(counts.rows.get(), 2);
  CAF_CHECK(counts.oldest.get() > 0 && counts.oldest.get() <= unix_ms(env.wall_now()) - 10'000);
  log->takes_at_most = 1'000;
  for (int i = 0; i < 2; ++i) advance(1s);
  CAF_CHECK_EQUAL(counts.rows.get(), 0);
  CAF_CHECK_EQUAL(counts.oldest.get(), 0);
  CAF_CHECK_EQUAL(counts.delivered.get(), 5u);
}

CAF_TEST(what was committed goes out once and in order) {
  const auto other = put_event(10, {}, aggregate_id{17});
  start();
  for (int i = 0; i < 5; ++i) {
    tell(3, event.aggregate);
    tell(2, other.aggregate);
  }
  advance(outbox_poll);
  CAF_CHECK_EQUAL(log->seen.size(), 25u);
  CAF_CHECK(in_order());
  advance(10 * outbox_poll);
  CAF_CHECK_EQUAL(log->seen.size(), 25u);
}

CAF_TEST(what a consumer had no time to look at comes first the next time) {
  const auto other = put_event(10, {}, aggregate_id{17}), third = put_event(10, {}, aggregate_id{18});
  log->stops_at_first = true;
  for (const auto& e : {event, other, third}) tell(1, e.aggregate);
  start();
  for (int i = 0; i < 3; ++i) advance(outbox_poll);
  CAF_CHECK((log->firsts == std::vector{event.aggregate, other.aggregate, third.aggregate, event.aggregate}));
}

CAF_TEST(a lane does not wait for another and a row is delivered when it has passed its last) {
  lanes = bit_of(lane::notices) | bit_of(lane::bus);
  start();
  tell(2, event.aggregate);
  lanes = bit_of(lane::mail);
  tell(1, event.aggregate);
  advance(outbox_poll);
  CAF_CHECK_EQUAL(log->seen.size(), 2u); // the mail belongs to another lane
  const std::uint32_t partition[] = {number_of(event.aggregate) % outbox_partitions};
  CAF_CHECK(store.undelivered(lane::notices, partition, 9, {}).empty());
  CAF_CHECK_EQUAL(store.undelivered(lane::bus, partition, 9, {}).size(), 2u);
  CAF_CHECK_EQUAL(store.undelivered(lane::mail, partition, 9, {}).size(), 1u);
  auto idle = keep(sys.spawn(no_consumer, static_cast<environment*>(&env)));
  keep(sys.spawn(dispatcher, ledgers, idle, dispatcher_settings{lane::bus}));
  run();
  advance(outbox_poll);
  CAF_CHECK_EQUAL(store.undelivered(lane::bus, partition, 9, {}).size(), 2u); // another node may have a bus
  advance(roll_out_max);
  CAF_CHECK(store.undelivered(lane::bus, partition, 9, {}).empty());
  CAF_CHECK_EQUAL(store.undelivered(lane::mail, partition, 9, {}).size(), 1u);
  const auto later = env.wall_now() + 1s;
  CAF_CHECK_EQUAL(store.prune({never, never, later, 9}), 2u); // the mail is not sent yet
}

CAF_TEST(while nodes of another kind serve nothing is taken from them) {
  may_take = false;
  tell(3, event.aggregate);
  start();
  advance(10 * outbox_poll);
  CAF_CHECK(log->seen.empty());
  may_take = true;
  advance(outbox_poll);
  CAF_CHECK_EQUAL(log->seen.size(), 3u);
}

CAF_TEST(a backlog goes out without waiting for the next poll) {
  for (int i = 0; i < 20; ++i) tell(100, event.aggregate);
  start();
  for (int i = 0; i < 40; ++i) advance(1ms);
  CAF_CHECK_EQUAL(log->seen.size(), 2'000u);
  CAF_CHECK(in_order());
}

CAF_TEST(what a consumer leaves comes again) {
  log->takes_at_most = 2;
  tell(5, event.aggregate);
  start();
  for (int i = 0; i < 5; ++i) advance(outbox_poll);
  CAF_CHECK_EQUAL(log->seen.size(), 5u);
  CAF_CHECK(in_order());
}

CAF_TEST(what was not marked goes out again under the same id) {
  log->answers = false;
  tell(2, event.aggregate);
  start();
  CAF_CHECK_EQUAL(log->seen.size(), 2u);
  log->answers = true;
  advance(outbox_answer_timeout);
  CAF_REQUIRE_EQUAL(log->seen.size(), 4u);
  CAF_CHECK(log->seen[0].row.id == log->seen[2].row.id);
  advance(10 * outbox_poll);
  CAF_CHECK_EQUAL(log->seen.size(), 4u);
}

CAF_TEST(an admission is told with the decision that admits) {
  owner_services services;
  services.env = &env;
  services.sessions = &sessions;
  services.ledgers = ledgers;
  auto owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services),
                              supervisor_handle{}));
  run();
  start();
  auto place = ask<entry_reply>(owner, join{event.id, customer(1), 0});
  run();
  advance(outbox_poll);
  CAF_REQUIRE(place->ok);
  CAF_REQUIRE_EQUAL(log->seen.size(), 1u);
  CAF_CHECK_EQUAL(log->seen[0].row.topic, "queue.turn_granted");
  CAF_CHECK(log->seen[0].row.payload.find(to_string(place->value.entry.id)) != std::string::npos);
  kill(owner);
  services.ledgers.clear();
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace dispatcher_test
