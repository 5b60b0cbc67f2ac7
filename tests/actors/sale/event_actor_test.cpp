// SPDX-License-Identifier: Apache-2.0
// The event actor over a real ledger worker: visibility, timers, reloads, subscribers, idempotency.
#define CAF_SUITE event_actor
#include "tests/actors/sale/event_fixture.hpp"

namespace event_actor_test {

using namespace fq;
using namespace fq::test;

CAF_TEST_FIXTURE_SCOPE(event_actor_tests, event_fixture)

CAF_TEST(a join is answered only after its commit) {
  start(10);
  auto place = join_as(1);
  run_without(worker);
  CAF_CHECK(place->open());
  CAF_CHECK(store.committed(event.aggregate)->entries.empty());
  run();
  CAF_REQUIRE(place->ok);
  CAF_CHECK(place->value.created);
  CAF_CHECK_EQUAL(store.committed(event.aggregate)->entries.size(), 1u);
}

CAF_TEST(a read waits for the commit of what it would reveal) {
  start(10, one_by_one());
  auto first = join_as(1); // admitted in the same decision
  run_without(worker);
  auto seen = find_as(1);
  auto stats = ask<stats_reply>(owner, find_stats{managed_by_organizer(event)});
  run_without(worker);
  CAF_CHECK(seen->open() && stats->open());
  run();
  CAF_CHECK(seen->ok && seen->value.entry.status == entry_status::admitted);
  CAF_CHECK(stats->ok && stats->value.stats.admitted == 1);
}

CAF_TEST(the board counts who joins a line that has no room) {
  queue_settings queue;
  queue.batch_size = 1;
  queue.admission_interval = 60s;
  start(5, queue);
  for (std::uint64_t n = 1; n <= 6; ++n) {
    join_as(n);
    run();
    const auto seen = board.read(); // the check keeps references
    CAF_REQUIRE_EQUAL(seen.size(), 1u);
    CAF_CHECK_EQUAL(seen[0].numbers.waiting, n - 1);
    CAF_CHECK_EQUAL(board.entries[entry_status::waiting].get(), n);
    join_as(n); // the same place
    run();
  }
  CAF_CHECK_EQUAL(board.entries[entry_status::waiting].get(), 6u);
  CAF_CHECK_EQUAL(board.entries[entry_status::admitted].get(), 1u);
  const auto at_last = board.read();
  CAF_CHECK_EQUAL(at_last[0].numbers.admitted, 1u);
}

CAF_TEST(subscribers and the board see an entry that comes back by joining while there is no room) {
  auto queue = one_by_one();
  queue.presence_timeout = 10s;
  start(10, queue);
  join_as(1);
  join_as(2);
  run();
  add_subscriber();
  advance(11'000ms);
  const auto before = board.read(); // the check keeps references
  CAF_REQUIRE_EQUAL(before.at(0).numbers.away, 1u);
  log->lines.clear();
  auto back = join_as(2);
  run();
  CAF_REQUIRE(back->ok && !back->value.created);
  CAF_CHECK_EQUAL(std::ranges::count(log->lines, "2 " + std::string{name_of(entry_status::waiting)}), 1);
  const auto after = board.read();
  CAF_CHECK_EQUAL(after.at(0).numbers.away, 0u);
}

CAF_TEST(a read waits for the commit of a join that overtakes) {
  start(10, one_by_one());
  auto first = join_as(1);
  auto waiting = join_as(2);
  auto preferred = ask<count_reply>(
    owner, set_priorities{managed_by_organizer(event), {}, {customer(3)}, {true, priority_vip}});
  run();
  auto overtakes = join_as(3);
  run_without(worker);
  auto seen = find_as(2);
  run_without(worker);
  CAF_CHECK(seen->open());
  run();
  CAF_REQUIRE(seen->ok);
  CAF_CHECK_EQUAL(seen->value.entry.position, 2u);
}

CAF_TEST(the first request after a list has changed is decided by it) {
  std::shared_ptr<const blocked_customers::list> blocked;
  services.blocked_at = [&](tenant_id, const organizer_id&) { return blocked_customers{blocked, nullptr}; };
  start(10, one_by_one());
  auto first = join_as(1);
  run();
  CAF_REQUIRE(first->ok && !first->value.no);
  blocked = std::make_shared<blocked_customers::list>(
    blocked_customers::list{{customer(1), false}, {customer(2), false}});
  auto again = join_as(1), other = join_as(2);
  run();
  CAF_CHECK(again->ok && again->value.no.why == reason::customer_blocked);
  CAF_CHECK(other->ok && other->value.no.why == reason::customer_blocked);
}

CAF_TEST(a call by an operator is decided by the list that has changed) {
  std::shared_ptr<const blocked_customers::list> blocked;
  services.blocked_at = [&](tenant_id, const organizer_id&) { return blocked_customers{blocked, nullptr}; };
  auto settings = one_by_one();
  settings.policy = admission_policy::operated;
  start(10, settings);
  auto first = join_as(1);
  auto second = join_as(2);
  run();
  blocked = std::make_shared<blocked_customers::list>(blocked_customers::list{{customer(1), false}});
  auto called = ask<count_reply>(
    owner, advance_line{{event.id, {principal_kind::operate, default_tenant, {7, 7}}}, {}, 1});
  run();
  CAF_CHECK(called->ok && called->value.count == 1);
  CAF_CHECK(find_now(1).status == entry_status::cancelled);
  CAF_CHECK(find_now(2).status == entry_status::admitted);
}

CAF_TEST(who is blocked now is sent away and told of once) {
  std::shared_ptr<const blocked_customers::list> blocked;
  services.blocked_at = [&](tenant_id, const organizer_id&) { return blocked_customers{blocked, nullptr}; };
  start(10, one_by_one());
  auto first = join_as(1);
  auto second = join_as(2);
  run();
  blocked = std::make_shared<blocked_customers::list>(blocked_customers::list{{customer(1), false}});
  const auto outbox = [&] {
    std::vector<std::string> payloads;
    const std::vector<std::uint32_t> own{number_of(event.aggregate) % outbox_partitions};
    for (const auto& item : store.undelivered(lane::notices, own, 100, {}))
      if (item.row.topic == "blacklist.enforced") payloads.push_back(item.row.payload);
    return payloads;
  };
  caf::anon_send(owner, blocks_changed{});
  run();
  CAF_CHECK(find_now(2).status == entry_status::admitted);
  auto again = join_as(1);
  run();
  CAF_CHECK(again->ok && again->value.no.why == reason::customer_blocked);
  CAF_REQUIRE_EQUAL(outbox().size(), 1u);
  CAF_CHECK(outbox()[0].find(R"("place_ended":true)") != std::string::npos);
  caf::anon_send(owner, blocks_changed{});
  run();
  CAF_CHECK_EQUAL(outbox().size(), 1u);
  std::size_t audited = 0;
  for (const auto& row : store.audit({.tenant = event.tenant, .target = event.id}))
    audited += row.action == "event.block" && row.actor == "system" ? 1 : 0;
  CAF_CHECK_EQUAL(audited, 1u);
}

CAF_TEST(what a tenant has no use for is not written) {
  auto chosen = std::make_shared<const notice_routing>(notice_routing::parse("queue.turn_granted=mail"));
  services.routing_of = [&](tenant_id) { return chosen; };
  start(10, one_by_one());
  auto first = join_as(1);
  run();
  const std::vector<std::uint32_t> own{number_of(event.aggregate) % outbox_partitions};
  CAF_CHECK(store.undelivered(lane::notices, own, 100, {}).empty());
  chosen = std::make_shared<const notice_routing>();
  auto left = ask<ack_reply>(owner, fq::leave{event.id, customer(1)});
  auto second = join_as(2);
  run();
  CAF_CHECK_EQUAL(store.undelivered(lane::notices, own, 100, {}).size(), 1u);
}

CAF_TEST(joining again finds the same place and a key replays it) {
  start(10, one_by_one());
  auto other = join_as(9);
  auto first = join_as(1, 77);
  run();
  auto again = join_as(1);
  auto replay = join_as(1, 77);
  run();
  CAF_REQUIRE(first->ok && again->ok && replay->ok);
  CAF_CHECK(first->value.created && !first->value.replayed);
  CAF_CHECK(!again->value.created);
  CAF_CHECK(replay->value.replayed);
  CAF_CHECK(first->value.entry.number == again->value.entry.number
            && first->value.entry.id == replay->value.entry.id);
  CAF_CHECK_EQUAL(store.committed(event.aggregate)->entries.size(), 2u);
}

CAF_TEST(the id of another event is not found) {
  start(10);
  auto place = ask<entry_reply>(owner, join{uuid{1, 2}, customer(1), 0});
  run();
  CAF_CHECK(place->ok && place->value.no.why == reason::not_found);
}

CAF_TEST(an unknown commit is submitted again and answered once) {
  start(10);
  const auto before = commits;
  commit_faults = {{commit_fault::kind::unknown_applied, 0}};
  auto place = join_as(1);
  run();
  CAF_CHECK(place->open());
  advance(journal_retry_min);
  CAF_REQUIRE(place->ok);
  CAF_CHECK_EQUAL(store.committed(event.aggregate)->entries.size(), 1u);
  CAF_CHECK_EQUAL(commits, before + 2);
}

CAF_TEST(an outage holds the answer and costs no reload) {
  start(10);
  const auto epoch = store.head(event.aggregate)->epoch;
  for (int i = 0; i < 5; ++i) commit_faults.push_back({commit_fault::kind::unavailable, 0});
  auto place = join_as(1);
  run();
  for (int i = 0; i < 5; ++i) {
    CAF_CHECK(place->open());
    advance(journal_retry_max);
  }
  CAF_CHECK(place->ok);
  CAF_CHECK_EQUAL(store.head(event.aggregate)->epoch, epoch);
}

CAF_TEST(a new owner ends nothing that an outage has extended) {
  auto queue = one_by_one();
  queue.claim_window = 3s;
  start(10, queue);
  join_as(1);
  run();
  for (int i = 0; i < 9; ++i) commit_faults.push_back({commit_fault::kind::unavailable, 0});
  auto place = join_as(2);
  run();
  while (place->open()) advance(journal_retry_max);
  CAF_CHECK(commit_faults.empty());
  const auto before = find_now(1);
  CAF_REQUIRE(before.status == entry_status::admitted);
  kill(owner);
  own();
  CAF_CHECK(find_now(1).status == entry_status::admitted);
  advance(queue.claim_window + 1s);
  CAF_CHECK(find_now(1).status != entry_status::admitted);
}

CAF_TEST(a fenced owner answers 503 and serves again from the ledger) {
  start(10);
  auto before = join_as(1);
  run();
  store.acquire_unleased(event.aggregate, never); // a rival owner
  auto lost = join_as(2);
  run();
  CAF_CHECK(lost->unavailable());
  auto after = join_as(2);
  run();
  CAF_REQUIRE(after->ok);
  CAF_CHECK_EQUAL(value_of(after->value.entry.number), 2u);
  CAF_CHECK_EQUAL(value_of(find_now(1).number), 1u);
}

CAF_TEST(no deadline passes while as many answers as allowed wait for a commit) {
  auto queue = one_by_one();
  queue.claim_window = 1s;
  services.bounds.held = 1;
  start(10, queue);
  auto one = join_as(1);
  run();
  auto two = join_as(2);
  run_without(worker);
  sched.advance_time(queue.claim_window);
  run_without(worker);
  const auto* memory = state_of<event_handle, event_state>(owner).peek();
  CAF_CHECK(memory->queue().find(queue_number{1})->status == entry_status::admitted);
  run();
  advance(stall_check);
  CAF_CHECK(find_now(1).status == entry_status::session_expired);
}

CAF_TEST(a crash answers every promise) {
  start(10);
  auto first = join_as(1);
  run_without(worker);
  CAF_CHECK(first->open());
  caf::anon_send_exit(owner, caf::exit_reason::kill);
  run_without(worker);
  CAF_CHECK(first->unavailable());
}

CAF_TEST(what was not loaded answers 503 at once) {
  acquire_failures = 1;
  start(10);
  auto early = join_as(1);
  run();
  CAF_CHECK(early->unavailable());
  advance(200ms); // it polls automatically
  auto later = join_as(1);
  run();
  CAF_CHECK(later->ok);
}

CAF_TEST(a claim is idempotent across a reload) {
  start(10, one_by_one());
  auto place = join_as(1);
  run();
  const auto token = token_of(find_now(1));
  const idempotency_ref key{true, {1, 2}, {3, 4}};
  auto first = claim_as(1, token, key);
  run();
  auto again = claim_as(1, token, key);
  auto other_body = claim_as(1, token, {true, {1, 2}, {5, 5}});
  run();
  CAF_REQUIRE(first->ok && !first->value.no);
  CAF_CHECK(again->ok && again->value.replayed && again->value.claim.claim.id == first->value.claim.claim.id);
  CAF_CHECK(other_body->ok && other_body->value.no.why == reason::idempotency_key_reused);
  store.acquire_unleased(event.aggregate, never);
  auto lost = join_as(5);
  run(); // reloaded
  auto after = claim_as(1, token, key);
  auto keyless = claim_as(1, token);
  run();
  CAF_CHECK(after->ok && after->value.replayed && after->value.claim.claim.id == first->value.claim.claim.id);
  CAF_CHECK(keyless->ok && keyless->value.no.why == reason::already_claimed);
  CAF_CHECK_EQUAL(store.committed(event.aggregate)->claims.size(), 1u);
}

CAF_TEST(a token of somebody else or of nobody opens no claim) {
  start(10);
  auto one = join_as(1);
  auto two = join_as(2);
  run();
  const auto token = token_of(find_now(1));
  auto stolen = claim_as(2, token);
  auto garbage = claim_as(2, "nothing");
  run();
  CAF_CHECK(stolen->ok && stolen->value.no.why == reason::not_admitted);
  CAF_CHECK(garbage->ok && garbage->value.no.why == reason::not_admitted);
}

CAF_TEST(a no show frees the slot at the claim window and the next is let in) {
  start(10, one_by_one());
  auto one = join_as(1);
  auto two = join_as(2);
  run();
  CAF_CHECK(find_now(2).status == entry_status::waiting);
  advance(event.queue.claim_window - 1ms);
  CAF_CHECK(find_now(2).status == entry_status::waiting);
  advance(1ms);
  CAF_CHECK(find_now(1).status == entry_status::session_expired);
  CAF_CHECK(find_now(2).status == entry_status::admitted);
}

CAF_TEST(a claim is released at its deadline and its unit sold to the next) {
  start(1, one_by_one());
  const auto claim = admitted_claim(1);
  auto two = join_as(2);
  run();
  CAF_CHECK(find_now(2).status == entry_status::waiting);
  advance(event.claim_ttl);
  CAF_CHECK(store.find_claim(event.aggregate, claim)->status == claim_status::released);
  CAF_CHECK_EQUAL(store.find_ticket_type(event.aggregate, 0)->held, 0);
}

CAF_TEST(a timer of an older generation is ignored) {
  start(10, one_by_one());
  auto one = join_as(1);
  run();
  const auto before = store.head(event.aggregate)->applied_seq;
  for (std::uint64_t generation = 0; generation < 5; ++generation)
    for (const auto kind : {timer_kind::admission, timer_kind::sweep, timer_kind::journal,
                            timer_kind::retry_load, timer_kind::restart})
      caf::anon_send(owner, timer_fired{kind, generation});
  run();
  CAF_CHECK_EQUAL(store.head(event.aggregate)->applied_seq, before);
  advance(event.queue.claim_window); // the correct clock still works
  CAF_CHECK(find_now(1).status == entry_status::session_expired);
}

CAF_TEST(subscribers hear only what is committed and in order) {
  start(10, one_by_one());
  add_subscriber();
  auto one = join_as(1);
  run_without(worker);
  CAF_CHECK(log->lines.empty());
  run();
  CAF_REQUIRE(!log->lines.empty());
  CAF_CHECK_EQUAL(log->lines[0], "1 ADMITTED");
  auto two = join_as(2);
  run();
  log->lines.clear();
  auto gone = ask<ack_reply>(owner, leave{event.id, customer(1)});
  auto paused = ask<event_reply>(owner, turn_event{managed_by_organizer(event), {}, event_trigger::pause});
  run_without(worker);
  CAF_CHECK(log->lines.empty());
  run();
  CAF_CHECK(gone->ok && paused->ok);
  CAF_CHECK_EQUAL(log->lines, (std::vector<std::string>{"1 COMPLETED", "2 ADMITTED", "paused"}));
}

CAF_TEST(a wall clock that jumps back does not bring time back) {
  start(10, one_by_one());
  auto one = join_as(1);
  run();
  const auto joined = find_now(1).joined_at;
  env.skew = -1h;
  store.acquire_unleased(event.aggregate, never);
  auto lost = join_as(2);
  run(); // reloads with the wrong clock
  auto two = join_as(2);
  run();
  CAF_REQUIRE(two->ok);
  CAF_CHECK(two->value.entry.joined_at >= joined);
}

CAF_TEST(only its organizer may change or count an event) {
  start(10);
  event_patch patch;
  patch.set(&event_row::claims_per_customer, 2);
  auto stranger = ask<event_reply>(
    owner, patch_event{{event.id, {principal_kind::organizer, default_tenant, {9, 9}}}, {}, patch});
  auto spy =
    ask<stats_reply>(owner, find_stats{{event.id, {principal_kind::organizer, default_tenant, {9, 9}}}});
  auto mine = ask<event_reply>(owner, patch_event{managed_by_organizer(event), {}, patch});
  run();
  CAF_CHECK(stranger->ok && stranger->value.no.why == reason::not_found);
  CAF_CHECK(spy->ok && spy->value.no.why == reason::not_found);
  CAF_CHECK(mine->ok && !mine->value.no && store.committed(event.aggregate)->event->claims_per_customer == 2);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace event_actor_test
