// SPDX-License-Identifier: Apache-2.0
// Standalone queues in their owner: tickets, operators, presence, the audit log, and the updates to session
// tables.
#define CAF_SUITE waiting_room
#include "tests/actors/base/fixture.hpp"

#include <set>

namespace waiting_room_test {

using namespace fq;
using namespace fq::test;

namespace {

struct table_log {
  std::vector<sessions_changed> pushes;
};

struct waiting_room_fixture : fixture {
  owner_services services;
  event_row queue;
  event_handle owner;
  std::shared_ptr<table_log> log = std::make_shared<table_log>();
  caf::actor table;
  const principal by_operator{principal_kind::operate, default_tenant, {7, 7}};

  void start(queue_settings settings) {
    queue = put_event(10, settings);
    become_queue();
    services.env = &env;
    services.sessions = &sessions;
    services.ledgers = ledgers;
    start_again();
  }
  void start_again() {
    owner = keep(sys.spawn(event_actor, queue.aggregate, static_cast<const owner_services*>(&services),
                           supervisor_handle{}));
    run();
  }
  /// A queue that admits `rate` visitors a minute and forgets early what has ended.
  void start_rated(std::uint32_t rate) {
    services.rules.memory_retention = 10s;
    queue_settings settings;
    settings.policy = admission_policy::capacity;
    settings.concurrency = rate;
    settings.claim_window = settings.session_ttl;
    settings.rate_per_minute = rate;
    start(settings);
  }
  /// Done by the catalog in production.
  void become_queue() {
    const auto own = store.acquire_unleased(queue.aggregate, never);
    queue.kind = event_kind::queue;
    queue.sale_start = queue.sale_end = never;
    batch b{queue.aggregate, own->epoch, own->applied_seq, own->applied_seq + 1, env.wall_now(), {}};
    b.content.emplace_back(event_changed{queue.status, queue});
    CAF_REQUIRE(store.commit(std::span{&b, 1})[0] == commit_outcome::committed);
  }
  ~waiting_room_fixture() {
    services.ledgers.clear();
    if (owner) kill(owner);
    owner = nullptr;
    table = nullptr;
  }
  managed as_operator() const { return {queue.id, by_operator, event_kind::queue}; }
  auto join_as(std::uint64_t n) {
    join j{queue.id, customer(n), 0, event_kind::queue, default_tenant, "fan " + std::to_string(n)};
    return ask<entry_reply>(owner, std::move(j));
  }
  entry_view joined(std::uint64_t n) {
    auto place = join_as(n);
    run();
    CAF_REQUIRE(place->ok && !place->value.no);
    return place->value.entry;
  }
  void leave(const entry_view& place) {
    auto gone = ask<ack_reply>(owner, leave_ticket{place.id});
    run();
    CAF_REQUIRE(gone->ok && !gone->value.no);
  }
  entry_view shown(const entry_id& ticket) {
    auto place = ask<entry_reply>(owner, find_ticket{ticket});
    run();
    CAF_REQUIRE(place->ok && !place->value.no);
    return place->value.entry;
  }
  /// A join that fails because the owner was fenced.
  void joined_in_vain() {
    join_as(99);
    run();
  }
  void watch() {
    auto words = log;
    table = keep(sys.spawn([words](caf::event_based_actor*) -> caf::behavior {
      return {[words](const sessions_changed& x) { words->pushes.push_back(x); }};
    }));
    caf::actor_cast<caf::abstract_actor*>(owner)->eq_impl(
      caf::make_message_id(), caf::actor_cast<caf::strong_actor_ptr>(table), nullptr, watch_sessions{true});
    run();
  }
};

queue_settings one_at_a_time() {
  queue_settings q;
  q.policy = admission_policy::capacity;
  q.concurrency = 1;
  q.claim_window = q.session_ttl;
  return q;
}

queue_settings by_hand() {
  queue_settings q;
  q.policy = admission_policy::operated;
  q.claim_window = q.session_ttl;
  return q;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(waiting_room_tests, waiting_room_fixture)

CAF_TEST(a place is known by its own id and shows its subject) {
  start(one_at_a_time());
  const auto first = joined(1), second = joined(2);
  CAF_CHECK_EQUAL(shown(second.id).subject_name, "fan 2");
  CAF_CHECK(shown(first.id).status == entry_status::admitted);
  CAF_CHECK(shown(first.id).kind == event_kind::queue);
  auto nobody =
    ask<entry_reply>(owner, find_ticket{make_entry_id(env.wall_now(), queue.aggregate, queue_number{99})});
  auto forged = ask<entry_reply>(
    owner, find_ticket{make_entry_id(env.wall_now() + 1h, queue.aggregate, queue_number{1})});
  run();
  CAF_CHECK(nobody->value.no.why == reason::not_found);
  CAF_CHECK(forged->value.no.why == reason::not_found);
}

CAF_TEST(leaving while admitted lets the next one in at once) {
  start(one_at_a_time());
  const auto first = joined(1), second = joined(2);
  auto left = ask<ack_reply>(owner, leave_ticket{first.id});
  run();
  CAF_CHECK(left->ok && !left->value.no);
  CAF_CHECK(shown(first.id).status == entry_status::completed);
  CAF_CHECK(shown(second.id).status == entry_status::admitted);
}

CAF_TEST(a join of the other kind or of another tenant finds nothing) {
  start(one_at_a_time());
  auto as_event = ask<entry_reply>(owner, join{queue.id, customer(1), 0});
  auto foreign = ask<entry_reply>(owner, join{queue.id, customer(1), 0, event_kind::queue, tenant_id{2}, {}});
  run();
  CAF_CHECK(as_event->value.no.why == reason::not_found);
  CAF_CHECK(foreign->value.no.why == reason::not_found);
}

CAF_TEST(only its tenant manages a queue and only as a queue) {
  start(by_hand());
  joined(1);
  const auto code = [this](const managed& who) {
    auto got = ask<count_reply>(owner, advance_line{who, {}, 1});
    run();
    CAF_REQUIRE(got->ok);
    return got->value.no.why;
  };
  CAF_CHECK(code({queue.id, {principal_kind::operate, tenant_id{2}, {7, 7}}, event_kind::queue})
            == reason::not_found);
  CAF_CHECK(code({queue.id, {}, event_kind::queue}) == reason::not_found);
  CAF_CHECK(code({queue.id, by_operator, event_kind::sale}) == reason::not_found);
  CAF_CHECK(code({queue.id, {principal_kind::organizer, default_tenant, {1, 2}}, event_kind::queue})
            == reason::none);
}

CAF_TEST(what a manager does is in the audit log with who and why) {
  start(by_hand());
  for (std::uint64_t n = 1; n <= 3; ++n) joined(n);
  auto called =
    ask<count_reply>(owner, advance_line{as_operator(), {R"({"count":2})", "the hall is empty"}, 2});
  run();
  CAF_REQUIRE(called->ok && !called->value.no);
  CAF_CHECK_EQUAL(called->value.count, 2u);
  advance(1ms); // the log is ordered by time
  auto ended = ask<count_reply>(owner, revoke_sessions{as_operator(), {}, revocation_scope::all, {}, {}});
  run();
  CAF_CHECK_EQUAL(ended->value.count, 2u);
  const auto rows = store.audit({});
  CAF_REQUIRE_EQUAL(rows.size(), 2u);
  CAF_CHECK_EQUAL(rows[0].action, "queue.revoke"); // newest first
  CAF_CHECK_EQUAL(rows[1].action, "queue.advance");
  CAF_CHECK_EQUAL(rows[1].actor, "operator:" + to_string(uuid{7, 7}));
  CAF_CHECK_EQUAL(rows[1].reason, "the hall is empty");
  CAF_CHECK_EQUAL(rows[1].detail, R"({"count":2})");
  CAF_CHECK(rows[1].target == queue.id);
}

CAF_TEST(a refused intervention is not in the audit log) {
  start(one_at_a_time());
  auto called = ask<count_reply>(owner, advance_line{as_operator(), {}, 2});
  run();
  CAF_CHECK(called->value.no.why == reason::wrong_mode);
  CAF_CHECK(store.audit({}).empty());
}

CAF_TEST(an ended ticket that left memory is read from the ledger until it is deleted there) {
  services.rules.memory_retention = 10s;
  start(one_at_a_time());
  const auto first = joined(1), second = joined(2);
  const auto leave_first = [&] {
    auto gone = ask<ack_reply>(owner, leave_ticket{first.id});
    run();
    CAF_REQUIRE(gone->ok);
    return gone->value.no.why;
  };
  CAF_CHECK(leave_first() == reason::none);
  advance(12s);
  const sale* memory = state_of<event_handle, event_state>(owner).peek();
  CAF_CHECK(memory->queue().find(first.number) == nullptr);
  CAF_CHECK(shown(first.id).status == entry_status::completed);
  CAF_CHECK_EQUAL(shown(first.id).subject_name, "fan 1");
  CAF_CHECK(leave_first() == reason::none);
  CAF_CHECK(shown(second.id).status == entry_status::admitted);

  const auto refused = [&](const entry_id& ticket) {
    auto place = ask<entry_reply>(owner, find_ticket{ticket});
    run();
    CAF_REQUIRE(place->ok);
    return place->value.no.why;
  };
  const auto forged = make_entry_id(first.joined_at + 1ms, queue.aggregate, first.number);
  CAF_CHECK(refused(forged) == reason::not_found);
  CAF_CHECK(refused(make_entry_id(first.joined_at, queue.aggregate, queue_number{9})) == reason::not_found);
  store.prune({never, never, never, 100, never, never, env.wall_now() + 1s});
  CAF_CHECK(refused(first.id) == reason::ticket_deleted);
  CAF_CHECK(leave_first() == reason::ticket_deleted);
  CAF_CHECK(shown(second.id).status == entry_status::admitted);
}

CAF_TEST(a queue that starts loads what has ended lately and gives no number again) {
  services.rules.memory_retention = 10s;
  start(one_at_a_time());
  const auto first = joined(1);
  leave(first);
  advance(11s);
  joined(2);
  kill(std::exchange(owner, nullptr));
  store.prune({never, never, never, 100, never, never, env.wall_now()});
  start_again();
  const sale* memory = state_of<event_handle, event_state>(owner).peek();
  CAF_REQUIRE(memory);
  CAF_CHECK(memory->queue().find(first.number) == nullptr);
  CAF_CHECK_EQUAL(memory->queue().counts().joined_total, 2u);
  CAF_CHECK_EQUAL(memory->queue().counts().completed_total, 1u);
  CAF_CHECK_EQUAL(value_of(joined(3).number), 3u);
}

CAF_TEST(a start does not forget the admissions of the last minute) {
  start_rated(1);
  leave(joined(1));
  advance(20s);
  kill(std::exchange(owner, nullptr));
  start_again();
  const auto second = joined(2);
  CAF_CHECK(shown(second.id).status == entry_status::waiting);
  advance(41s);
  CAF_CHECK(shown(second.id).status == entry_status::admitted);
}

CAF_TEST(a node whose clock is ahead does not forget the admissions of the last minute) {
  test_environment ahead{sched.clock()};
  ahead.skew = 1h;
  start_rated(1);
  leave(joined(1));
  advance(20s);
  kill(std::exchange(owner, nullptr));
  const auto its_worker =
    keep(sys.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&ahead),
                   ledger_worker_settings{.prune_interval = 24h}));
  services.ledgers = ledger_workers{its_worker};
  services.env = &ahead;
  start_again();
  CAF_CHECK(shown(joined(2).id).status == entry_status::waiting);
  kill(std::exchange(owner, nullptr)); // both end before their clock
  kill(its_worker);
}

CAF_TEST(a queue whose time is behind the ledger does not forget the admissions of its last minute) {
  start_rated(2);
  leave(joined(1));
  joined(2); // its session keeps the queue from catching up
  kill(std::exchange(owner, nullptr));
  advance(5min);
  const auto own = store.acquire_unleased(queue.aggregate, never);
  const batch late{queue.aggregate, own->epoch, own->applied_seq, own->applied_seq + 1, own->now - 5min, {}};
  CAF_REQUIRE(store.commit(std::span{&late, 1})[0] == commit_outcome::committed);
  start_again();
  const auto third = joined(3);
  advance(50s);
  CAF_CHECK(shown(third.id).status == entry_status::waiting);
  advance(11s);
  CAF_CHECK(shown(third.id).status == entry_status::admitted);
}

CAF_TEST(a reader loads a queue and the writer goes on meanwhile) {
  const auto spawn_worker = [&](ledger_worker_handle loader) {
    ledger_worker_settings settings{.prune_interval = 24h};
    settings.loader = std::move(loader);
    return keep(
      sys.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&env), settings));
  };
  const auto reader = spawn_worker({}), writer = spawn_worker(reader);
  ledgers = ledger_workers{{writer}, {reader}};
  start(one_at_a_time());
  CAF_CHECK_EQUAL(value_of(joined(1).number), 1u);
  const auto other = put_event(10, one_at_a_time(), aggregate_id{17});
  const auto its_owner = keep(sys.spawn(event_actor, other.aggregate,
                                        static_cast<const owner_services*>(&services), supervisor_handle{}));
  run();
  kill(std::exchange(owner, nullptr));
  owner = keep(sys.spawn(event_actor, queue.aggregate, static_cast<const owner_services*>(&services),
                         supervisor_handle{}));
  auto place = ask<entry_reply>(its_owner, join{other.id, customer(5), 0});
  run_without(reader);
  CAF_CHECK(!(state_of<event_handle, event_state>(owner).peek()));
  CAF_CHECK(place->ok && !place->value.no);
  run();
  CAF_REQUIRE((state_of<event_handle, event_state>(owner).peek()));
  CAF_CHECK_EQUAL(value_of(joined(2).number), 2u);
}

