// SPDX-License-Identifier: Apache-2.0
// Placement of aggregates: even, equal on all nodes, with a minimum of moves.
#define CAF_SUITE placement
#include "domain/cluster/placement.hpp"

#include <caf/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>

namespace placement_test {

using namespace fq;

namespace {

std::vector<node_row> nodes_of(std::initializer_list<std::pair<const char*, std::uint32_t>> loads) {
  std::vector<node_row> nodes;
  for (const auto& [id, owners] : loads) nodes.push_back({id, "", 1, owners, true, false, never, true});
  return nodes;
}

std::map<std::string, int> spread(const std::vector<node_row>& nodes, std::uint32_t events) {
  std::map<std::string, int> count;
  for (std::uint32_t i = 0; i < events; ++i) ++count[home_of(aggregate_id{16 + i}, nodes)];
  return count;
}

} // namespace

CAF_TEST(equally loaded nodes get equal shares) {
  auto count = spread(nodes_of({{"a", 0}, {"b", 3}, {"c", load_tolerance}}), 3'000);
  CAF_CHECK_EQUAL(count.size(), 3u);
  for (const auto& [node, n] : count) {
    CAF_CHECK_GREATER(n, 900);
    CAF_CHECK_LESS(n, 1'100);
  }
}

CAF_TEST(a node that goes leaves the others what they have) {
  const auto three = nodes_of({{"a", 0}, {"b", 0}, {"c", 0}});
  const auto two = nodes_of({{"a", 0}, {"c", 0}});
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    const auto before = home_of(aggregate_id{16 + i}, three);
    if (before != "b") CAF_CHECK_EQUAL(home_of(aggregate_id{16 + i}, two), before);
  }
}

CAF_TEST(who has more than the tolerance above the least gets nothing) {
  const auto count = spread(nodes_of({{"a", 0}, {"b", load_tolerance + 1}, {"c", 500}}), 100);
  CAF_CHECK_EQUAL(count.size(), 1u);
  CAF_CHECK_EQUAL(count.begin()->first, "a");
}

CAF_TEST(nothing goes to a node that is draining) {
  auto nodes = nodes_of({{"a", 0}, {"b", 90}});
  nodes[0].is_draining = true;
  CAF_CHECK_EQUAL(home_of(aggregate_id{16}, nodes), "b");
  nodes[1].is_draining = true;
  CAF_CHECK_EQUAL(home_of(aggregate_id{16}, nodes), "");
  CAF_CHECK_EQUAL(home_of(aggregate_id{16}, {}), "");
}

CAF_TEST(nothing goes to a node that not everybody reaches yet) {
  auto nodes = nodes_of({{"a", 200}, {"b", 0}});
  nodes[1].is_settled = false;
  CAF_CHECK_EQUAL(home_of(aggregate_id{16}, nodes), "a");
  CAF_CHECK_EQUAL(surplus("a", nodes, 100), 0u);
  nodes[1].is_settled = true;
  CAF_CHECK_EQUAL(surplus("a", nodes, 100), 100u);
  nodes[0].is_settled = false; // and it does not compute a surplus
  CAF_CHECK_EQUAL(surplus("a", nodes, 100), 0u);
}

CAF_TEST(who has more than a tenth above an even share gives it away) {
  CAF_CHECK_EQUAL(surplus("a", nodes_of({{"a", 200}, {"b", 100}, {"c", 0}}), 1'000), 100u);
  CAF_CHECK_EQUAL(surplus("b", nodes_of({{"a", 200}, {"b", 100}, {"c", 0}}), 1'000), 0u);
  CAF_CHECK_EQUAL(surplus("a", nodes_of({{"a", 110}, {"b", 95}, {"c", 95}}), 1'000), 0u); // share 100
  CAF_CHECK_EQUAL(surplus("a", nodes_of({{"a", 111}, {"b", 95}, {"c", 94}}), 1'000), 11u);
  CAF_CHECK_EQUAL(surplus("a", nodes_of({{"a", 200}, {"b", 0}}), 8), 8u);
  CAF_CHECK_EQUAL(surplus("a", nodes_of({{"a", 2}, {"b", 0}}), 8),
                  0u); // a difference of one event causes no move
  CAF_CHECK_EQUAL(surplus("a", nodes_of({{"a", 50}}), 8), 0u);
  CAF_CHECK_EQUAL(surplus("x", nodes_of({{"a", 50}, {"b", 0}}), 8), 0u);
}

namespace {

std::vector<aggregate_id> aggregates(std::uint32_t many) {
  std::vector<aggregate_id> out;
  for (std::uint32_t i = 0; i < many; ++i) out.push_back(aggregate_id{16 + i});
  return out;
}

/// Moves events, at most `most` per round, until no move is left. Returns the final counts.
std::map<std::string, std::uint32_t> settle(std::vector<node_row> nodes, std::size_t most) {
  for (int round = 0; round < 1'000; ++round) {
    std::size_t moved = 0;
    for (auto& from : nodes)
      for (const auto& g : rebalancing_moves(from.id, nodes, {}, aggregates(from.owners), most)) {
        --from.owners;
        ++std::ranges::find(nodes, g.to, &node_row::id)->owners;
        ++moved;
      }
    if (moved == 0) break;
    CAF_REQUIRE_LESS(round, 999); // it must settle
  }
  std::map<std::string, std::uint32_t> out;
  for (const auto& n : nodes) out[n.id] = n.owners;
  return out;
}

} // namespace

CAF_TEST(rebalancing_moves end with nobody more than a tenth above an even share) {
  for (auto& [node, owners] : settle(nodes_of({{"a", 200}, {"b", 0}, {"c", 100}}), 8)) {
    CAF_MESSAGE(node);
    CAF_CHECK_GREATER(owners, 79u); // the two others have 110 at most
    CAF_CHECK_LESS(owners, 111u);
  }
  const auto two = settle(nodes_of({{"a", 4}, {"b", 0}}), 8);
  CAF_CHECK_EQUAL(two.at("a"), 2u);
  CAF_CHECK_EQUAL(two.at("b"), 2u);
}

CAF_TEST(what is on its way counts as given) {
  const auto nodes = nodes_of({{"a", 12}, {"b", 0}});
  CAF_CHECK_EQUAL(rebalancing_moves("a", nodes, {}, aggregates(12), 8).size(), 6u);
  const std::vector<rebalancing_move> four(4, {first_event_aggregate, "b"});
  CAF_CHECK_EQUAL(rebalancing_moves("a", nodes, four, aggregates(8), 8).size(), 2u);
  const std::vector<rebalancing_move> eight(8, {first_event_aggregate, "b"});
  CAF_CHECK(rebalancing_moves("a", nodes, eight, aggregates(4), 8).empty()); // at most this number at a time
}

CAF_TEST(only what may go goes and only to who has less) {
  const auto nodes = nodes_of({{"a", 40}, {"b", 39}, {"c", 0}});
  const auto may_go = aggregates(3);
  const auto given = rebalancing_moves("a", nodes, {}, may_go, 8);
  CAF_CHECK_EQUAL(given.size(), 3u);
  for (const auto& g : given) {
    CAF_CHECK_EQUAL(g.to, "c");
    CAF_CHECK(std::ranges::find(may_go, g.aggregate) != may_go.end());
  }
  CAF_CHECK(rebalancing_moves("b", nodes_of({{"a", 1}, {"b", 2}}), {}, may_go, 8).empty());
  CAF_CHECK(rebalancing_moves("x", nodes, {}, may_go, 8).empty());
}

CAF_TEST(who drains gives to nodes that are not settled and to those that have more) {
  auto nodes = nodes_of({{"a", 3}, {"b", 50}});
  nodes[1].is_settled = false;
  CAF_CHECK(rebalancing_moves("a", nodes, {}, aggregates(3), 8).empty());
  nodes[0].is_draining = true;
  CAF_CHECK_EQUAL(rebalancing_moves("a", nodes, {}, aggregates(3), 2).size(), 2u);
  CAF_CHECK_EQUAL(rebalancing_moves("a", nodes, {}, aggregates(3), 8).size(), 3u);
  nodes[1].is_draining = true; // no node can receive events
  CAF_CHECK(rebalancing_moves("a", nodes, {}, aggregates(3), 8).empty());
}

CAF_TEST(the others follow in the order in which they would be placed) {
  auto nodes = nodes_of({{"a", 900}, {"b", 0}, {"c", 500}, {"d", 0}});
  nodes[3].is_draining = true;
  const std::vector<std::string> expected{"b", "c", "a", "d"};
  CAF_CHECK_EQUAL(by_place(first_event_aggregate, nodes), expected);
}

CAF_TEST(who reaches fewer than half of the others is isolated and who reaches all is settled) {
  const auto nodes = nodes_of({{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}});
  const auto seen = [&](std::string_view connected) {
    return reach_of(nodes[0], nodes,
                    [connected](const std::string& id) { return connected.find(id) != connected.npos; });
  };
  CAF_CHECK(seen("").is_isolated());
  CAF_CHECK(seen("b").is_isolated());
  CAF_CHECK(!seen("bc").is_isolated());
  CAF_CHECK(seen("bcd").is_settled(true));
  CAF_CHECK(!seen("bc").is_settled(true));
  CAF_CHECK(seen("bc").is_settled(false)); // with an unreachable node
  CAF_CHECK(!seen("b").is_settled(false));
  auto newer = nodes;
  // a node of another wire version is not counted as missing
  for (auto& n : newer) n.wire_version = nodes[0].wire_version + 1;
  const auto alone = reach_of(nodes[0], newer, [](const std::string&) { return false; });
  CAF_CHECK(!alone.is_isolated());
  CAF_CHECK(alone.is_settled(true));
}

CAF_TEST(what nobody owns is taken at the second look or by who is alone) {
  CAF_CHECK(takes_unowned({}, milliseconds{0}));
  CAF_CHECK(!takes_unowned({.has_peers = true}, milliseconds{0}));
  CAF_CHECK(takes_unowned({.has_peers = true}, milliseconds{1}));
  CAF_CHECK(!takes_unowned({.is_isolated = true}, isolation_patience - milliseconds{1}));
  CAF_CHECK(takes_unowned({.is_isolated = true}, isolation_patience));
  CAF_CHECK(!takes_unowned({.is_draining = true}, isolation_patience));
}

namespace {

/// Repeats the step until nothing changes, for a node that sees its own row.
serving_claim settled(node_row self, std::vector<node_row> nodes, const missed_heartbeats& of_us = {}) {
  serving_claim c;
  for (int i = 0; i < 10; ++i) {
    std::ranges::find(nodes, self.id, &node_row::id)->serves = c.is_made;
    c = claim_after(c, self, nodes, of_us);
  }
  return c;
}

/// Nodes of two kinds on one ledger with random heartbeats, starts, ends, drains and silences. Other nodes do
/// not see a silent node.
class two_kinds {
public:
  explicit two_kinds(std::uint32_t seed) : draw_(seed) {
    for (std::uint32_t i = 0; i < 5; ++i) {
      auto& n = nodes_[i];
      n.row.id = std::string(1, static_cast<char>('a' + i));
      n.row.wire_version = i < 2 ? 1 : 2;
    }
    for (auto& n : nodes_) start(n);
  }
  void step() {
    now_ += 100;
    auto& n = nodes_[draw_() % nodes_.size()];
    const auto what = draw_() % 10'000;
    if (what < 20)
      stop(n);
    else if (what < 300 && !n.lives)
      start(n);
    else if (what < 310 && n.lives)
      n.row.is_draining = true;
    else if (what < 340)
      n.silent_until = now_ + static_cast<int>(draw_() % 12'000);
    else if (what < 350) // a ledger outage for all nodes, then answers one after the other
      for (auto& all : nodes_) all.silent_until = now_ + static_cast<int>(6'000 + draw_() % 2'500);
    beat_all();
  }
  /// Both kinds serve, and neither will notice at its next step that it was away.
  [[nodiscard]] bool both_serve() const {
    bool serves[2] = {};
    for (const auto& n : nodes_)
      if (n.lives && n.is_sure(now_) && n.own.serves && !n.row.is_draining)
        serves[n.row.wire_version - 1] = true;
    return serves[0] && serves[1];
  }
  [[nodiscard]] bool somebody_serves() const {
    return std::ranges::any_of(nodes_, [](const node& n) { return n.lives && n.own.serves; });
  }
  /// From now on all nodes run and none drains.
  void calm_down() {
    for (auto& n : nodes_) {
      if (!n.lives || n.row.is_draining) start(n);
      n.silent_until = 0;
    }
    for (int i = 0; i < 200; ++i) {
      now_ += 100;
      beat_all();
    }
  }

private:
  static constexpr int alive_for = 5'000;
  struct node {
    node_row row;
    bool lives = false;
    serving_claim own;
    int beat_at = 0, looked_at = -1, blind_until = 0, silent_until = 0;
    std::optional<node_row> written; ///< the row in the ledger
    int written_at = 0;
    [[nodiscard]] bool is_sure(int now) const { return looked_at >= 0 && now - looked_at <= alive_for; }
  };
  void start(node& n) {
    n.row.is_draining = false;
    n.lives = true;
    n.own = {};
    n.looked_at = -1;
    n.blind_until = 0;
    n.beat_at = now_ + static_cast<int>(draw_() % 1'000);
  }
  void stop(node& n) {
    n.lives = false;
    if (draw_() % 2 == 0) n.written.reset(); // an orderly stop
  }
  /// Heartbeats of one step are concurrent transactions: none sees the writes of another.
  void beat_all() {
    const auto before = nodes_;
    for (auto& n : nodes_)
      if (n.lives && now_ >= n.beat_at && now_ >= n.silent_until) beat(n, before);
  }
  void beat(node& n, const std::array<node, 5>& committed) {
    n.beat_at = now_ + 1'000;
    n.row.serves = n.own.is_made;
    n.written = n.row;
    n.written_at = now_;
    std::vector<node_row> seen{n.row};
    for (const auto& other : committed)
      if (other.row.id != n.row.id && other.written && now_ - other.written_at <= alive_for)
        seen.push_back(*other.written);
    const bool was_away = n.looked_at >= 0 && now_ - n.looked_at > alive_for;
    n.looked_at = now_;
    if (was_away) n.blind_until = now_ + alive_for;
    const auto before = n.own;
    n.own = claim_after(n.own, n.row, seen, {was_away, now_ < n.blind_until});
    if (n.own.is_made && !n.own.serves && (!before.is_made || n.own.is_seen != before.is_seen)
        && draw_() % 4 != 0)
      n.beat_at = now_;
  }

  std::mt19937 draw_;
  std::array<node, 5> nodes_;
  int now_ = 0;
};

} // namespace

CAF_TEST(of two kinds of nodes the one that serves goes on and the other waits) {
  auto nodes = nodes_of({{"a", 5}, {"b", 5}, {"c", 0}});
  auto &a = nodes[0], &b = nodes[1], &c = nodes[2];
  c.wire_version = a.wire_version + 1;
  CAF_CHECK(!settled(c, nodes).is_made);
  CAF_CHECK(!leaves_to_successors(a, nodes));
  a.is_draining = true;
  c.serves = false;
  CAF_CHECK(!leaves_to_successors(a, nodes)); // b is available
  CAF_CHECK(!settled(c, nodes).is_made);
  b.is_draining = true;
  CAF_CHECK(!leaves_to_successors(b, nodes)); // no successor is available yet
  CAF_CHECK(settled(c, nodes).serves);
  c.serves = true;
  CAF_CHECK(leaves_to_successors(b, nodes));
  b.is_draining = b.serves = false; // it returns with the wrong kind
  CAF_CHECK(!settled(b, nodes).is_made);
  CAF_CHECK(leaves_to_successors(a, nodes)); // and does not prevent another node from leaving
  auto d = c;
  d.id = "d";
  d.serves = false;
  nodes.push_back(d);
  CAF_CHECK(settled(d, nodes).serves); // the same kind as c
  d.keys = nodes.back().keys = "others";
  CAF_CHECK(!settled(d, nodes).is_made);
}

CAF_TEST(of two kinds that start together one begins) {
  auto nodes = nodes_of({{"a", 0}, {"b", 0}});
  for (auto& n : nodes) n.serves = false;
  nodes[0].wire_version = nodes[1].wire_version + 1;
  CAF_CHECK(!settled(nodes[0], nodes).is_made);
  CAF_CHECK(settled(nodes[1], nodes).serves);
  nodes[0].wire_version = nodes[1].wire_version;
  nodes[0].keys = "others";
  CAF_CHECK(settled(nodes[0], nodes).serves);
  CAF_CHECK(!settled(nodes[1], nodes).is_made);
}

CAF_TEST(a claim counts once the ledger has had it and no other stands beside it) {
  auto nodes = nodes_of({{"a", 0}, {"b", 0}});
  auto &a = nodes[0], &b = nodes[1];
  a.serves = b.serves = false;
  b.wire_version = a.wire_version + 1;
  auto c = claim_after({}, a, nodes, {});
  CAF_CHECK(c.is_made);
  c = claim_after(c, a, nodes, {}); // the answer to an earlier heartbeat
  CAF_CHECK(c.is_made && !c.is_seen);
  a.serves = true;
  c = claim_after(c, a, nodes, {});
  CAF_CHECK(c.is_seen && !c.serves);
  b.serves = true; // it started between two steps
  for (int i = 0; i < claim_patience; ++i) c = claim_after(c, a, nodes, {});
  CAF_CHECK(c.is_made && !c.serves); // it may be about to give way
  auto withdrawn = b;
  withdrawn.serves = false;
  CAF_CHECK(claim_after(c, a, std::vector{a, withdrawn}, {}).serves);
  CAF_CHECK(!claim_after(c, a, nodes, {}).is_made); // it serves
  CAF_CHECK(!claim_after({.is_made = true}, b, nodes, {}).is_made); // the greater rank gives way at once
}

CAF_TEST(who was away does not begin and gives way to who began meanwhile) {
  auto nodes = nodes_of({{"a", 0}, {"b", 0}});
  nodes[0].serves = false;
  nodes[0].wire_version = nodes[1].wire_version + 1;
  const std::vector<node_row> alone{nodes[0]};
  CAF_CHECK(!settled(nodes[0], alone, {.was_away = true, .is_blind = true}).is_made);
  CAF_CHECK(!settled(nodes[0], alone, {.was_away = false, .is_blind = true}).is_made);
  CAF_CHECK(settled(nodes[0], alone).serves);
  const serving_claim serves{true, true, true, 0};
  CAF_CHECK(claim_after(serves, nodes[0], nodes, {}).serves);
  CAF_CHECK(!claim_after(serves, nodes[0], nodes, {.was_away = true, .is_blind = true}).serves);
  CAF_CHECK(claim_after(serves, nodes[0], alone, {.was_away = true, .is_blind = true}).serves);
}

CAF_TEST(never do two kinds serve whatever stops and comes back) {
  std::size_t steps_served = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    two_kinds world(seed);
    for (int step = 0; step < 2'000; ++step) {
      world.step();
      if (world.both_serve()) CAF_FAIL("seed " << seed << ", step " << step);
      steps_served += world.somebody_serves() ? 1 : 0;
    }
    world.calm_down();
    if (!world.somebody_serves()) CAF_FAIL("nobody serves in the end, seed " << seed);
    if (world.both_serve()) CAF_FAIL("both serve in the end, seed " << seed);
  }
  CAF_CHECK_GREATER(steps_served, 300u * 2'000u / 2);
}

CAF_TEST(an event is opening from ten minutes before its queue to ten minutes after its sale has begun) {
  event_row event;
  event.queue_opens_at = from_unix_ms(1'800'000'000'000);
  event.sale_start = event.queue_opens_at + seconds{3'600};
  CAF_CHECK(!is_opening(event, event.queue_opens_at - opening_quiet));
  CAF_CHECK(is_opening(event, event.queue_opens_at - opening_quiet + milliseconds{1}));
  CAF_CHECK(is_opening(event, event.sale_start + opening_quiet - milliseconds{1}));
  CAF_CHECK(!is_opening(event, event.sale_start + opening_quiet));
}

CAF_TEST(who is draining gives everything away unless nobody would take it) {
  auto nodes = nodes_of({{"a", 5}, {"b", 100}});
  nodes[0].is_draining = true;
  CAF_CHECK_EQUAL(surplus("a", nodes, 100), 5u);
  CAF_CHECK_EQUAL(surplus("a", nodes, 2), 2u);
  CAF_CHECK_EQUAL(surplus("b", nodes, 100), 0u); // its share is everything
  nodes[0].is_settled = nodes[1].is_settled = false; // a bad place is better than none
  CAF_CHECK_EQUAL(surplus("a", nodes, 100), 5u);
  nodes[1].is_draining = true;
  CAF_CHECK_EQUAL(surplus("a", nodes, 100), 0u);
}

} // namespace placement_test
