// SPDX-License-Identifier: Apache-2.0
// Polls that an io thread answers from what it knows of the line: as the owner would, or not at all.
#define CAF_SUITE net_positions
#include "caf/test/unit_test.hpp"

#include "domain/line/queue.hpp"
#include "net/bridge/limits.hpp"
#include "net/wire/codec.hpp"
#include "tests/domain/sale/seeds.hpp"
#include "tests/net/api/world.hpp"

#include <functional>
#include <set>

namespace positions_test {

using namespace fq;
using namespace fq::net;
using made::shown;

namespace {

constexpr line_spot spot(std::uint64_t rank, std::uint8_t priority_class = priority_standard) {
  return {priority_class, line_rank{rank}};
}

/// An owner whose line the test moves. The customer of the world waits at `mine`.
struct fixture : made::world {
  std::set<line_spot> line;
  line_spot mine = spot(500);
  std::uint64_t version = 7, last = 1'000;
  std::shared_ptr<told_version> told_here = std::make_shared<told_version>();

  fixture() {
    for (std::uint64_t n = 1; n <= last; ++n) line.insert(spot(n));
    auto& e = told->entry.entry;
    e.id = make_entry_id(from_unix_ms(1'800'000'000'123), first_event_aggregate, queue_number{500});
    e.event = event_id;
    e.customer = customer;
    e.number = queue_number{500};
    e.joined_at = from_unix_ms(1'800'000'000'123);
    e.message = "Doors open at eight";
    e.poll_after_ms = 500;
    told->line.message = e.message;
    tell();
  }
  sale_evidence evidence{.sells = true, .free = 3, .most = 2};
  /// Sets the answers of the owner.
  void tell() {
    auto& e = told->entry.entry;
    e.spot = mine;
    const line_pace pace{40, milliseconds{60'000}, milliseconds{300'000}};
    if (line.contains(mine)) {
      set_wait(e, 1 + static_cast<std::uint64_t>(std::distance(line.begin(), line.find(mine))), pace);
      e.outlook = outlook_of(evidence, e.position);
    }
    told->entry.line_version = version;
    told->line.line = {version, pace, evidence, milliseconds{1'000}, {}, told_here};
    told_here->set(version);
  }
  /// Commits a decision and pushes it.
  void commit(std::vector<line_spot> overtaking,
              const std::vector<std::pair<line_spot, entry_status>>& changed) {
    entries_changed push{event_id, version, version + 2, std::move(overtaking), {}};
    version += 2;
    for (const auto& s : push.overtaking) line.insert(s);
    for (const auto& [s, to] : changed) {
      if (ends_waiting(to)) line.erase(s);
      entry_change c;
      c.number = queue_number{value_of(s.rank)};
      c.status = to;
      c.spot = s;
      push.changes.push_back(c);
    }
    tell();
    receiver().on_entries_changed(push);
  }
  push_receiver& receiver() { return lines; }
  response poll_as(const uuid& who) {
    return send(method::get, event_path("/queue/position"), "", bearer(token_kind::customer, who));
  }
  /// Whether a poll was answered without a question, as the owner would answer.
  bool is_known() {
    const auto before = told->questions;
    const auto answer = poll_as(customer);
    std::string expected;
    append_entry(expected, told->entry.entry, sessions);
    CAF_CHECK_EQUAL(answer.body, expected);
    return told->questions == before;
  }
  /// The first polls subscribe.
  void subscribe() {
    for (int i = 0; i < 10 && !is_known(); ++i) {}
    CAF_REQUIRE(is_known());
  }
  /// Runs the io thread until the line is open or lost.
  void settle(const known_line& l) {
    for (int i = 0; l.now == known_line::phase::opening && i < 10'000; ++i)
      io.run_one_for(std::chrono::milliseconds{10});
    CAF_REQUIRE(l.now != known_line::phase::opening);
  }
  line_spot pick(fq::test::dice& d) {
    return *std::next(line.begin(), static_cast<std::ptrdiff_t>(d.below(line.size())));
  }
};

} // namespace

CAF_TEST(the first polls subscribe and the next are no questions) {
  fixture f;
  CAF_CHECK(!f.is_known());
  f.subscribe();
  CAF_CHECK_EQUAL(f.told->subscriptions, 1);
  CAF_CHECK_LESS(f.told->polls, 5);
}

CAF_TEST(positions are exact whoever leaves enters or overtakes) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    fq::test::dice d{seed};
    fixture f;
    f.subscribe();
    const auto asked = f.told->polls;
    for (int i = 0; i < 400; ++i) {
      const auto what = d.below(100);
      if (what < 30) { // admissions
        std::vector<std::pair<line_spot, entry_status>> first;
        for (auto s = f.line.begin(); s != f.line.end() && *s < f.mine && first.size() < d.below(4); ++s)
          first.emplace_back(*s, entry_status::admitted);
        f.commit({}, first);
      } else if (what < 60) {
        const auto s = f.pick(d);
        if (s != f.mine) f.commit({}, {{s, entry_status::cancelled}});
      } else if (what < 85) {
        f.commit({spot(++f.last, priority_vip)}, {});
      } else {
        f.line.insert(spot(++f.last)); // behind all
        f.tell();
      }
      FQ_HOLDS(seed, f.is_known());
    }
    CAF_CHECK_EQUAL(f.told->polls, asked);
  }
}

CAF_TEST(a poll asks the owner if the line may be another one) {
  struct row {
    const char* what;
    std::function<void(fixture&)> happens;
    bool is_brief; ///< the next answer of the owner mends it
  };
  const row rows[] = {
    {"a push is missing",
     [](fixture& f) {
       f.version += 2;
       f.commit({}, {{spot(3), entry_status::admitted}});
     },
     false},
    {"the owner is gone", [](fixture& f) { f.receiver().on_owner_gone(first_event_aggregate); }, false},
    {"a push was sent and is not read yet", [](fixture& f) { f.told_here->set(f.version + 1); }, false},
    {"the owner serves no more", [](fixture& f) { f.told_here->end(); }, false},
    {"the last answer is old", [](fixture& f) { f.clock.now_ms += 1'000; }, true},
    {"the thread stood still", [](fixture& f) { f.clock.now_ms += 30'000; }, true},
  };
  for (const auto& r : rows) {
    CAF_MESSAGE(r.what);
    fixture f;
    f.subscribe();
    r.happens(f);
    CAF_CHECK(!f.is_known());
    f.told_here->set(f.version);
    f.pass(milliseconds{750});
    if (r.is_brief) CAF_CHECK(f.is_known() || f.is_known());
    f.subscribe();
  }
}

CAF_TEST(a copy is void after the lease of its owner) {
  fixture f;
  const auto lease = std::make_shared<lease_horizon>(f.clock.steady_now() + milliseconds{300});
  f.told->line.line.lease = lease_of_copy{lease};
  f.subscribe();
  f.clock.now_ms += 300;
  CAF_CHECK(!f.is_known());
  lease->set(f.clock.steady_now() + milliseconds{10'000}, f.clock.steady_now());
  CAF_CHECK(!f.is_known());
}

CAF_TEST(the owner answers about an entry that is away or has left) {
  fixture f;
  f.subscribe();
  f.told->entry.entry.status = entry_status::away;
  f.commit({}, {{f.mine, entry_status::away}});
  CAF_CHECK(!f.is_known());
  CAF_CHECK(!f.is_known());
  f.told->entry.entry.status = entry_status::waiting;
  f.commit({}, {{f.mine, entry_status::waiting}});
  CAF_CHECK(f.is_known());
  f.told->entry.entry.status = entry_status::cancelled;
  f.told->entry.entry.position = 0;
  f.commit({}, {{f.mine, entry_status::cancelled}});
  CAF_CHECK(!f.is_known());
  f.told->entry.no = reason::not_in_queue;
  CAF_CHECK_EQUAL(shown(f.poll_as(f.customer)), "404 not_in_queue");
}

CAF_TEST(a known place answers no other customer) {
  fixture f;
  f.subscribe();
  const auto asked = f.told->polls;
  f.told->entry.no = reason::not_in_queue;
  CAF_CHECK_EQUAL(shown(f.poll_as({0x1111, 0x8000'0000'0000'0002})), "404 not_in_queue");
  CAF_CHECK_EQUAL(f.told->polls, asked + 1);
}

CAF_TEST(a message to all in line reaches known places) {
  fixture f;
  f.subscribe();
  f.told->entry.entry.message = f.told->line.message = "We are sorry for the delay";
  f.receiver().on_event_noticed({f.event_id, socket_notice_kind::message, f.told->line.message});
  f.commit({}, {});
  CAF_CHECK(f.is_known());
}

CAF_TEST(polls count as presence where it is watched) {
  fixture f;
  f.subscribe();
  f.pass(milliseconds{250});
  f.receiver().on_event_noticed({f.event_id, socket_notice_kind::presence_watched, {}});
  CAF_CHECK(f.is_known());
  CAF_CHECK(f.is_known());
  f.pass(milliseconds{250});
  f.poll_as({0x1111, 0x8000'0000'0000'0002}); // a question follows the message about presence
  CAF_REQUIRE_EQUAL(f.told->seen.size(), 1u);
  CAF_CHECK((f.told->seen[0] == std::vector{queue_number{500}, queue_number{500}}));
}

CAF_TEST(a line without polls is unsubscribed) {
  fixture f;
  f.subscribe();
  f.pass(milliseconds{59'000});
  CAF_CHECK(!f.is_known());
  CAF_CHECK_EQUAL(f.told->subscriptions, 1);
  f.pass(milliseconds{61'000});
  f.told->entry.no = reason::not_in_queue;
  f.poll_as(f.customer);
  CAF_CHECK_EQUAL(f.told->subscriptions, 0);
}

CAF_TEST(a slow owner is asked for places and once in a while for the pace) {
  fixture f;
  f.subscribe();
  f.told->before_line = [&f] { f.clock.now_ms += 1'500; }; // the answer is too old when it arrives
  f.pass(milliseconds{1'000});
  const auto asked = f.told->questions, polls = f.told->polls;
  for (int i = 0; i < 10; ++i) CAF_CHECK(!f.is_known());
  CAF_CHECK_EQUAL(f.told->polls, polls + 10);
  CAF_CHECK_EQUAL(f.told->questions, asked + 10 + 1);
  f.pass(milliseconds{1'000});
  for (int i = 0; i < 10; ++i) CAF_CHECK(!f.is_known());
  CAF_CHECK_EQUAL(f.told->questions, asked + 20 + 2);
  f.told->before_line = nullptr;
  f.pass(milliseconds{1'000});
  CAF_CHECK(!f.is_known()); // asks for the pace
  CAF_CHECK(f.is_known());
  CAF_CHECK_EQUAL(f.told->polls, polls + 20);
}

CAF_TEST(one poll asks for the pace and the others meanwhile for their places) {
  fixture f;
  f.subscribe();
  f.pass(milliseconds{1'000});
  auto line = f.lines.find_stale(f.event_id, f.customer);
  CAF_REQUIRE(line != nullptr);
  auto renewal = f.lines.renew(line);
  bool is_done = false;
  renewal.start([](void* flag) noexcept { *static_cast<bool*>(flag) = true; }, &is_done);
  CAF_CHECK(!is_done);
  CAF_CHECK(f.lines.find_stale(f.event_id, f.customer) == nullptr);
  for (int i = 0; !is_done && i < 10'000; ++i) f.io.run_one_for(std::chrono::milliseconds{10});
  CAF_REQUIRE(is_done);
  CAF_CHECK(!renewal.take().error);
  CAF_CHECK(f.is_known());
}

CAF_TEST(an owner in trouble is asked less and less often until it answers) {
  fixture f;
  f.subscribe();
  const auto line = f.lines.follow(f.event_id);
  f.told->error = make_error(errc::unavailable);
  f.receiver().on_owner_gone(first_event_aggregate);
  const auto asked = f.told->questions;
  for (int i = 0; i < 120; ++i) { // 30 s
    f.pass(milliseconds{250});
    f.settle(*line);
  }
  CAF_CHECK_GREATER(f.told->questions, asked + 4);
  CAF_CHECK_LESS(f.told->questions, asked + 11);
  f.told->error = {};
  f.pass(reopen_most);
  f.settle(*line);
  CAF_CHECK(line->now == known_line::phase::open);
  f.receiver().on_owner_gone(first_event_aggregate);
  f.pass(reopen_after);
  f.settle(*line);
  CAF_CHECK(line->now == known_line::phase::open);
}

CAF_TEST(the least recently polled places are forgotten) {
  known_places places;
  const event_id event{1, 2};
  const known_places::place any{};
  for (std::uint64_t n = 0; n < known_places_max / 2; ++n) places.put(event, {0, n}, any);
  CAF_CHECK(places.find(event, {0, 0}) != nullptr);
  for (std::uint64_t n = 0; n < known_places_max / 2; ++n) places.put(event, {1, n}, any);
  CAF_CHECK(places.find(event, {0, 0}) != nullptr); // kept by this
  places.put(event, {2, 0}, any);
  for (std::uint64_t n = 0; n < known_places_max / 2; ++n) places.put(event, {3, n}, any);
  CAF_CHECK(places.find(event, {0, 0}) != nullptr);
  CAF_CHECK(places.find(event, {0, 1}) == nullptr);
  CAF_CHECK(places.find({1, 3}, {3, 1}) == nullptr);
  for (std::size_t n = 0; n < known_places_max; n += places_freed_at_once) places.free_some();
  CAF_CHECK(places.find(event, {0, 0}) != nullptr);
}

} // namespace positions_test
