// SPDX-License-Identifier: Apache-2.0
// A standalone queue (a sale without stock), and the effects of operators, origins and absence on its line.
#define CAF_SUITE domain_waiting_room
#include "domain/sale/audit.hpp"
#include "tests/domain/sale/sale_checks.hpp"
#include "tests/domain/sale/sample_sale.hpp"

#include "caf/test/unit_test.hpp"

namespace waiting_room_test {

using namespace fq;
using namespace fq::test;

namespace {

event_row sample_queue(admission_policy policy = admission_policy::capacity, std::uint32_t concurrency = 2) {
  auto e = sample_event();
  e.kind = event_kind::queue;
  e.sale_start = e.sale_end = never;
  e.queue.policy = policy;
  e.queue.concurrency = concurrency;
  e.queue.session_ttl = e.queue.claim_window = seconds{60};
  return e;
}

struct waiting_room : sample_sale {
  explicit waiting_room(event_row event = sample_queue()) : sample_sale(std::move(event), {}) {}

  refusal advance(std::uint64_t count, std::uint64_t& admitted) {
    last = {};
    auto no = it->advance(count, now, last, admitted);
    settle();
    return no;
  }
  std::size_t revoke(revocation_scope scope, std::uint64_t fan_number = 0) {
    last = {};
    const auto* e = it->queue().find(fan(fan_number));
    const auto count = it->revoke(scope, e ? e->number : queue_number{}, fan(fan_number), now, last);
    settle();
    return count;
  }
  void seen(std::uint64_t n) {
    last = {};
    it->seen(it->queue().find(fan(n))->number, now, last);
    settle();
  }
  void change(const event_patch& p) {
    const auto no = patch(p);
    CAF_REQUIRE(!no);
  }
  entry_status status(std::uint64_t n) const { return entry(n).status; }
};

struct locking_room : waiting_room {
  explicit locking_room(std::uint32_t locks_per_session) :
      waiting_room([=] {
        auto e = sample_queue();
        e.queue.locks_per_session = locks_per_session;
        return e;
      }()) {}
  sale::locked lock(std::uint64_t n, const std::string& name) {
    last = {};
    const auto e = entry(n);
    auto done = it->lock(e.number, e.admission_no, name, now, last);
    settle();
    return done;
  }
  refusal unlock(std::uint64_t n, const std::string& name) {
    last = {};
    const auto e = entry(n);
    auto no = it->unlock(e.number, e.admission_no, name, last);
    settle();
    return no;
  }
};

event_row watched(seconds timeout, seconds grace) {
  auto e = sample_queue(admission_policy::capacity, 1);
  e.queue.presence_timeout = timeout;
  e.queue.away_grace = grace;
  return e;
}

} // namespace

CAF_TEST(a queue without stock admits up to its concurrency and refills a freed slot at once) {
  waiting_room q;
  q.join_all(1, 5);
  CAF_CHECK_EQUAL(q.it->queue().counts().admitted, 2u);
  CAF_CHECK(!q.told(socket_notice_kind::sold_out)); // without stock it is never sold out
  CAF_CHECK(!q.leave(1));
  CAF_CHECK(q.status(1) == entry_status::completed);
  CAF_CHECK(q.status(3) == entry_status::admitted);
  q.pass(seconds{60}); // sessions end automatically; there is no claim window
  CAF_CHECK(q.status(2) == entry_status::session_expired);
  CAF_CHECK(q.status(4) == entry_status::admitted && q.status(5) == entry_status::admitted);
  CAF_CHECK_EQUAL(q.entry(2).claim_by, q.entry(2).session_expires_at);
}

CAF_TEST(a name is locked by one session and ends with it) {
  locking_room q{2};
  q.join_all(1, 3);
  CAF_CHECK(q.lock(1, "A-1").created && q.lock(1, "A-2").created);
  CAF_CHECK(!q.lock(1, "A-1").created && !q.lock(1, "A-1").no); // the same again
  CAF_CHECK(q.lock(2, "A-1").no.why == reason::lock_held);
  CAF_CHECK_EQUAL(q.lock(1, "A-3").no.first, 2);
  CAF_CHECK(q.lock(1, "A-3").no.why == reason::locks_exhausted);
  CAF_CHECK(q.lock(3, "A-3").no.why == reason::not_admitted);
  CAF_CHECK(!q.unlock(2, "A-1")); // not its own: nothing happens
  CAF_CHECK(q.lock(2, "A-1").no.why == reason::lock_held);
  CAF_CHECK(!q.unlock(1, "A-2") && q.lock(2, "A-2").created);
  CAF_CHECK_EQUAL(how_a_reload_differs(q), "");
  CAF_CHECK(!q.leave(1));
  CAF_CHECK(q.lock(2, "A-1").created);
  CAF_CHECK(q.lock(1, "A-4").no.why == reason::not_admitted);
  CAF_CHECK_EQUAL(q.ledger.locks.size(), 2u);
  q.pass(seconds{60});
  CAF_CHECK(q.ledger.locks.empty() && q.it->locks().all().empty());
}

CAF_TEST(names whose sessions an older program has ended are free after a load) {
  locking_room q{2};
  q.join_all(1, 3);
  CAF_CHECK(q.lock(1, "A-1").created && q.lock(2, "B-1").created);
  const auto ended = q.entry(2).number;
  CAF_CHECK(!q.leave(2));
  for (const auto& row : {session_lock_row{"B-1", ended, q.now}, session_lock_row{"C-1", {}, q.now}})
    q.ledger.locks.emplace(row.name, row); // the older program left the one, and forgot the other's entry
  q.reload();
  q.drain();
  CAF_CHECK_EQUAL(q.ledger.locks.size(), 1u);
  CAF_CHECK_EQUAL(q.it->locks().all().size(), 1u);
  CAF_CHECK(q.lock(3, "B-1").created && q.lock(3, "C-1").created);
  CAF_CHECK(q.lock(3, "A-1").no.why == reason::lock_held);
  CAF_CHECK_EQUAL(how_a_reload_differs(q), "");
}

CAF_TEST(a load of many lost names is freed in parts) {
  locking_room q{1};
  q.rules.bounds.rows_per_run = 2;
  for (const auto* name : {"A", "B", "C", "D", "E"})
    q.ledger.locks.emplace(name, session_lock_row{name, queue_number{7}, q.now});
  q.reload();
  q.pass(seconds{0});
  CAF_CHECK_EQUAL(q.ledger.locks.size(), 3u);
  CAF_CHECK(q.wake.again);
  q.drain();
  CAF_CHECK(q.ledger.locks.empty());
}

CAF_TEST(a revocation frees the names of its session) {
  locking_room q{1};
  q.join_all(1, 3);
  CAF_CHECK(q.lock(1, "A-1").created);
  CAF_CHECK_EQUAL(q.revoke(revocation_scope::ticket, 1), 1u);
  CAF_CHECK(q.lock(3, "A-1").created);
  locking_room none{0};
  none.join_all(1, 1);
  CAF_CHECK(none.lock(1, "A-1").no.why == reason::locks_exhausted);
}

CAF_TEST(a lock of no live session is a contradiction) {
  locking_room q{1};
  q.join_all(1, 1);
  CAF_CHECK(q.lock(1, "A-1").created);
  std::vector<entry_row> entries{q.entry(1)};
  const std::vector<session_lock_row> locks{q.ledger.locks.at("A-1")};
  const auto told = [&] {
    return contradictions({.event = q.ledger.event,
                           .ticket_types = {},
                           .entries = entries,
                           .claims = {},
                           .payments = {},
                           .locks = locks})
      .size();
  };
  CAF_CHECK_EQUAL(told(), 0u);
  entries[0].status = entry_status::session_expired;
  CAF_CHECK_EQUAL(told(), 1u);
}

CAF_TEST(a queue never ends by itself) {
  waiting_room q;
  q.pass(seconds{400ll * 24 * 3600});
  CAF_CHECK(q.it->event().status == event_status::active);
  CAF_CHECK(!q.join(1).no);
}

CAF_TEST(a full line takes nobody and who is in it keeps the place) {
  auto e = sample_queue(admission_policy::capacity, 1);
  e.queue.capacity = 2;
  waiting_room q{e};
  q.join_all(1, 3); // one is admitted, two wait
  CAF_CHECK(q.join(4).no.why == reason::queue_full);
  CAF_CHECK(!q.join(2).no);
  q.leave(2);
  CAF_CHECK(!q.join(4).no);
}

CAF_TEST(a new place needs a solved challenge and a place that is there needs none) {
  auto e = sample_queue(admission_policy::capacity, 1);
  waiting_room q{e};
  q.join_all(1, 2);
  event_patch asks;
  asks.set(&event_row::challenge, challenge_kind::proof_of_work);
  CAF_CHECK(!q.patch(asks));
  const auto refused = q.join(3);
  CAF_CHECK(refused.no.why == reason::challenge_required);
  CAF_CHECK(refused.no.id == q.it->event().id);
  CAF_CHECK(!q.join(2).no);
  decision d;
  CAF_CHECK(q.it->join(fan(3), 0, q.now, d, {}, {}, true).created);
}

CAF_TEST(a join that is refused anyway asks for no challenge) {
  auto e = sample_queue(admission_policy::capacity, 1);
  e.challenge = challenge_kind::proof_of_work;
  e.queue_opens_at = opening + seconds{60};
  waiting_room q{e};
  CAF_CHECK(q.join(1).no.why == reason::queue_not_open);
}

CAF_TEST(a patch that raises admits at once and one that lowers evicts nobody) {
  waiting_room q;
  q.join_all(1, 6);
  event_patch more;
  more.set(&queue_settings::concurrency, 4);
  q.change(more);
  CAF_CHECK_EQUAL(q.it->queue().counts().admitted, 4u);
  event_patch fewer;
  fewer.set(&queue_settings::concurrency, 1);
  q.change(fewer);
  CAF_CHECK_EQUAL(q.it->queue().counts().admitted, 4u);
  q.leave(1);
  CAF_CHECK_EQUAL(q.it->queue().counts().admitted, 3u); // the count does not rise
}

CAF_TEST(an operator calls exactly the next n and never past the concurrency) {
  waiting_room q{sample_queue(admission_policy::operated, 0)};
  q.join_all(1, 100);
  CAF_CHECK_EQUAL(q.it->queue().counts().admitted, 0u);
  std::uint64_t admitted = 0;
  CAF_CHECK(!q.advance(50, admitted));
  CAF_CHECK_EQUAL(admitted, 50u);
  for (std::uint64_t n = 1; n <= 100; ++n) CAF_CHECK((q.status(n) == entry_status::admitted) == (n <= 50));
  q.leave(7); // a freed slot admits no place
  CAF_CHECK_EQUAL(q.it->queue().counts().admitted, 49u);
  event_patch cap;
  cap.set(&queue_settings::concurrency, 52);
  q.change(cap);
  CAF_CHECK(!q.advance(50, admitted));
  CAF_CHECK_EQUAL(admitted, 3u);
}

CAF_TEST(only an operated line that runs is advanced) {
  std::uint64_t admitted = 0;
  waiting_room by_capacity;
  CAF_CHECK(by_capacity.advance(1, admitted).why == reason::wrong_mode);
  waiting_room q{sample_queue(admission_policy::operated, 0)};
  q.join(1);
  q.change_status(event_trigger::pause);
  CAF_CHECK(q.advance(1, admitted).why == reason::invalid_transition);
  q.change_status(event_trigger::resume);
  CAF_CHECK(!q.advance(1, admitted));
}

CAF_TEST(sessions are revoked by ticket and by subject and all at once) {
  waiting_room q{sample_queue(admission_policy::capacity, 3)};
  q.join_all(1, 6); // 1 to 3 are admitted
  CAF_CHECK_EQUAL(q.revoke(revocation_scope::ticket, 1), 1u);
  CAF_CHECK(q.status(1) == entry_status::revoked);
  CAF_CHECK(q.status(4) == entry_status::admitted); // the slot is free at once
  CAF_CHECK_EQUAL(q.revoke(revocation_scope::subject, 6), 1u); // a revoked waiting fan loses the place
  CAF_CHECK(q.status(6) == entry_status::cancelled);
  CAF_CHECK_EQUAL(q.revoke(revocation_scope::subject, 6), 0u);
  CAF_CHECK_EQUAL(q.revoke(revocation_scope::all), 3u);
  for (const std::uint64_t n : {2u, 3u, 4u}) CAF_CHECK(q.status(n) == entry_status::revoked);
  CAF_CHECK(q.status(5) == entry_status::admitted);
}

CAF_TEST(only the admission in force is ended by its token) {
  waiting_room q;
  q.join_all(1, 3);
  q.last = {};
  CAF_CHECK(q.it->end_session(queue_number{1}, 2, q.now, q.last).why == reason::not_admitted);
  CAF_CHECK(q.it->end_session(queue_number{3}, 0, q.now, q.last).why == reason::not_admitted);
  CAF_CHECK(!q.it->end_session(queue_number{1}, 1, q.now, q.last));
  q.settle();
  CAF_CHECK(q.status(1) == entry_status::completed && q.status(3) == entry_status::admitted);
}

CAF_TEST(a ghost is skipped and comes back to its place within the grace) {
  waiting_room q{watched(seconds{30}, seconds{60})};
  q.join_all(1, 4); // 1 is admitted
  q.pass(seconds{20});
  q.seen(3);
  q.seen(4);
  q.pass(seconds{10});
  CAF_CHECK(q.status(2) == entry_status::away);
  CAF_CHECK_EQUAL(q.it->queue().position(*q.it->queue().find(fan(3))), 2u); // still counted
  q.leave(1);
  CAF_CHECK(q.status(3) == entry_status::admitted); // before the absent place
  q.seen(2);
  CAF_CHECK(q.status(2) == entry_status::waiting);
  q.leave(3);
  CAF_CHECK(q.status(2) == entry_status::admitted); // before 4
}

CAF_TEST(joining again is being there) {
  waiting_room q{watched(seconds{30}, seconds{60})};
  q.join_all(1, 2);
  q.pass(seconds{30});
  CAF_CHECK(q.status(2) == entry_status::away);
  CAF_CHECK(!q.join(2).created);
  CAF_CHECK(q.status(2) == entry_status::waiting);
}

CAF_TEST(a ghost that stays away loses its place) {
  waiting_room q{watched(seconds{30}, seconds{40})};
  q.join_all(1, 2);
  q.pass(seconds{30});
  CAF_CHECK(q.status(2) == entry_status::away);
  CAF_CHECK_EQUAL(q.wake.at, q.now + seconds{30}); // 1's session ends first, the grace period later
  q.pass(seconds{39});
  CAF_CHECK(q.status(2) == entry_status::away);
  q.pass(seconds{1});
  CAF_CHECK(q.status(2) == entry_status::expired);
}

CAF_TEST(a restart takes everybody for seen) {
  waiting_room q{watched(seconds{30}, seconds{60})};
  q.join_all(1, 3);
  q.pass(seconds{25});
  q.reload();
  q.settle();
  q.pass(seconds{29});
  CAF_CHECK(q.status(2) == entry_status::waiting);
  q.pass(seconds{1});
  CAF_CHECK(q.status(2) == entry_status::away);
}

CAF_TEST(nobody is away in a line that is no longer watched) {
  waiting_room q{watched(seconds{30}, seconds{600})};
  q.join_all(1, 3);
  q.pass(seconds{30});
  CAF_CHECK(q.status(2) == entry_status::away);
  event_patch off;
  off.set(&queue_settings::presence_timeout, milliseconds{0});
  q.change(off);
  CAF_CHECK(q.told(socket_notice_kind::presence_unwatched));
  q.drain();
  CAF_CHECK(q.status(2) == entry_status::waiting && q.status(3) == entry_status::waiting);
  q.pass(seconds{29}); // before 1's session ends
  CAF_CHECK(q.status(3) == entry_status::waiting);
  event_patch on;
  on.set(&queue_settings::presence_timeout, seconds{30});
  q.change(on);
  CAF_CHECK(q.told(socket_notice_kind::presence_watched));
  q.pass(seconds{29});
  CAF_CHECK(q.status(3) != entry_status::away); // its absence counts from now
  q.pass(seconds{1});
  CAF_CHECK(q.status(3) == entry_status::away);
}

CAF_TEST(a message of the operator is told and kept) {
  waiting_room q;
  event_patch p;
  p.set(&event_row::message, "The doors open late.");
  q.change(p);
  CAF_CHECK(q.told(socket_notice_kind::message));
  q.join(1);
  CAF_CHECK_EQUAL(q.it->view_of(*q.it->queue().find(fan(1)), q.now).message, "The doors open late.");
}

CAF_TEST(what is no queue is refused) {
  auto e = sample_queue();
  CAF_CHECK(!validate(e, {}));
  CAF_CHECK(validate(e, sample_types()).why == reason::invalid_field);
  e.queue.policy = admission_policy::batch;
  CAF_CHECK(validate(e, {}).why == reason::invalid_field);
  e = sample_queue(admission_policy::capacity, 0);
  CAF_CHECK(validate(e, {}).why == reason::invalid_field);
  e = sample_queue();
  e.queue.presence_timeout = seconds{19};
  CAF_CHECK(validate(e, {}).why == reason::invalid_field);
  e = sample_queue();
  e.message.assign(501, 'x');
  CAF_CHECK(validate(e, {}).why == reason::invalid_field);
}

CAF_TEST(a queue forgets an ended entry after its time and gives its number to no one) {
  waiting_room q;
  q.rules.memory_retention = seconds{10};
  q.reload();
  q.join_all(1, 3);
  CAF_CHECK(!q.leave(1));
  const auto before = q.it->stats(q.now);
  CAF_CHECK(q.wake.at <= q.now + seconds{10} + forgetting_pause);
  q.pass(seconds{10} - milliseconds{1});
  CAF_CHECK(q.it->queue().find(fan(1)) != nullptr);
  q.pass(milliseconds{1});
  CAF_CHECK(q.it->queue().find(fan(1)) == nullptr);
  CAF_CHECK(q.it->queue().find(queue_number{1}) == nullptr);
  CAF_CHECK(q.leave(1).why == reason::not_in_queue);
  CAF_CHECK_EQUAL(q.it->stats(q.now).joined_total, before.joined_total);
  CAF_CHECK_EQUAL(q.it->stats(q.now).completed_total, 1u);
  q.join_all(1, 1); // the same fan again
  CAF_CHECK(q.entry(1).number == queue_number{4});
  q.reload();
  CAF_CHECK(q.it->queue().find(queue_number{1}) != nullptr); // this ledger returns all rows
  q.pass(milliseconds{0});
  CAF_CHECK(q.it->queue().find(queue_number{1}) == nullptr);
  CAF_CHECK(q.entry(1).number == queue_number{4});
}

CAF_TEST(the lowest number in memory becomes durable now and then) {
  waiting_room q(sample_queue(admission_policy::capacity, 20'000));
  q.rules.memory_retention = seconds{10};
  q.reload();
  queue_number written{};
  const auto note = [&] {
    for (const auto& c : q.last.content)
      if (const auto* forgotten = std::get_if<entries_forgotten>(&c)) {
        CAF_CHECK(forgotten->first_kept > written);
        CAF_CHECK(forgotten->first_kept <= q.it->queue().first_kept());
        written = forgotten->first_kept;
      }
  };
  for (std::uint64_t n = 1; n <= 3 * first_kept_step; ++n) {
    q.join_all(n, n);
    if (n != 2 * first_kept_step + 7) q.leave(n);
    q.now += milliseconds{1};
    note();
  }
  q.pass(seconds{11});
  note();
  CAF_CHECK(written > queue_number{first_kept_step});
  CAF_CHECK(written <= queue_number{2 * first_kept_step + 7}); // it still shops
  CAF_CHECK_EQUAL(q.it->stats(q.now).joined_total, 3 * first_kept_step);
}

CAF_TEST(a sale keeps its ended entries because its claims refer to them) {
  sample_sale s;
  s.rules.memory_retention = milliseconds{0};
  s.reload();
  s.join_all(1, 3);
  CAF_CHECK(!s.leave(1));
  s.pass(seconds{10});
  CAF_CHECK(s.it->queue().find(queue_number{1}) != nullptr);
}

} // namespace waiting_room_test
