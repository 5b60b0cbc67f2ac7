// SPDX-License-Identifier: Apache-2.0
// A lobby in its owner: root, beacon and order from `fair`, and that no crash draws again.
#define CAF_SUITE event_lobby
#include "tests/actors/sale/event_fixture.hpp"

#include "actors/sale/limits.hpp"
#include "crypto/digest.hpp"
#include "fair/draw.hpp"
#include "fair/note.hpp"

#include <algorithm>
#include <cctype>

namespace event_lobby_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr milliseconds lobby_length{60'000};

sha256_digest digest_of(std::string_view hex) {
  sha256_digest digest{};
  const auto bytes = from_hex(hex);
  CAF_REQUIRE(bytes && bytes->size() == digest.size());
  std::copy(bytes->begin(), bytes->end(), digest.begin());
  return digest;
}

struct lobby_fixture : event_fixture {
  std::function<void(std::string)> beacon; ///< answers the last question for one
  std::size_t questions = 0;
  std::vector<checkpoint_signed> checkpoints; ///< that a witness got

  void start_lobby(lobby_settings lobby = {}, std::uint32_t concurrency = 1,
                   event_kind kind = event_kind::sale) {
    auto queue = one_by_one();
    queue.concurrency = concurrency;
    event = put_event(100, queue);
    const auto own_row = store.acquire_unleased(event.aggregate, never);
    lobby.opens_at = env.wall_now() - 1s;
    lobby.draw = draw_kind::at_opening;
    event.lobby = std::move(lobby);
    event.queue_opens_at = event.sale_start = env.wall_now() + lobby_length;
    if (kind == event_kind::queue) event.sale_start = event.sale_end = never;
    event.kind = kind;
    batch b{event.aggregate,          own_row->epoch, own_row->applied_seq,
            own_row->applied_seq + 1, env.wall_now(), {}};
    b.content.emplace_back(event_changed{event.status, event});
    CAF_REQUIRE(store.commit(std::span{&b, 1})[0] == commit_outcome::committed);
    services.env = &env;
    services.sessions = &sessions;
    services.board = &board;
    services.ledgers = ledgers;
    services.fetch_beacon = [this](const std::string&, std::uint64_t, std::function<void(std::string)> done) {
      ++questions;
      beacon = std::move(done);
    };
    own();
  }
  /// As after kill -9.
  void crash() {
    kill(owner);
    own();
  }
  entry_view joined(std::uint64_t n, std::string party_code = {}) {
    join x{event.id, customer(n)};
    x.party_code = std::move(party_code);
    auto place = ask<entry_reply>(owner, std::move(x));
    run();
    CAF_REQUIRE(place->ok && !place->value.no);
    return place->value.entry;
  }
  void pass(milliseconds span) {
    advance(span);
    run();
  }
  const lobby_row& stored() { return *store.committed(event.aggregate)->lobby; }
  /// Gives every checkpoint of the log to the test.
  void add_witness() {
    services.witnesses =
      keep(sys.spawn([this](witness_client_handle::pointer) -> witness_client_handle::behavior_type {
        return {[this](const checkpoint_signed& x) { checkpoints.push_back(x); },
                [](const witness_answered&) {}, [](const timer_fired&) {}};
      }));
  }
  ~lobby_fixture() {
    services.witnesses = nullptr;
    checkpoints.clear();
  }
  /// A jump of the test's clock fires each timer once.
  void take_turns() {
    for (int i = 0; i < 50; ++i) pass(100ms);
  }
  static std::string line_of(const std::string& witness) { return "\u2014 " + witness + " AAAA\n"; }
  /// The witness answers.
  void cosign(const std::string& note, const std::string& witness) {
    const auto size = parse_checkpoint(note)->content.size;
    caf::anon_send(checkpoints.back().log, checkpoint_cosigned{size, witness, note, line_of(witness)});
    run();
  }
  log_state_row log_state() { return *store.read_log(event.aggregate, {}).state; }
  /// The records of the log, one after the other.
  std::string records() {
    const auto rows = store.read_log(event.aggregate, {.tiles = {{bundle_level, 0}}});
    CAF_REQUIRE_EQUAL(rows.tiles.size(), 1u);
    return {rows.tiles[0].content.begin(), rows.tiles[0].content.end()};
  }
  /// From what the ledger has, by the rules that are published.
  std::vector<std::uint64_t> drawn() {
    const auto& image = *store.committed(event.aggregate);
    std::vector<entrant> entrants;
    for (const auto& e : image.entries)
      if (e.number <= stored().last) entrants.push_back({e.number, e.party});
    std::vector<std::uint64_t> numbers;
    for (const auto n :
         draw_order(digest_of(stored().seed), digest_of(stored().root), stored().value, entrants))
      numbers.push_back(value_of(n));
    return numbers;
  }
  /// The fans by position, the admitted first.
  std::vector<std::uint64_t> shown(std::uint64_t fans) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    for (std::uint64_t n = 1; n <= fans; ++n) {
      const auto e = find_now(n);
      places.emplace_back(e.position, value_of(e.number));
    }
    std::ranges::sort(places);
    std::vector<std::uint64_t> numbers;
    for (const auto& [position, number] : places) numbers.push_back(number);
    return numbers;
  }
  auto enter(std::string value, principal by) {
    managed what = managed_by_organizer(event);
    if (by.kind != principal_kind::nobody) what.by = by;
    auto done = ask<event_reply>(owner, enter_beacon{what, {}, std::move(value)});
    run();
    return done->value;
  }
};