CAF_TEST(who polls or is connected stays and who does not is away) {
  auto settings = one_at_a_time();
  settings.presence_timeout = 30s;
  start(settings);
  joined(1);
  const auto polls = joined(2), connected = joined(3), gone = joined(4);
  for (int i = 0; i < 4; ++i) {
    advance(10s);
    shown(polls.id);
    caf::anon_send(owner, present{{connected.number}});
    run();
  }
  const auto status = [&](queue_number n) { return store.find_entry(queue.aggregate, n)->status; };
  CAF_CHECK(status(polls.number) == entry_status::waiting);
  CAF_CHECK(status(connected.number) == entry_status::waiting);
  CAF_CHECK(status(gone.number) == entry_status::away);
  // the queue's manager is not the ticket's holder
  auto looked = ask<entry_reply>(owner, find_ticket{gone.id, false});
  run();
  CAF_REQUIRE(looked->ok);
  CAF_CHECK(looked->value.entry.status == entry_status::away);
  CAF_CHECK(status(gone.number) == entry_status::away);
  CAF_CHECK(shown(gone.id).status == entry_status::waiting); // a poll counts as presence
  CAF_CHECK(status(gone.number) == entry_status::waiting);
}

CAF_TEST(a table of sessions gets all of them and then every change after its commit) {
  start(one_at_a_time());
  const auto first = joined(1);
  watch();
  CAF_REQUIRE_EQUAL(log->pushes.size(), 1u);
  CAF_CHECK(log->pushes[0].is_all);
  CAF_REQUIRE_EQUAL(log->pushes[0].begun.size(), 1u);
  CAF_CHECK(log->pushes[0].begun[0].ticket == first.id);
  CAF_CHECK_EQUAL(log->pushes[0].begun[0].subject_name, "fan 1");
  const auto second = joined(2); // waits: no session
  CAF_CHECK_EQUAL(log->pushes.size(), 1u);
  ask<ack_reply>(owner, leave_ticket{first.id});
  run_without(worker);
  CAF_CHECK_EQUAL(log->pushes.size(), 1u); // decided, not committed
  run();
  CAF_REQUIRE_EQUAL(log->pushes.size(), 2u);
  CAF_CHECK(log->pushes[1].ended == std::vector{first.id});
  CAF_REQUIRE_EQUAL(log->pushes[1].begun.size(), 1u);
  CAF_CHECK(log->pushes[1].begun[0].ticket == second.id);
}

