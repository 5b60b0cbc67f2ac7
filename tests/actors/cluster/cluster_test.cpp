// SPDX-License-Identifier: Apache-2.0
// Nodes of one cluster in virtual time. Any node forwards requests to the owner, owners move without losing a
// request, and known nodes connect once. Three nodes share a ledger; actors exchange directly what CAF would
// send between hosts.
#define CAF_SUITE cluster
#include "tests/actors/cluster/cluster_fixture.hpp"

#include "actors/base/limits.hpp"

namespace cluster_test {

using namespace fq;
using namespace fq::test;

CAF_TEST_FIXTURE_SCOPE(cluster_tests, cluster_fixture)

CAF_TEST(whoever is asked gives the handle of the one owner) {
  for (const auto* name : {"a", "b", "c"}) start(name);
  connect({{"a", 0}, {"b", 0}, {"c", 0}});
  const auto first = resolve("a");
  CAF_REQUIRE(first->ok);
  for (const auto* name : {"a", "b", "c"}) {
    const auto same = resolve(name);
    CAF_REQUIRE(same->ok);
    CAF_CHECK(same->value == first->value);
  }
  CAF_CHECK(!owner().empty());
}

CAF_TEST(a node that has left leaves no link and one that lives or is connected keeps its own) {
  cluster_links links;
  links.connected("a", sys.node());
  links.connected("b", sys.node());
  links.connected("c", sys.node());
  links.lost("a");
  links.lost("c");
  const auto names = [&] {
    std::string all;
    for (const auto& link : links.all()) all += link->node;
    return all;
  };
  links.forget_others([](const std::string& node) { return node == "a"; });
  CAF_CHECK_EQUAL(names(), "ab");
  links.forget_others([](const std::string&) { return false; });
  CAF_CHECK_EQUAL(names(), "b");
  links.lost("b");
  links.forget_others([](const std::string&) { return false; });
  CAF_CHECK_EQUAL(names(), "");
  links.connected("a", sys.node());
  CAF_REQUIRE(links.find(sys.node()));
  CAF_CHECK_EQUAL(links.find(sys.node())->lost.load(), 0u);
}

CAF_TEST(a new event begins at the node that has the least) {
  for (const auto* name : {"a", "b", "c"}) start(name);
  connect({{"a", 50}, {"b", 60}, {"c", 5}});
  CAF_CHECK(resolve("a")->ok);
  CAF_CHECK_EQUAL(owner(), "c");
}

CAF_TEST(where its place is not reached the event begins here) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 50}, {"b", 0}});
  kill(at("b").root);
  const auto found = resolve("a");
  CAF_CHECK(found->ok);
  CAF_CHECK_EQUAL(owner(), "a");
}

CAF_TEST(an owner that nobody reaches any more is named by no one) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 50}, {"b", 0}});
  CAF_REQUIRE(resolve("a")->ok);
  CAF_CHECK_EQUAL(owner(), "b");
  connect({{"a", 50}}); // the connection is lost, the lease remains
  const auto late = resolve("a");
  CAF_CHECK(!late->ok);
  CAF_CHECK(is(late->error, errc::not_owner));
}

CAF_TEST(what a draining node owns moves and requests come back untouched for the successor) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  const auto old = resolve("a")->value;
  CAF_CHECK_EQUAL(owner(), "a");
  auto early = ask<entry_reply>(old, join{event.id, customer(1), 0});
  run();
  CAF_REQUIRE(early->ok);
  connect({{"a", 1}, {"b", 50}}, "a");
  CAF_CHECK_EQUAL(owner(), "b");
  const auto late = ask<entry_reply>(old, join{event.id, customer(2), 0});
  run();
  CAF_CHECK(is(late->error, errc::moved));
  CAF_REQUIRE(late->error.context().match_elements<join>());
  CAF_CHECK(late->error.context().get_as<join>(0).customer == customer(2));
  for (const auto* name : {"a", "b"}) {
    const auto successor = resolve(name);
    CAF_REQUIRE(successor->ok);
    CAF_CHECK(successor->value != old);
    const auto again = ask<entry_reply>(successor->value, find_entry{event.id, customer(1)});
    run();
    CAF_REQUIRE(again->ok);
    CAF_CHECK_EQUAL(value_of(again->value.entry.number), value_of(early->value.entry.number));
  }
  advance(10s); // the old owner has ended, and no node has started it again
  CAF_CHECK_EQUAL(owner(), "b");
  CAF_CHECK(store.committed(event.aggregate)->entries.size() == 1u);
}

