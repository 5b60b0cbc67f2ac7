// SPDX-License-Identifier: Apache-2.0
// Nodes of two kinds that share a ledger, in virtual time: never do both kinds serve, and one kind always
// serves, also after a ledger outage.
#define CAF_SUITE kinds
#include "tests/actors/base/nodes.hpp"

#include "actors/cluster/cluster.hpp"

#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/test/unit_test.hpp>

#include <set>

namespace kinds_test {

using namespace fq;
using namespace fq::test;
using namespace std::chrono_literals;

namespace {

/// A node with its own cluster actor.
struct member {
  cluster_services services;
  cluster_links links;
  std::shared_ptr<lease_doubt> doubt = std::make_shared<lease_doubt>();
  cluster_handle cluster;
};

struct kinds_fixture : nodes_fixture {
  std::map<std::string, std::unique_ptr<member>> members;

  ~kinds_fixture() {
    for (auto& [name, m] : members) {
      at(name).services.links = nullptr;
      caf::anon_send_exit(m->cluster, caf::exit_reason::user_shutdown);
      run();
      m->cluster = nullptr;
      m->services.region = nullptr;
      m->services.ledgers.clear();
    }
  }
  /// Starts a node of wire version `speaks`.
  void join(const std::string& name, std::uint32_t speaks, bool begins = true) {
    join(start(name, true), name, name, speaks, begins);
  }
  /// A second process of the node, under the key of start_twin().
  void join_twin(const std::string& name, std::uint32_t speaks) {
    join(start_twin(name, true), name + "'", name, speaks, true);
  }
  void join(node& n, const std::string& key, const std::string& name, std::uint32_t speaks, bool begins) {
    auto& m = members[key] = std::make_unique<member>();
    n.services.links = &m->links;
    m->services.env = &env;
    m->services.ledgers = n.services.ledgers;
    m->services.node = name;
    m->services.speaks = speaks;
    m->services.region = n.root;
    m->services.links = &m->links;
    m->services.doubt = m->doubt;
    if (begins) begin_cluster(key);
  }
  void begin_cluster(const std::string& name) {
    auto& m = *members.at(name);
    m.cluster = sys.spawn(cluster, static_cast<const cluster_services*>(&m.services));
  }
  /// Takes an aggregate that no node of this test runs.
  bool take(const lease_terms& lease) {
    return std::holds_alternative<acquired>(store.acquire(catalog_aggregate, lease, never));
  }
  [[nodiscard]] bool serves(const std::string& name) const { return members.at(name)->links.serves; }
  /// Advances in steps of a heartbeat.
  void live(milliseconds d) {
    for (milliseconds passed{0}; passed < d; passed += 100ms) advance(100ms);
  }
  /// The same, while these nodes cannot reach the ledger; it answers their requests afterwards.
  void live_without(const std::set<std::string>& names, milliseconds d) {
    std::set<caf::resumable*> idle;
    for (const auto& name : names)
      idle.insert(dynamic_cast<caf::resumable*>(caf::actor_cast<caf::abstract_actor*>(at(name).worker)));
    for (milliseconds passed{0}; passed < d; passed += 100ms) {
      sched.advance_time(100ms);
      sched.run_jobs_filtered([&](caf::resumable* job) { return !idle.contains(job); });
    }
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(kinds_tests, kinds_fixture)

CAF_TEST(of two kinds that start together the one of the lesser wire version serves) {
  for (const auto& [name, speaks] : {std::pair{"a", 2u}, {"b", 1u}}) join(name, speaks, false);
  begin_cluster("a");
  begin_cluster("b");
  live(3s);
  CAF_CHECK(serves("b"));
  CAF_CHECK(!serves("a"));
}

CAF_TEST(the leases of a node end after three heartbeats without it and without a connection to it) {
  join("a", 1);
  join("b", 1); // no dialer: never connected
  live(3s);
  CAF_REQUIRE(take({"b", 60s, at("b").process->number()}));
  live(5s);
  CAF_CHECK(!take({"c", 60s})); // it lives
  live_without({"b"}, 2s);
  CAF_CHECK(!take({"c", 60s}));
  live_without({"b"}, 3s);
  CAF_CHECK(take({"c", 60s}));
}

CAF_TEST(a ledger that stands still for all ends no lease) {
  join("a", 1);
  join("b", 1);
  live(3s);
  CAF_REQUIRE(take({"b", 60s, at("b").process->number()}));
  live_without({"a", "b"}, 10s);
  live(3s);
  CAF_CHECK(!take({"c", 60s}));
}

CAF_TEST(a node trusts its leases less while another is not connected and anew after a standstill) {
  join("a", 1);
  live(3s);
  const auto& doubt = *members.at("a")->doubt;
  const auto trust = [&](milliseconds looked) { return doubt.end_of(looked) - env.steady_now(); };
  CAF_CHECK(trust(env.steady_now() - 2s) > 2s); // alone
  join("b", 1);
  live(2s);
  CAF_CHECK(trust(env.steady_now()) > 1'400ms); // the last heartbeat is at most one interval old
  CAF_CHECK(trust(env.steady_now()) <= 2'500ms);
  const auto before = env.steady_now();
  sched.advance_time(5s);
  CAF_CHECK(trust(env.steady_now()) <= 0ms);
  run();
  CAF_CHECK(trust(before) <= 0ms);
  CAF_CHECK(trust(env.steady_now()) > 2s);
}

CAF_TEST(a look at a lease extends no trust without a heartbeat that the ledger has) {
  lease_doubt doubt;
  doubt.apart(2'500ms);
  doubt.runs(60s);
  doubt.beat(10s);
  CAF_CHECK(doubt.end_of(9s) == 11'500ms);
  CAF_CHECK(doubt.end_of(12s) == 12'500ms); // others count the silence from the heartbeat
  doubt.whole(11s);
  CAF_CHECK(doubt.end_of(12s) == 12'500ms); // the lease may have been ended before
  doubt.beat(11s);
  CAF_CHECK(doubt.end_of(10s) == 12'500ms);
  CAF_CHECK(doubt.end_of(12s) == 60s);
}

CAF_TEST(a look before a long silence counts no more when the silence is over) {
  lease_doubt doubt;
  doubt.apart(2'500ms);
  doubt.runs(60s);
  doubt.beat(10s);
  CAF_CHECK(doubt.end_of(12s) == 12'500ms);
  doubt.beat(13s); // the lease may have been ended between 12.5 s and 13 s
  CAF_CHECK(doubt.end_of(12s) <= 13s);
  CAF_CHECK(doubt.end_of(13s) == 15'500ms);
  doubt.whole(14s);
  doubt.beat(14s);
  doubt.beat(18s); // leases of a node that is connected to all are not ended
  CAF_CHECK(doubt.end_of(14s) == 60s);
}

CAF_TEST(a copy stays void when a passed lease is renewed) {
  const auto lease = std::make_shared<lease_horizon>(2s);
  const lease_of_copy copy{lease};
  CAF_CHECK(!copy.has_passed(1s));
  lease->set(4s, 1s);
  CAF_CHECK(!copy.has_passed(3s));
  CAF_CHECK(copy.has_passed(4s));
  lease->set(9s, 6s);
  CAF_CHECK(copy.has_passed(6s));
  CAF_CHECK(!lease_of_copy{lease}.has_passed(6s));
}

CAF_TEST(a node that is alone serves at once) {
  join("a", 1);
  live(100ms);
  CAF_CHECK(serves("a"));
}

CAF_TEST(who stands back does not begin because the ledger was away) {
  join("a", 1);
  live(1s);
  join("b", 2);
  live(10s);
  CAF_CHECK(serves("a"));
  CAF_CHECK(!serves("b"));
  live_without({"a", "b"}, 8s);
  live_without({"a"}, 2s); // the ledger answers b first
  live(10s);
  CAF_CHECK(serves("a"));
  CAF_CHECK(!serves("b"));
}

CAF_TEST(who was away gives way to the kind that began meanwhile) {
  join("a", 1);
  live(1s);
  CAF_REQUIRE(resolve(at("a"))->ok);
  join("b", 2);
  live(1s);
  live_without({"a"}, 10s);
  CAF_CHECK(serves("b"));
  live(3s);
  CAF_CHECK(!serves("a"));
  CAF_CHECK(serves("b"));
  CAF_CHECK(!resolve(at("a"))->ok);
  const auto found = resolve(at("b"));
  live(2s);
  CAF_CHECK(found->ok);
}

CAF_TEST(the last of a kind is not ready while it leaves and the next kind begins) {
  join("a", 1);
  live(1s);
  CAF_REQUIRE(resolve(at("a"))->ok);
  join("b", 2);
  live(2s);
  caf::anon_send(members.at("a")->cluster, drain_node{});
  live(3s);
  CAF_CHECK(!serves("a"));
  CAF_CHECK(serves("b"));
  const auto found = resolve(at("b"));
  live(2s);
  CAF_CHECK(found->ok);
  CAF_CHECK_EQUAL(members.at("a")->links.given_away.load(), 1u);
}

CAF_TEST(a superseded node serves nothing and a later process of its name serves at once) {
  join("a", 1);
  live(1s);
  CAF_REQUIRE(resolve(at("a"))->ok);
  join_twin("a", 1);
  live(1s);
  CAF_CHECK(serves("a'"));
  CAF_CHECK(!serves("a"));
  CAF_CHECK(!resolve(at("a"))->ok);
  CAF_CHECK(resolve(at("a'"))->ok);
  live(10s);
  CAF_CHECK(!serves("a"));
  CAF_CHECK(!resolve(at("a"))->ok);
  CAF_CHECK(resolve(at("a'"))->ok);
  const node_row other{"b", "", 1, 0, true, false, never};
  CAF_CHECK_EQUAL(store.beat(other, 60s).front().incarnation, 2u); // the later process' row
  stop(at("a"));
  CAF_CHECK_EQUAL(store.beat(other, 60s).size(), 2u);
  CAF_CHECK(resolve(at("a'"))->ok);
}

CAF_TEST(a greeting counts only with the certificate of the node that it names) {
  join("a", 1);
  start("b", true);
  auto& a = *members.at("a");
  a.services.speaks_for = [](const caf::node_id&, const std::string& node) { return node == "b"; };
  live(2s);
  const auto handle = caf::actor_cast<caf::strong_actor_ptr>(at("b").root);
  const auto greeted = [&](const std::string& as) {
    const auto answer = ask<greeting>(a.cluster, greet{{as, handle, handle, handle, 1}, 1});
    run();
    return answer->ok;
  };
  CAF_CHECK(!greeted("c"));
  CAF_CHECK(greeted("b"));
  CAF_REQUIRE_EQUAL(a.links.all().size(), 1u);
  CAF_CHECK_EQUAL(a.links.all().front()->node, "b");
}

CAF_TEST(a greeting from another process does not count) {
  struct stranger final : caf::monitorable_actor {
    explicit stranger(caf::actor_config& cfg) : monitorable_actor(cfg) {}
    void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override {}
  };
  join("a", 1);
  auto& a = *members.at("a");
  a.services.speaks_for = [](const caf::node_id&, const std::string&) { return true; };
  live(2s);
  const auto elsewhere =
    caf::make_node_id(1, "0011223344556677889900112233445566778899").value_or(caf::node_id{});
  caf::actor_config cfg;
  const auto handle = caf::make_actor<stranger, caf::strong_actor_ptr>(7, elsewhere, &sys, cfg);
  const auto answer = ask<greeting>(a.cluster, greet{{"b", handle, handle, handle, 1}, 1});
  run();
  CAF_CHECK(!answer->ok);
  CAF_CHECK(a.links.all().empty());
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace kinds_test