lobby_settings with_beacon(beacon_kind kind) {
  lobby_settings lobby;
  lobby.beacon = kind;
  lobby.chain_hash = std::string(64, 'a');
  lobby.round = 1'000;
  lobby.announced = "the lottery's numbers";
  return lobby;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(event_lobby_tests, lobby_fixture)

CAF_TEST(the order of a lobby follows from seed and root that are published) {
  start_lobby();
  for (std::uint64_t n = 1; n <= 8; ++n) {
    const auto e = joined(n);
    CAF_CHECK(e.position == 0 && e.lobby.phase == lobby_phase::open && e.lobby.people == n);
  }
  auto before = ask<event_reply>(owner, find_event{managed_by_organizer(event)});
  run();
  CAF_CHECK(before->value.event.lobby.seed.empty());
  const auto seed = digest_of(stored().seed);
  const std::string bytes(seed.begin(), seed.end());
  CAF_CHECK_EQUAL(before->value.event.lobby.seed_commitment, to_hex(sha256(bytes)));
  pass(lobby_length);
  CAF_CHECK(is_set(stored().drawn_at) && stored().entrants == 8);
  CAF_CHECK(shown(8) == drawn());
  CAF_CHECK(joined(9).position == 8); // one is admitted
}

CAF_TEST(a crash at any moment draws the same) {
  start_lobby(with_beacon(beacon_kind::announced));
  for (std::uint64_t n = 1; n <= 8; ++n) joined(n);
  crash();
  const auto seed = stored().seed;
  pass(lobby_length);
  const auto root = stored().root;
  CAF_CHECK(!root.empty());
  crash();
  CAF_CHECK(find_now(3).lobby.phase == lobby_phase::waiting);
  CAF_CHECK(!enter("4 8 15", {}).no);
  const auto order = shown(8);
  CAF_CHECK(order == drawn());
  crash();
  CAF_CHECK(stored().seed == seed && stored().root == root && stored().value == "4 8 15");
  CAF_CHECK(shown(8) == order);
  CAF_CHECK(enter("16 23 42", {}).no.why == reason::already_drawn);
}

CAF_TEST(a round of drand is asked for until it is there) {
  start_lobby(with_beacon(beacon_kind::drand));
  joined(1);
  joined(2);
  pass(lobby_length);
  CAF_REQUIRE(questions == 1);
  beacon("");
  run();
  pass(1s);
  CAF_REQUIRE(questions == 2);
  beacon(std::string(96, 'b'));
  run();
  CAF_CHECK(stored().beacon == beacon_kind::drand && stored().value == std::string(96, 'b'));
  CAF_CHECK(find_now(1).lobby.phase == lobby_phase::none);
}

CAF_TEST(the draw has the cosigned checkpoint over the closing also if joins have made the log grow since) {
  add_witness();
  start_lobby(with_beacon(beacon_kind::drand));
  joined(1);
  pass(2s);
  const auto before = checkpoints.size();
  pass(lobby_length);
  pass(2s);
  CAF_REQUIRE(checkpoints.size() > before);
  const auto closed = checkpoints.back();
  const auto first = closed.first; // for a witness that is slow
  CAF_CHECK(checkpoints[before - 1].first.empty());
  CAF_CHECK(std::ranges::any_of(checkpoints, [&](const auto& x) { return x.note == first; }));
  joined(2);
  pass(2s);
  const auto size = [](const checkpoint_signed& x) { return parse_checkpoint(x.note)->content.size; };
  CAF_REQUIRE(size(checkpoints.back()) > size(closed));
  CAF_CHECK_EQUAL(checkpoints.back().first, first);
  cosign(closed.note, "a");
  CAF_CHECK(log_state().cosignatures.empty()); // not of the newest
  beacon(std::string(96, 'b'));
  run();
  pass(2s);
  CAF_CHECK(records().find(closed.note + line_of("a")) != std::string::npos);
  CAF_CHECK(checkpoints.back().first.empty()); // it is drawn
}

CAF_TEST(the first cosigned checkpoint over the closing outlives its owner) {
  add_witness();
  start_lobby(with_beacon(beacon_kind::drand));
  joined(1);
  pass(lobby_length);
  pass(2s);
  const auto first = checkpoints.back().first;
  CAF_REQUIRE(!first.empty());
  joined(2);
  pass(2s);
  checkpoints.clear();
  crash(); // before any witness has answered
  pass(2s);
  CAF_REQUIRE(!checkpoints.empty());
  CAF_REQUIRE(checkpoints.back().note != first);
  CAF_CHECK_EQUAL(checkpoints.back().first, first);
  joined(3); // a turn is due, and the cosignature does not wait for it
  cosign(first, "a");
  crash();
  pass(2s);
  CAF_CHECK_EQUAL(checkpoints.back().first, first);
  cosign(checkpoints.back().note, "b"); // a later one proves less
  cosign(first, "c");
  crash();
  pass(2s);
  beacon(std::string(96, 'b'));
  run();
  pass(2s);
  CAF_CHECK(records().find(first + line_of("a") + line_of("c")) != std::string::npos);
  CAF_CHECK(records().find(line_of("b")) == std::string::npos);
  CAF_CHECK(log_state().closing.empty());
}

CAF_TEST(an owner after an older program that closed the lobby begins with the newest checkpoint) {
  add_witness();
  start_lobby(with_beacon(beacon_kind::drand));
  joined(1);
  pass(lobby_length);
  pass(2s);
  kill(owner);
  auto older = log_state();
  older.closing.clear();
  const auto own_row = store.acquire_unleased(event.aggregate, never);
  batch b{event.aggregate,          own_row->epoch, own_row->applied_seq,
          own_row->applied_seq + 1, env.wall_now(), {}};
  b.content.emplace_back(std::in_place_type<log_kept>, log_kept{older, {}});
  CAF_REQUIRE(store.commit(std::span{&b, 1})[0] == commit_outcome::committed);
  checkpoints.clear();
  own();
  pass(2s);
  CAF_REQUIRE(!checkpoints.empty());
  const auto newest = checkpoints.back().note;
  CAF_CHECK_EQUAL(checkpoints.back().first, newest);
  cosign(newest, "a");
  beacon(std::string(96, 'b'));
  run();
  pass(2s);
  CAF_CHECK(records().find(newest + line_of("a")) != std::string::npos);
}

CAF_TEST(after the draw a load gives each witness the newest checkpoint first) {
  add_witness();
  start_lobby(with_beacon(beacon_kind::drand));
  joined(1);
  pass(lobby_length);
  pass(2s);
  checkpoints.clear();
  crash();
  pass(2s);
  CAF_REQUIRE(!checkpoints.empty());
  CAF_CHECK(!checkpoints.back().first.empty()); // not drawn yet
  beacon(std::string(96, 'b'));
  run();
  crash(); // the draw is noted and not in the log
  pass(2s);
  CAF_CHECK(checkpoints.back().first.empty());
  checkpoints.clear();
  crash();
  pass(2s);
  CAF_REQUIRE(!checkpoints.empty());
  CAF_CHECK(checkpoints.back().first.empty());
  joined(2);
  pass(2s);
  CAF_CHECK(checkpoints.back().first.empty());
}

CAF_TEST(a load tells the client of the witnesses what the log has of them) {
  add_witness();
  start_lobby();
  joined(1);
  pass(2s);
  CAF_REQUIRE(!checkpoints.empty());
  CAF_CHECK(checkpoints.front().cosigned == std::optional{std::string{}});
  joined(2);
  pass(2s);
  CAF_CHECK(!checkpoints.back().cosigned.has_value());
  const auto newest = checkpoints.back();
  cosign(newest.note, "a");
  checkpoints.clear();
  crash();
  pass(2s);
  CAF_REQUIRE_EQUAL(checkpoints.size(), 1u); // others may not have cosigned it
  CAF_CHECK_EQUAL(checkpoints.back().note, newest.note);
  CAF_CHECK_EQUAL(checkpoints.back().cosigned.value_or(""), newest.note + line_of("a"));
}

CAF_TEST(a cosignature that comes while the ledger is away is kept) {
  add_witness();
  start_lobby();
  joined(1);
  pass(2s);
  const auto newest = checkpoints.back();
  commit_faults.push_back({commit_fault::kind::unavailable});
  ask<entry_reply>(owner, join{event.id, customer(2)});
  run();
  cosign(newest.note, "a");
  pass(2s);
  pass(2s);
  CAF_CHECK_EQUAL(log_state().cosigned, newest.note + line_of("a"));
}

CAF_TEST(a log that replaces a lost one offers witnesses no checkpoint of the lost one) {
  add_witness();
  start_lobby(with_beacon(beacon_kind::announced));
  for (std::uint64_t n = 1; n <= 1'000; ++n) // more than a turn takes
    ask<entry_reply>(owner, join{event.id, customer(n)});
  run();
  pass(lobby_length);
  take_turns();
  CAF_CHECK(!checkpoints.back().first.empty());
  kill(owner);
  const auto* head = store.head(event.aggregate);
  store.acquire(event.aggregate, {}, std::nullopt, {head->epoch, head->applied_seq + 4});
  CAF_REQUIRE(store.accept_loss(event.aggregate, audit_row{}));
  checkpoints.clear();
  own();
  take_turns();
  CAF_REQUIRE(checkpoints.size() > 1);
  const auto origin = parse_checkpoint(checkpoints.back().note)->content.origin;
  for (const auto& x : checkpoints)
    CAF_CHECK(x.first.empty() || parse_checkpoint(x.first)->content.origin == origin);
}

CAF_TEST(a checkpoint that was cosigned stays while the log grows) {
  add_witness();
  start_lobby();
  joined(1);
  pass(2s);
  const auto first = checkpoints.back();
  const auto kept = [this] { return log_state().cosigned; };
  cosign(first.note, "a");
  CAF_CHECK_EQUAL(kept(), first.note + "\u2014 a AAAA\n");
  joined(2);
  pass(2s);
  CAF_CHECK_EQUAL(kept(), first.note + "\u2014 a AAAA\n");
  cosign(first.note, "b"); // nothing is to be noted: no turn would write it
  const auto both = first.note + "\u2014 a AAAA\n\u2014 b AAAA\n";
  CAF_CHECK_EQUAL(kept(), both);
  joined(3);
  const auto before = commits;
  cosign(first.note, "c");
  CAF_CHECK_EQUAL(commits, before); // the next turn writes it
  CAF_CHECK_EQUAL(kept(), both);
  pass(2s);
  CAF_CHECK_EQUAL(kept(), both + "\u2014 c AAAA\n");
  crash();
  joined(4);
  pass(2s);
  CAF_CHECK_EQUAL(kept(), both + "\u2014 c AAAA\n");
}

CAF_TEST(cosignatures without an end are not kept) {
  add_witness();
  start_lobby(with_beacon(beacon_kind::drand));
  joined(1);
  pass(2s);
  const auto& newest = checkpoints.back();
  const auto size = parse_checkpoint(newest.note)->content.size;
  const auto cosign_with = [&](std::string lines) {
    caf::anon_send(newest.log, checkpoint_cosigned{size, "witness", newest.note, std::move(lines)});
    run();
    return log_state().cosignatures.size();
  };
  CAF_CHECK_EQUAL(cosign_with(std::string(cosignatures_bytes_max + 1, 'x')), 0u);
  CAF_CHECK(log_state().cosigned.empty());
  CAF_CHECK_EQUAL(cosign_with(std::string(100, 'x')), 100u);
  CAF_CHECK_EQUAL(cosign_with(std::string(cosignatures_bytes_max, 'y')), 100u);
}

CAF_TEST(only an operator ends the wait for a beacon) {
  start_lobby(with_beacon(beacon_kind::announced));
  joined(1);
  pass(lobby_length);
  auto by_organizer = ask<event_reply>(owner, end_draw_wait{managed_by_organizer(event), {}});
  run();
  CAF_CHECK(by_organizer->value.no.why == reason::forbidden);
  managed what{event.id, {principal_kind::operate, event.tenant, {7, 7}}};
  auto by_operator = ask<event_reply>(owner, end_draw_wait{what, {"{}", "cancelled"}});
  run();
  CAF_CHECK(!by_operator->value.no && stored().beacon == beacon_kind::none && is_set(stored().drawn_at));
}

CAF_TEST(a party is joined by its code and by no other) {
  start_lobby({}, 3);
  joined(1);
  joined(2);
  auto opened = ask<entry_reply>(owner, change_party{event.id, customer(1)});
  run();
  auto code = opened->value.entry.party_code;
  CAF_REQUIRE(!code.empty() && opened->value.entry.party_size == 1);
  crash();
  std::ranges::transform(code, code.begin(), [](unsigned char c) { return std::tolower(c); });
  CAF_CHECK_EQUAL(joined(3, ' ' + code).party_size, 2u);
  CAF_CHECK_EQUAL(joined(2, code).party_size, 3u); // from within the lobby
  code.back() = code.back() == '0' ? '1' : '0';
  join wrong{event.id, customer(4)};
  wrong.party_code = code;
  auto refused = ask<entry_reply>(owner, std::move(wrong));
  run();
  CAF_CHECK(refused->value.no.why == reason::party_unknown);
  pass(lobby_length);
  for (std::uint64_t n = 1; n <= 3; ++n) CAF_CHECK(find_now(n).status == entry_status::admitted);
}

CAF_TEST(visitors of a queue form a party by their tickets and go in together) {
  start_lobby({}, 3, event_kind::queue);
  const auto enter_line = [&](std::uint64_t n, std::string code = {}) {
    join x{event.id, customer(n), 0, event_kind::queue, default_tenant, {}};
    x.party_code = std::move(code);
    auto place = ask<entry_reply>(owner, std::move(x));
    run();
    CAF_REQUIRE(place->ok && !place->value.no);
    return place->value.entry.id;
  };
  const auto form = [&](const change_party& wish) {
    auto answer = ask<entry_reply>(owner, wish);
    run();
    CAF_REQUIRE(answer->ok);
    return answer->value;
  };
  const auto first = enter_line(1), second = enter_line(2);
  const auto code = form({{}, {}, first}).entry.party_code;
  CAF_REQUIRE(!code.empty());
  crash();
  CAF_CHECK_EQUAL(form({{}, {}, second, code}).entry.party_size, 2u);
  const auto third = enter_line(3, code);
  CAF_CHECK_EQUAL(form({{}, {}, first}).entry.party_size, 3u);
  CAF_CHECK(form({{}, {}, first, "1-ABCDEFGH"}).no.why == reason::party_unknown);
  const auto nobody = make_entry_id(env.wall_now(), event.aggregate, queue_number{99});
  CAF_CHECK(form({{}, {}, nobody, code}).no.why == reason::not_in_queue);
  CAF_CHECK(form({event.id, customer(1)}).no.why == reason::not_found); // a visitor has its ticket only
  pass(lobby_length);
  for (const auto& ticket : {first, second, third}) {
    auto place = ask<entry_reply>(owner, find_ticket{ticket});
    run();
    CAF_CHECK(place->ok && place->value.entry.status == entry_status::admitted);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace event_lobby_test