CAF_TEST(what was decided before the move is committed before it) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  const auto old = resolve("a")->value;
  const auto place = ask<entry_reply>(old, join{event.id, customer(1), 0});
  run_without(at("a").worker); // decided, not committed
  CAF_CHECK(place->open());
  connect({{"a", 1}, {"b", 50}}, "a");
  run();
  CAF_CHECK(place->ok);
  CAF_CHECK_EQUAL(owner(), "b");
}

CAF_TEST(a move whose owner dies meanwhile is given up and the event stays) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  const auto old = resolve("a")->value;
  const auto place = ask<entry_reply>(old, join{event.id, customer(1), 0});
  run();
  CAF_REQUIRE(place->ok);
  const auto late = ask<entry_reply>(old, join{event.id, customer(2), 0});
  run_without(at("a").worker);
  caf::anon_send(at("a").root, moving_to_b());
  run_without(at("a").worker); // told to move while its decision is not committed
  kill(old);
  CAF_CHECK(!late->ok);
  advance(1s); // its supervisor has started a new owner
  advance(10s);
  connect({{"a", 1}, {"b", 50}});
  const auto again = resolve("a");
  CAF_REQUIRE(again->ok);
  CAF_CHECK_EQUAL(owner(), "a");
}

CAF_TEST(a late notice that the event was given here does not end its move) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  const auto place = ask<entry_reply>(resolve("a")->value, join{event.id, customer(1), 0});
  run_without(at("a").worker); // decided, not committed
  caf::anon_send(at("a").root, moving_to_b());
  caf::anon_send(at("a").root, handed_over{event.aggregate, true});
  const auto told = ask<owned_aggregates>(at("a").root, list_owned{});
  run_without(at("a").worker);
  CAF_CHECK_EQUAL(told->value.aggregates.size(), 1u);
  run();
  CAF_CHECK(place->ok);
  CAF_CHECK_EQUAL(owner(), "b");
}

CAF_TEST(a node that ends in order is not waited for) {
  auto& a = start("a");
  caf::anon_send(a.worker, beat_node{{"a", "", wire_version, 0, true, false, never, true}, 60s});
  run();
  const node_row other{"b", "", wire_version, 0, true, false, never, true};
  CAF_CHECK_EQUAL(store.beat(other, 60s).size(), 2u);
  caf::anon_send_exit(a.worker, caf::exit_reason::user_shutdown);
  run();
  CAF_CHECK_EQUAL(store.beat(other, 60s).size(), 1u);
}

CAF_TEST(whoever keeps the handle of an owner that moves is told and the owner ends later) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  const auto old = resolve("a")->value;
  auto left = std::make_shared<int>(0);
  const auto early = spawn_subscriber(left);
  caf::send_as(early, old, owner_kept{});
  run();
  CAF_CHECK_EQUAL(*left, 0);
  connect({{"a", 1}, {"b", 50}}, "a");
  CAF_CHECK_EQUAL(*left, 1);
  const auto late = spawn_subscriber(left); // its region named the owner before the move
  caf::send_as(late, old, owner_kept{});
  run();
  CAF_CHECK_EQUAL(*left, 2);
  const auto is_leaving = [&] {
    const auto told = ask<owned_aggregates>(at("a").root, list_owned{});
    run();
    return told->value.is_leaving;
  };
  CAF_CHECK(is_leaving());
  advance(moved_linger);
  CAF_CHECK(!is_leaving());
  for (const auto& subscriber : {early, late})
    caf::anon_send_exit(subscriber, caf::exit_reason::user_shutdown);
}

CAF_TEST(an owner past its lease gives requests back and the others take its event) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  const auto old = resolve("a")->value;
  const auto early = ask<entry_reply>(old, join{event.id, customer(1), 0});
  run();
  CAF_REQUIRE(early->ok);
  auto left = std::make_shared<int>(0);
  const auto subscriber = spawn_subscriber(left);
  caf::send_as(subscriber, old, subscribe{true});
  run();
  caf::anon_send_exit(at("a").worker, caf::exit_reason::user_shutdown); // leases are no longer renewed
  advance(lease_term - 100ms);
  CAF_CHECK_EQUAL(*left, 0);
  advance(200ms);
  CAF_CHECK_EQUAL(*left, 1);
  const auto late = ask<entry_reply>(old, join{event.id, customer(2), 0});
  run();
  CAF_CHECK(is(late->error, errc::moved));
  for (const auto* name : {"a", "b"}) {
    const auto another =
      ask<event_handle>(at(name).root, resolve_event{event.aggregate, false, old.address()});
    run();
    CAF_REQUIRE(another->ok);
    CAF_CHECK(another->value != old);
    const auto again = ask<entry_reply>(another->value, find_entry{event.id, customer(1)});
    run();
    CAF_REQUIRE(again->ok);
    CAF_CHECK_EQUAL(value_of(again->value.entry.number), value_of(early->value.entry.number));
  }
  CAF_CHECK_EQUAL(owner(), "b");
  caf::anon_send_exit(subscriber, caf::exit_reason::user_shutdown);
}