CAF_TEST(a table that begins to watch in the middle of a batch misses nothing and is told nothing early) {
  start(one_at_a_time());
  auto place = join_as(1);
  run_without(worker);
  watch(); // runs everything
  run();
  CAF_REQUIRE(place->ok);
  CAF_REQUIRE(!log->pushes.empty());
  std::set<entry_id> known;
  for (const auto& p : log->pushes) {
    if (p.is_all) known.clear();
    for (const auto& s : p.begun) known.insert(s.ticket);
    for (const auto& t : p.ended) known.erase(t);
  }
  CAF_CHECK(known == std::set{place->value.entry.id});
}

CAF_TEST(a table learns that the clock of the owner stops and goes on) {
  start(one_at_a_time());
  joined(1);
  watch();
  for (int i = 0; i < 3; ++i) commit_faults.push_back({commit_fault::kind::unavailable, 0});
  auto late = join_as(2);
  run();
  CAF_CHECK(log->pushes.back().is_paused);
  const auto stopped = log->pushes.back().now;
  for (int i = 0; i < 20 && !late->ok; ++i) advance(500ms);
  CAF_REQUIRE(late->ok);
  CAF_CHECK(!log->pushes.back().is_paused);
  CAF_CHECK(log->pushes.back().now == stopped);
}

