// SPDX-License-Identifier: Apache-2.0
// The ledger worker: one transaction for all waiting batches, isolation of a bad batch, answers during
// outages.
#define CAF_SUITE ledger_worker
#include "tests/actors/base/fixture.hpp"

namespace ledger_worker_test {

using namespace fq;
using namespace fq::test;

namespace {

struct worker_fixture : fixture {
  struct mail {
    std::vector<batch_settled> settled;
    std::vector<aggregate_acquired> acquired;
    std::vector<aggregate_id> lost;
    std::vector<std::string> order; ///< arrival order of the first two batches
  };
  std::shared_ptr<mail> box = std::make_shared<mail>();
  owner_handle me;

  worker_fixture() {
    auto b = box;
    me = keep(sys.spawn([b](owner_handle::pointer) -> owner_handle::behavior_type {
      return {[b](const batch_settled& x) {
                b->settled.push_back(x);
                b->order.emplace_back("settled");
              },
              [b](const aggregate_acquired& x) {
                b->acquired.push_back(x);
                b->order.emplace_back("acquired");
              },
              [b](const lease_lost& x) { b->lost.push_back(x.aggregate); }};
    }));
    run();
  }
  ~worker_fixture() { me = nullptr; }
  /// Batches have priority, as from owners.
  template <class Message>
  void send(Message m) {
    const auto priority =
      std::is_same_v<Message, commit_batch> ? caf::message_priority::high : caf::message_priority::normal;
    caf::actor_cast<caf::abstract_actor*>(worker)->eq_impl(
      caf::make_message_id(priority), caf::actor_cast<caf::strong_actor_ptr>(me), nullptr, std::move(m));
  }
  /// A batch that moves `aggregate` by one; its content is invalid unless `good`.
  batch_ptr batch_for(const event_row& e, bool good = true) {
    auto b = std::make_shared<batch>();
    b->aggregate = e.aggregate;
    b->epoch = store.head(e.aggregate)->epoch;
    b->from_seq = store.head(e.aggregate)->applied_seq;
    b->to_seq = b->from_seq + 1;
    b->content.emplace_back(stock_moved{0, good ? 1 : 1'000'000, 0});
    return b;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(ledger_worker_tests, worker_fixture)

CAF_TEST(batches that wait are committed together and answered each) {
  std::vector<event_row> events;
  for (std::uint32_t i = 0; i < 5; ++i) {
    events.push_back(put_event(10, {}, aggregate_id{16 + i}));
    store.acquire_unleased(events.back().aggregate, never);
  }
  for (const auto& e : events) send(commit_batch{batch_for(e)});
  run();
  CAF_CHECK_EQUAL(commits, 1u);
  CAF_REQUIRE_EQUAL(box->settled.size(), 5u);
  for (const auto& s : box->settled) CAF_CHECK(!s.unavailable && s.outcome == commit_outcome::committed);
}

CAF_TEST(a batch that fails its guard does no harm to the others) {
  const auto good = put_event(10, {}, aggregate_id{16});
  const auto bad = put_event(10, {}, aggregate_id{17});
  store.acquire_unleased(good.aggregate, never);
  store.acquire_unleased(bad.aggregate, never);
  send(commit_batch{batch_for(bad, false)});
  send(commit_batch{batch_for(good)});
  run();
  CAF_REQUIRE_EQUAL(box->settled.size(), 2u);
  CAF_CHECK(box->settled[0].outcome == commit_outcome::conflict);
  CAF_CHECK(box->settled[1].outcome == commit_outcome::committed);
  CAF_CHECK_EQUAL(store.find_ticket_type(good.aggregate, 0)->held, 1);
  CAF_CHECK_EQUAL(store.find_ticket_type(bad.aggregate, 0)->held, 0);
}

CAF_TEST(the same batch twice is applied once) {
  const auto e = put_event(10);
  store.acquire_unleased(e.aggregate, never);
  const auto b = batch_for(e);
  send(commit_batch{b});
  send(commit_batch{b});
  run();
  send(commit_batch{b});
  run();
  CAF_REQUIRE_EQUAL(box->settled.size(), 3u);
  CAF_CHECK(box->settled[0].outcome == commit_outcome::committed);
  CAF_CHECK(box->settled[1].outcome == commit_outcome::already_applied);
  CAF_CHECK(box->settled[2].outcome == commit_outcome::already_applied);
  CAF_CHECK_EQUAL(store.find_ticket_type(e.aggregate, 0)->held, 1);
}

CAF_TEST(an outage and an unknown commit are told as unavailable) {
  const auto e = put_event(10);
  store.acquire_unleased(e.aggregate, never);
  commit_faults = {{commit_fault::kind::unavailable, 0}, {commit_fault::kind::unknown_lost, 0}};
  for (int i = 0; i < 2; ++i) {
    send(commit_batch{batch_for(e)});
    run();
  }
  CAF_REQUIRE_EQUAL(box->settled.size(), 2u);
  CAF_CHECK(box->settled[0].unavailable && box->settled[1].unavailable);
}

CAF_TEST(acquiring raises the epoch and tells absence and outage apart) {
  const auto e = put_event(10);
  send(acquire_aggregate{e.aggregate, idempotency_life, 2h});
  run();
  send(acquire_aggregate{aggregate_id{999}});
  run();
  acquire_failures = 1;
  send(acquire_aggregate{e.aggregate, idempotency_life, 2h});
  run();
  CAF_REQUIRE_EQUAL(box->acquired.size(), 3u);
  CAF_CHECK(box->acquired[0].outcome == acquire_outcome::acquired && box->acquired[0].content->epoch == 1);
  CAF_CHECK(box->acquired[1].outcome == acquire_outcome::absent);
  CAF_CHECK(box->acquired[2].outcome == acquire_outcome::unavailable);
}

CAF_TEST(more than one commit may carry goes into the next) {
  const auto e = put_event(10);
  store.acquire_unleased(e.aggregate, never);
  const auto b = batch_for(e);
  for (std::size_t i = 0; i < batches_per_commit_max + 1; ++i) send(commit_batch{b});
  run();
  CAF_CHECK_EQUAL(commits, 2u);
  CAF_CHECK_EQUAL(box->settled.size(), batches_per_commit_max + 1);
}

CAF_TEST(a batch does not wait for what else came before it) {
  const auto e = put_event(10);
  store.acquire_unleased(e.aggregate, never);
  for (std::uint32_t i = 1; i <= 3; ++i) {
    put_event(10, {}, aggregate_id{16 + i});
    send(acquire_aggregate{aggregate_id{16 + i}});
  }
  send(commit_batch{batch_for(e)});
  run();
  CAF_CHECK((box->order == std::vector<std::string>{"settled", "acquired", "acquired", "acquired"}));
}

CAF_TEST(lists are paged) {
  for (std::uint32_t i = 0; i < 5; ++i) put_event(10, {}, aggregate_id{16 + i});
  auto page = ask<event_list_reply>(worker, list_events{.limit = 3});
  run();
  CAF_REQUIRE(page->ok);
  CAF_CHECK_EQUAL(page->value.events.size(), 3u);
  CAF_CHECK(page->value.more);
  auto rest = ask<event_list_reply>(
    worker, list_events{.after = page->value.events.back().event.aggregate, .limit = 3});
  run();
  CAF_CHECK(rest->ok && rest->value.events.size() == 2 && !rest->value.more);
}

CAF_TEST(a list says which events are sold out) {
  const auto gone = put_event(1);
  put_event(1, {}, aggregate_id{17});
  const auto own = store.acquire_unleased(gone.aggregate, never);
  const batch b{gone.aggregate,       own->epoch,     own->applied_seq,
                own->applied_seq + 1, env.wall_now(), {stock_moved{0, 0, 1}}};
  CAF_REQUIRE(store.commit(std::span{&b, 1}).at(0) == commit_outcome::committed);
  auto page = ask<event_list_reply>(worker, list_events{.limit = 3});
  run();
  CAF_REQUIRE(page->ok && page->value.events.size() == 2);
  CAF_CHECK(page->value.events[0].sold_out && !page->value.events[1].sold_out);
}

CAF_TEST(finished tasks are in the history of every node and after a restart) {
  task_history mine, others;
  const auto begin = [this](task_history& history) {
    return sys.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&env),
                     ledger_worker_settings{.prune_interval = 24h, .tasks = &history});
  };
  const auto names = [](const task_history& history) {
    std::string all;
    for (const auto& task : history.all()) all += task.name;
    return all;
  };
  const auto add = [this](task_history& to, const std::string& name) {
    advance(1ms);
    to.add({.ended_at = env.wall_now(), .name = name, .result = "refunded", .detail = "caf\u00e9"});
  };
  auto me = begin(mine), other = begin(others);
  run();
  add(mine, "a");
  add(others, "b");
  CAF_CHECK_EQUAL(names(mine), "a"); // at once
  advance(tasks_interval);
  advance(tasks_interval);
  CAF_CHECK_EQUAL(names(mine), "ba");
  CAF_CHECK_EQUAL(names(others), "ba");
  add(mine, "c");
  kill(me); // an orderly end
  me = nullptr;
  task_history later;
  me = begin(later);
  run();
  CAF_CHECK_EQUAL(names(later), "cba");
  CAF_CHECK_EQUAL(later.all().front().detail, "caf??"); // a text that no ledger refuses
  kill(me);
  kill(other);
}

CAF_TEST(tasks wait for a ledger that is away) {
  task_history history;
  const auto add = [&](const std::string& name) {
    history.add({.ended_at = env.wall_now(), .name = name, .result = "refunded", .detail = {}});
  };
  add("a");
  CAF_CHECK_EQUAL(history.to_store().size(), 1u); // fails
  add("b");
  const auto both = history.to_store();
  CAF_CHECK_EQUAL(both.size(), 2u);
  history.stored(store.keep_tasks(both, history.last_id()));
  CAF_CHECK(history.to_store().empty());
  CAF_CHECK_EQUAL(history.all().size(), 2u);
  for (std::size_t i = 0; i < 2 * task_history::tasks_max; ++i) add("c");
  CAF_CHECK_EQUAL(history.to_store().size(), task_history::tasks_max);
  CAF_CHECK_EQUAL(history.all().size(), task_history::tasks_max);
}

CAF_TEST(an export has no mail of the address that an order names as its contact) {
  const auto e = put_event(10);
  const customer_id mallory{7, 7};
  const std::string victim = "victim@example.org", own = "mallory@example.org";
  order_row order;
  order.id = make_uuid(env.wall_now(), e.aggregate, 1);
  order.customer = mallory;
  order.contact = {"M", "M", victim, "", own};
  const auto mail_to = [&](std::uint64_t n, const std::string& to, const std::string& about) {
    return outbox_row{{n, n},
                      "mail.send",
                      R"({"template":"x","to":")" + to + R"(","order_id":")" + about + "\"}",
                      env.wall_now()};
  };
  const auto head = *store.acquire_unleased(e.aggregate, never);
  claim_row claim;
  claim.id = order.claim = make_uuid(env.wall_now(), e.aggregate, 2);
  claim.customer = mallory;
  const batch b{e.aggregate,
                head.epoch,
                head.applied_seq,
                head.applied_seq + 1,
                env.wall_now(),
                {claim_opened{claim}, order_placed{order}, outbox_appended{mail_to(1, victim, "another")},
                 outbox_appended{mail_to(2, own, "another")},
                 outbox_appended{mail_to(3, "older@example.org", to_string(order.id))}}};
  CAF_REQUIRE(store.commit({&b, 1}).at(0) == commit_outcome::committed);
  auto found = ask<records_reply>(worker, list_records{mallory, own, {record_kind::mail, {}, 0, 0, {}}, 50});
  run();
  std::vector<uuid> mails;
  for (const auto& r : found->value.page.records) mails.push_back(r.at.id);
  CAF_CHECK((mails == std::vector<uuid>{{2, 2}, {3, 3}}));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace ledger_worker_test