CAF_TEST(a request given back by an owner that serves again goes to it) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  const auto same = resolve("a")->value;
  const auto again = ask<event_handle>(at("a").root, resolve_event{event.aggregate, false, same.address()});
  run();
  advance(100ms);
  CAF_REQUIRE(again->ok);
  CAF_CHECK(again->value == same);
}

CAF_TEST(while the ledger is away nobody is kept waiting for an event to begin) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  cluster_changed now;
  now.self = "a";
  now.is_ledger_away = true;
  caf::anon_send(at("a").root, now);
  run();
  const auto refused = resolve("a");
  CAF_CHECK(is(refused->error, errc::unavailable));
}

CAF_TEST(who waits for an event to load is brought to another node when the ledger goes away) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  kill(at("a").worker); // it gets a load request and never answers
  const auto early = resolve("a");
  CAF_CHECK(early->open());
  auto now = moving_to_b();
  now.nodes.front().is_draining = false;
  now.is_ledger_away = true;
  caf::anon_send(at("a").root, now);
  run();
  advance(100ms);
  CAF_CHECK(early->ok);
  CAF_CHECK_EQUAL(owner(), "b");
  const auto late = resolve("a"); // its supervisor still waits
  advance(100ms);
  CAF_CHECK(late->ok);
  const auto forwarded = ask<event_handle>(at("a").root, resolve_event{event.aggregate, true});
  run();
  advance(100ms);
  CAF_CHECK(is(forwarded->error, errc::unavailable));
}

CAF_TEST(a node that reaches no ledger asks every other one) {
  for (const auto* name : {"a", "b", "c"}) start(name);
  connect({{"a", 0}, {"b", 50}, {"c", 60}});
  kill(at("b").root); // the preferred node has ended
  auto now = moving_to_b();
  const auto c = caf::actor_cast<caf::strong_actor_ptr>(at("c").root);
  now.nodes.push_back({"c", "", wire_version, 60, true, false, never, true});
  now.peers.push_back({"c", c, c, c});
  now.is_ledger_away = true;
  caf::anon_send(at("a").root, now);
  run();
  CAF_CHECK(resolve("a")->ok);
  CAF_CHECK_EQUAL(owner(), "c");
}

CAF_TEST(the operator gives an event to a node from wherever he is) {
  for (const auto* name : {"a", "b", "c"}) start(name);
  connect({{"a", 0}, {"b", 50}, {"c", 50}});
  CAF_REQUIRE(resolve("a")->ok);
  CAF_CHECK_EQUAL(owner(), "a");
  const auto move = [&](const std::string& told, aggregate_id what, const std::string& to) {
    auto done = ask<ack_reply>(at(told).root, move_event{what, to});
    run();
    return done;
  };
  CAF_CHECK(move("c", event.aggregate, "b")->ok);
  CAF_CHECK_EQUAL(owner(), "b");
  CAF_CHECK(move("b", event.aggregate, "b")->ok);
  CAF_CHECK(move("b", event.aggregate, "a")->ok);
  CAF_CHECK_EQUAL(owner(), "a");
  const auto to_nobody = move("a", event.aggregate, "nobody");
  CAF_CHECK(is(to_nobody->error, errc::unavailable));
  CAF_CHECK_EQUAL(owner(), "a");
  const auto of_nothing = move("a", aggregate_id{77}, "b");
  CAF_CHECK(is(of_nothing->error, errc::absent));
}

CAF_TEST(the last of its wire version gives its events up to who comes after it) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}});
  const auto old = resolve("a")->value;
  CAF_CHECK_EQUAL(owner(), "a");
  cluster_changed now;
  now.self = "a";
  now.nodes = {{"a", "", wire_version, 1, false, true, never, true}};
  now.leaves_to_successors = true;
  caf::anon_send(at("a").root, now);
  run();
  const auto late = ask<entry_reply>(old, join{event.id, customer(2), 0});
  run();
  CAF_CHECK(is(late->error, errc::moved));
  const auto here = resolve("a");
  CAF_CHECK(is(here->error, errc::not_owner));
  cluster_changed after;
  after.self = "b"; // b does not know a
  after.serves = false;
  caf::anon_send(at("b").root, after);
  advance(5s); // it polls for events that must run
  const auto waits = resolve("b");
  CAF_REQUIRE(!waits->ok);
  CAF_CHECK(is(waits->error, errc::not_owner));
  const auto taken = ask<owned_aggregates>(at("b").root, list_owned{});
  run();
  CAF_CHECK(taken->value.aggregates.empty());
  after.serves = true;
  caf::anon_send(at("b").root, after);
  run();
  CAF_CHECK(resolve("b")->ok);
  CAF_CHECK_EQUAL(owner(), "b");
  advance(10s);
  const auto later = resolve("a");
  CAF_CHECK(is(later->error, errc::not_owner));
}