CAF_TEST(an owner that reloads tells its tables that nothing is known) {
  start(one_at_a_time());
  joined(1);
  watch();
  store.acquire_unleased(queue.aggregate, never); // a successor
  joined_in_vain();
  CAF_REQUIRE(log->pushes.size() >= 2u);
  CAF_CHECK(log->pushes[1].is_lost);
}

CAF_TEST(a lock is answered after its commit and survives the owner) {
  auto settings = one_at_a_time();
  settings.locks_per_session = 2;
  start(settings);
  const auto first = joined(1);
  const auto token = make_session_token(sessions, first.id, first.admission_no);
  const auto change = [this](const std::string& by, const std::string& name, bool frees = false) {
    auto asked = ask<locks_reply>(owner, change_lock{queue.id, by, name, frees});
    run();
    CAF_REQUIRE(asked->ok);
    return asked->value;
  };
  const auto locks_of = [this](find_locks wish) {
    auto asked = ask<locks_reply>(owner, std::move(wish));
    run();
    CAF_REQUIRE(asked->ok);
    return asked->value;
  };
  const auto taken = change(token, "A-1");
  CAF_CHECK(!taken.no && taken.created);
  CAF_CHECK(taken.locks.at(0).ticket == first.id);
  CAF_CHECK(taken.locks.at(0).until == first.session_expires_at);
  CAF_CHECK_EQUAL(store.committed(queue.aggregate)->locks.size(), 1u);
  CAF_CHECK(change(make_session_token(sessions, first.id, 9), "A-2").no.why == reason::not_admitted);
  kill(std::exchange(owner, nullptr));
  start_again();
  const auto again = change(token, "A-1");
  CAF_CHECK(!again.no && !again.created);
  CAF_CHECK_EQUAL(locks_of({queue.id, token}).locks.size(), 1u);
  CAF_CHECK(!change(token, "B-1").no);
  const auto page = locks_of({queue.id, {}, queue.tenant, {}, 1});
  CAF_CHECK(page.more && page.locks.at(0).row.name == "A-1");
  const auto next_page = locks_of({queue.id, {}, queue.tenant, "A-1", 1});
  CAF_CHECK_EQUAL(next_page.locks.at(0).row.name, "B-1");
  CAF_CHECK(locks_of({queue.id, {}, tenant_id{77}}).no.why == reason::not_found);
  CAF_CHECK(!change(token, "A-1", true).no && !change(token, "A-1", true).no);
  CAF_CHECK_EQUAL(store.committed(queue.aggregate)->locks.size(), 1u);
  auto report = ask<ledger_report>(owner, verify_ledger{});
  run();
  CAF_CHECK(report->ok && report->value.was_read && report->value.differences.empty());
}

