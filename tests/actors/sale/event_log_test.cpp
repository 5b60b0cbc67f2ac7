// SPDX-License-Identifier: Apache-2.0
// The event actor's public log: what decisions note comes into it, and it continues after crashes, moves and
// losses.
#define CAF_SUITE event_log
#include "actors/protocol/log_messages.hpp"
#include "fair/note.hpp"
#include "fair/noted.hpp"
#include "fair/records.hpp"
#include "tests/actors/sale/event_fixture.hpp"

namespace event_log_test {

using namespace fq;
using namespace fq::test;

namespace {

/// A line that admits only when called.
struct event_log_fixture : event_fixture {
  std::vector<std::string> warnings;
  ledger_worker_handle reader;
  event_log_fixture() {
    queue_settings queue;
    queue.policy = admission_policy::operated;
    start(10, queue);
  }
  ~event_log_fixture() { reader = nullptr; }
  log_state_row state() {
    const auto rows = store.read_log(event.aggregate, {});
    CAF_REQUIRE(rows.state.has_value());
    return *rows.state;
  }
  /// The records of the log, read as others do: bundle by bundle.
  std::vector<std::string> records() {
    std::vector<std::string> all;
    const auto size = state().size;
    for (std::uint64_t i = 0; i * tile_width < size; ++i) {
      const auto rows = store.read_log(event.aggregate, {.tiles = {{bundle_level, i}}});
      CAF_REQUIRE_EQUAL(rows.tiles.size(), 1u);
      const auto& content = rows.tiles.front().content;
      for (std::size_t at = 0; at + 2 <= content.size();) {
        const auto length = static_cast<std::size_t>(static_cast<unsigned char>(content[at])) << 8
                            | static_cast<unsigned char>(content[at + 1]);
        all.emplace_back(content.data() + at + 2, length);
        at += 2 + length;
      }
    }
    CAF_REQUIRE_EQUAL(all.size(), size);
    return all;
  }
  /// By kind, as letters.
  std::string kinds() {
    std::string text;
    for (const auto& r : records()) text += "?bLjclawCDAeh"[static_cast<std::size_t>(r[0])];
    return text;
  }
  /// The root over the first records.
  static std::vector<char> root(const std::vector<std::string>& all, std::size_t size) {
    tree_edge edge;
    for (std::size_t i = 0; i < size; ++i) edge.append(leaf_hash(all[i]));
    const auto hash = edge.root();
    return {hash.begin(), hash.end()};
  }
  /// Every checkpoint seen is one of the log as it is now.
  void demand_continues(const log_state_row& seen) {
    const auto all = records();
    CAF_REQUIRE(seen.size <= all.size());
    CAF_CHECK(root(all, seen.size) == seen.root);
    CAF_CHECK(root(all, all.size()) == state().root);
  }
  /// A new owner after these changes, which the last one did not make.
  void tamper(changes content) {
    services.warn = [this](const std::string& what) { warnings.push_back(what); };
    kill(owner);
    const auto own_row = store.acquire_unleased(event.aggregate, never);
    batch b{event.aggregate,          own_row->epoch, own_row->applied_seq,
            own_row->applied_seq + 1, env.wall_now(), std::move(content)};
    CAF_REQUIRE(store.commit(std::span{&b, 1})[0] == commit_outcome::committed);
    own();
  }
  /// Another connection reads for the owner, so that a test can hold back reads or commits.
  void own_with_reader() {
    reader = keep(sys.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&env),
                            ledger_worker_settings{.prune_interval = 24h}));
    services.ledgers = ledger_workers{{worker}, {reader}};
    kill(owner);
    owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services),
                           supervisor_handle{}));
    run_without(worker);
    sched.run_once(); // the ledger answers the load
    run_without(worker);
  }
  /// A jump of the test's clock fires each timer once.
  void take_turns() {
    for (int i = 0; i < 300 && !store.committed_notes(event.aggregate)->empty(); ++i) advance(100ms);
  }
  void join_now(std::uint64_t n) {
    join_as(n);
    run();
  }
  void call(std::uint32_t count) {
    ask<count_reply>(owner, advance_line{managed_by_organizer(event), {"{}", "doors are open"}, count});
    run();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(event_log_tests, event_log_fixture)

CAF_TEST(what a decision notes is in the log seconds later and nothing else) {
  advance(2s);
  CAF_CHECK_EQUAL(kinds(), "b");
  join_now(1);
  join_now(2);
  CAF_CHECK_EQUAL(state().size, 1u); // a join does not wait for the log
  advance(2s);
  const auto before = commits;
  advance(60s);
  CAF_CHECK_EQUAL(commits, before);
  call(1);
  advance(2s);
  CAF_CHECK_EQUAL(kinds(), "bjjhA");
  demand_continues(state());
  CAF_CHECK_EQUAL(value_of(state().last_number), 2u);
  CAF_CHECK(store.committed_notes(event.aggregate)->empty());
  const auto hand = records()[3];
  CAF_CHECK(hand.find("doors are open") != std::string::npos);
}

CAF_TEST(an owner that loads goes on from what its predecessor noted or kept) {
  join_now(1);
  advance(2s);
  const auto seen = state();
  join_now(2); // noted, not in the log
  kill(owner);
  own();
  CAF_CHECK(state() == seen);
  advance(2s);
  CAF_CHECK_EQUAL(kinds(), "bjj");
  demand_continues(seen);
  join_now(3);
  advance(2s);
  CAF_CHECK_EQUAL(kinds(), "bjjj");
  demand_continues(seen);
}

CAF_TEST(a crash between a turns read and its commit loses and doubles nothing) {
  advance(2s);
  const auto seen = state();
  join_now(1);
  commit_faults.push_back({commit_fault::kind::unknown_lost});
  advance(1100ms); // the turn; its commit is lost
  kill(owner);
  own();
  advance(3s);
  CAF_CHECK_EQUAL(kinds(), "bj");
  demand_continues(seen);
}

CAF_TEST(a turn whose commit was applied after all is not repeated) {
  advance(2s);
  join_now(1);
  commit_faults.push_back({commit_fault::kind::unknown_applied});
  advance(1100ms);
  kill(owner);
  own();
  advance(3s);
  CAF_CHECK_EQUAL(kinds(), "bj");
  demand_continues(state());
}

CAF_TEST(a turn that reads before the new log is committed loses and doubles nothing) {
  event = put_event(10, event.queue, aggregate_id{number_of(event.aggregate) + 1});
  own_with_reader(); // its first batch, with the beginning of the log, waits
  join_as(1);
  for (int i = 0; i < 3; ++i) {
    sched.advance_time(1100ms);
    run_without(worker);
  }
  CAF_CHECK(!store.read_log(event.aggregate, {}).state.has_value());
  join_as(2);
  run();
  advance(2s);
  CAF_CHECK_EQUAL(kinds(), "bjj");
  demand_continues(state());
}

CAF_TEST(a turn that reads before the log that replaces a lost one is committed takes none of it) {
  join_now(1);
  advance(2s);
  kill(owner);
  const auto* head = store.head(event.aggregate);
  store.acquire(event.aggregate, {}, std::nullopt, {head->epoch, head->applied_seq + 4});
  CAF_REQUIRE(store.accept_loss(event.aggregate, audit_row{}));
  own_with_reader();
  join_as(2);
  for (int i = 0; i < 3; ++i) {
    sched.advance_time(1100ms);
    run_without(worker);
  }
  CAF_CHECK_EQUAL(state().number, 1u);
  run();
  advance(2s);
  CAF_CHECK(state().number > 1);
  CAF_CHECK_EQUAL(kinds(), "bjj");
  demand_continues(state());
}

CAF_TEST(a read that is answered after the owner has loaded again is not taken into the log) {
  own_with_reader();
  run();
  advance(2s);
  join_now(1);
  sched.advance_time(1100ms);
  run_without(reader); // the turn's read waits
  store.acquire_unleased(event.aggregate, never); // the owner has a successor
  join_as(2);
  run_without(reader); // fenced, and loaded again
  run();
  join_now(3);
  advance(3s);
  CAF_CHECK_EQUAL(kinds(), "bjj"); // the second one joins again
  demand_continues(state());
  CAF_CHECK(store.committed_notes(event.aggregate)->empty());
}

CAF_TEST(a fenced owner adds nothing) {
  advance(2s);
  join_now(1);
  store.acquire_unleased(event.aggregate, never); // the owner has a successor
  advance(1100ms);
  CAF_CHECK_EQUAL(state().size, 1u);
  advance(5s); // reloaded
  CAF_CHECK_EQUAL(kinds(), "bj");
  demand_continues(state());
}

CAF_TEST(many joins come in over several turns) {
  for (std::uint64_t n = 1; n <= 700; ++n) join_as(n);
  run();
  advance(5s);
  const auto all = records();
  CAF_REQUIRE_EQUAL(all.size(), 701u);
  demand_continues(state());
  CAF_CHECK(store.committed_notes(event.aggregate)->empty());
}

CAF_TEST(a flood of joins does not leave the log behind) {
  advance(2s);
  std::uint64_t n = 0;
  for (int tenths = 0; tenths < 60; ++tenths) {
    for (int i = 0; i < 400; ++i) join_as(++n);
    advance(100ms);
  }
  CAF_CHECK(state().size >= n - 2 * 4'000); // all but those of 2 s
  take_turns();
  CAF_CHECK_EQUAL(state().size, n + 1);
}

CAF_TEST(more notes than memory keeps come from the ledger and none twice) {
  advance(2s);
  const std::string reason(15'000, 'x');
  const auto hands = fresh_notes_max / reason.size() + 1;
  for (std::size_t i = 0; i < hands; ++i)
    ask<count_reply>(owner, advance_line{managed_by_organizer(event), {"{}", reason}, 1});
  advance(1100ms);
  join_now(1); // while turns read
  take_turns();
  CAF_CHECK_EQUAL(kinds(), "b" + std::string(hands, 'h') + "j");
  CAF_CHECK(store.committed_notes(event.aggregate)->empty());
}

CAF_TEST(notes that are committed while the ledger is read come after those that it had) {
  const auto row = [](std::uint64_t seq) { return noted_rows{{seq, 0}, {{'x'}}}; };
  fresh_notes notes;
  notes.add({row(1)}); // the ledger has it
  CAF_CHECK(notes.rows().empty());
  notes.begin_read();
  notes.add({row(2)});
  notes.add({row(3)});
  notes.end_read({row(1), row(2)}, true);
  CAF_REQUIRE_EQUAL(notes.rows().size(), 3u);
  for (std::uint64_t seq = 1; seq <= 3; ++seq, notes.pop()) CAF_CHECK(notes.rows().front() == row(seq));
  CAF_CHECK(notes.has_all());
  notes.add({row(3)}); // the owner hears of its commit after a read
  CAF_CHECK(notes.rows().empty());
  notes.begin_read();
  notes.add({row(9)});
  notes.end_read({row(4)}, false); // the ledger has more, which come before 9
  CAF_CHECK_EQUAL(notes.rows().size(), 1u);
  CAF_CHECK(!notes.has_all());
  notes.begin_read();
  notes.add({{{10, 0}, {std::vector<char>(fresh_notes_max + 1, 'x')}}});
  notes.end_read({}, true); // before that one
  CAF_CHECK(notes.rows().empty());
  CAF_CHECK(!notes.has_all());
}

CAF_TEST(a damaged row stops the log with one warning and no one else) {
  advance(2s);
  changes content;
  content.emplace_back(std::in_place_type<log_noted>, log_noted{{{'x'}}});
  tamper(std::move(content));
  join_now(1);
  advance(5s);
  CAF_REQUIRE_EQUAL(warnings.size(), 1u);
  CAF_CHECK(warnings[0].find("is damaged") != std::string::npos);
  CAF_CHECK(find_now(1).status == entry_status::waiting);
  CAF_CHECK_EQUAL(state().size, 1u);
}

CAF_TEST(a running sale whose tiles are gone keeps what it has noted and warns) {
  advance(2s);
  changes content;
  auto longer = state();
  longer.size = 5;
  content.emplace_back(std::in_place_type<log_kept>, log_kept{longer, {}});
  tamper(std::move(content));
  join_now(1);
  advance(5s);
  CAF_REQUIRE_EQUAL(warnings.size(), 1u);
  CAF_CHECK(warnings[0].find("lost its last tiles") != std::string::npos);
  CAF_CHECK(!store.committed_notes(event.aggregate)->empty());
}

CAF_TEST(after the sale a log without tiles takes notes and keeps none) {
  advance(2s);
  auto over = event;
  over.status = event_status::ended;
  auto longer = state();
  longer.size = 5;
  note_writer notes;
  notes.add(hand_record{hand_action::cancel, {}, 0, {}, {}}, env.wall_now());
  changes content;
  content.emplace_back(std::in_place_type<event_changed>, event_changed{event.status, over});
  content.emplace_back(std::in_place_type<log_kept>, log_kept{longer, {}});
  content.emplace_back(std::in_place_type<log_noted>, log_noted{{notes.take().front()}});
  tamper(std::move(content));
  advance(5s);
  CAF_CHECK(warnings.empty());
  CAF_CHECK(store.committed_notes(event.aggregate)->empty());
  CAF_CHECK_EQUAL(state().size, 5u);
}

CAF_TEST(after an accepted loss another log begins that names the last checkpoint and who is in line) {
  join_now(1);
  join_now(2);
  advance(2s);
  const auto seen = state();
  kill(owner);
  const auto* head = store.head(event.aggregate);
  store.acquire(event.aggregate, {}, std::nullopt, {head->epoch, head->applied_seq + 4});
  CAF_REQUIRE(store.accept_loss(event.aggregate, audit_row{}));
  const auto minutes = unix_ms(env.wall_now()) / 60'000; // a number that no forgotten log has
  own();
  advance(2s);
  const auto now = state();
  CAF_CHECK_EQUAL(now.number, static_cast<std::uint32_t>(minutes));
  CAF_CHECK_EQUAL(now.origin, seen.origin + "/" + std::to_string(minutes));
  CAF_CHECK_EQUAL(kinds(), "bjj");
  CAF_CHECK(records()[0].find(seen.origin + "\n" + std::to_string(seen.size) + "\n") != std::string::npos);
  join_now(3);
  advance(2s);
  CAF_CHECK_EQUAL(kinds(), "bjjj");
}

CAF_TEST(a receipt has what opens the commitment of the join) {
  join_now(1);
  auto asked = ask<receipt_reply>(owner, find_receipt{event.id, customer(1), {}});
  auto stranger = ask<receipt_reply>(owner, find_receipt{event.id, customer(9), {}});
  run();
  CAF_REQUIRE(asked->ok && !asked->value.no);
  CAF_CHECK(stranger->value.no.why == reason::not_in_queue);
  advance(2s);
  record_nonce nonce;
  for (std::size_t i = 0; i < 8; ++i) {
    nonce[i] = static_cast<std::uint8_t>(asked->value.nonce.hi >> (56 - 8 * i));
    nonce[i + 8] = static_cast<std::uint8_t>(asked->value.nonce.lo >> (56 - 8 * i));
  }
  const auto commitment = commitment_of(nonce, asked->value.entry);
  const auto join = records()[1];
  CAF_CHECK(join.ends_with(std::string{commitment.begin(), commitment.end()}));
  CAF_CHECK_EQUAL(value_of(asked->value.number), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace event_log_test