CAF_TEST(around its opening an event stays unless its node goes) {
  for (const auto* name : {"a", "b"}) start(name);
  begin_at_a(4);
  connect({{"a", 4}, {"b", 0}}); // above its share
  CAF_CHECK_EQUAL(owned_by("a"), 4u);
  CAF_CHECK_EQUAL(owner(), "a");
  CAF_CHECK(resolve("b")->ok); // the event continues there
  advance(11min);
  connect({{"a", 4}, {"b", 0}});
  CAF_CHECK_EQUAL(owned_by("a"), 2u);
  CAF_CHECK_EQUAL(owned_by("b"), 2u);
}

CAF_TEST(what is above the share goes a few at a time and not before the others count what came) {
  for (const auto* name : {"a", "b"}) start(name);
  begin_at_a(40);
  advance(11min);
  connect({{"a", 40}, {"b", 0}});
  CAF_CHECK_EQUAL(owned_by("b"), 8u);
  connect({{"a", 40}, {"b", 0}}); // heartbeats from before
  CAF_CHECK_EQUAL(owned_by("b"), 8u);
  advance(1s);
  connect({{"a", 32}, {"b", 3}}); // from in between
  CAF_CHECK_EQUAL(owned_by("b"), 8u);
  std::uint32_t most = 0;
  for (int i = 0; i < 5; ++i) {
    advance(3s);
    connect({{"a", 40}, {"b", static_cast<std::uint32_t>(owned_by("b"))}}); // the own count is the oldest
    most = std::max(most, static_cast<std::uint32_t>(owned_by("b")));
  }
  CAF_CHECK_EQUAL(owned_by("a"), 20u);
  CAF_CHECK_EQUAL(owned_by("b"), 20u);
  CAF_CHECK_EQUAL(most, 20u); // at most its share
}

CAF_TEST(what a node has given away it does not take back before the successor has come to it) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  const auto place = ask<entry_reply>(resolve("a")->value, join{event.id, customer(1), 0});
  run();
  CAF_REQUIRE(place->ok); // it must run
  for (int looks = 0; looks < 3; ++looks) advance(600ms); // polls for events without an owner
  advance(10ms);
  CAF_CHECK_EQUAL(owner(), "a");
  const auto done = ask<ack_reply>(at("a").root, move_event{event.aggregate, "b"});
  run_without(at("b").worker);
  caf::anon_send(at("a").root, timer_fired{timer_kind::sweep, 0});
  run_without(at("b").worker);
  run();
  CAF_CHECK(done->ok);
  CAF_CHECK_EQUAL(owner(), "b");
}

CAF_TEST(a node above its share gives away what is above it and no more) {
  for (const auto* name : {"a", "b"}) start(name);
  begin_at_a(8);
  advance(11min); // no event is about to open
  connect({{"a", 8}, {"b", 0}});
  for (const auto* name : {"a", "b"}) CAF_CHECK_EQUAL(owned_by(name), 4u);
}

CAF_TEST(what is shared out goes to nodes that will not give it back) {
  const std::vector<node_row> others{{"b", "", wire_version, 0, true, false, never, true},
                                     {"c", "", wire_version, 0, true, false, never, true}};
  std::vector<aggregate_id> all; // prefer node b
  for (std::uint32_t i = 1; all.size() < 9; ++i)
    if (const aggregate_id one{number_of(event.aggregate) + i}; home_of(one, others) == "b")
      all.push_back(put_event(10, {}, one).aggregate);
  advance(11min);
  for (const auto* name : {"a", "b", "c"}) start(name);
  connect({{"a", 0}, {"b", 50}, {"c", 50}});
  for (const auto aggregate : all) {
    const auto found = ask<event_handle>(at("a").root, resolve_event{aggregate});
    run();
    CAF_REQUIRE(found->ok);
  }
  connect({{"a", 9}, {"b", 8}, {"c", 0}}); // placement treats both as equally loaded
  CAF_CHECK_EQUAL(owned_by("a"), 6u);
  CAF_CHECK_EQUAL(owned_by("b"), 0u);
  CAF_CHECK_EQUAL(owned_by("c"), 3u);
}

CAF_TEST(an event that is about to open moves if its node goes) {
  for (const auto* name : {"a", "b"}) start(name);
  connect({{"a", 0}, {"b", 50}});
  CAF_REQUIRE(resolve("a")->ok);
  connect({{"a", 900}, {"b", 0}}, "a");
  CAF_CHECK_EQUAL(owner(), "b");
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace cluster_test