CAF_TEST(a lock that an older program has left is freed) {
  auto settings = one_at_a_time();
  settings.locks_per_session = 2;
  start(settings);
  kill(std::exchange(owner, nullptr));
  const auto own = store.acquire_unleased(queue.aggregate, never);
  batch b{queue.aggregate, own->epoch, own->applied_seq, own->applied_seq + 1, env.wall_now(), {}};
  b.content.emplace_back(lock_taken{{"A-1", queue_number{9}, env.wall_now()}});
  CAF_REQUIRE(store.commit(std::span{&b, 1})[0] == commit_outcome::committed);
  CAF_CHECK_EQUAL(store.committed(queue.aggregate)->locks.size(), 1u);
  start_again();
  auto all = ask<locks_reply>(owner, find_locks{queue.id, {}, queue.tenant});
  run();
  CAF_CHECK(all->ok && !all->value.no && all->value.locks.empty());
  CAF_CHECK(store.committed(queue.aggregate)->locks.empty());
}

CAF_TEST(a session ends by its token once) {
  start(one_at_a_time());
  const auto first = joined(1);
  const auto token = make_session_token(sessions, first.id, first.admission_no);
  auto wrong = ask<ack_reply>(owner, end_session{make_session_token(sessions, first.id, 9)});
  run();
  CAF_CHECK(wrong->value.no.why == reason::not_admitted);
  auto done = ask<ack_reply>(owner, end_session{token});
  run();
  CAF_CHECK(done->ok && !done->value.no);
  auto again = ask<ack_reply>(owner, end_session{token});
  run();
  CAF_CHECK(again->value.no.why == reason::not_admitted);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace waiting_room_test
