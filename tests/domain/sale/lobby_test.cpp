// SPDX-License-Identifier: Apache-2.0
// Lobby, draw and parties of a sale. The harness computes the order, as an owner does.
#define CAF_SUITE domain_lobby
#include "tests/domain/sale/sale_checks.hpp"
#include "tests/domain/sale/sample_sale.hpp"

#include "caf/test/unit_test.hpp"

#include <algorithm>

namespace lobby_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr seconds before_opening{600};

event_row with_lobby(draw_kind draw = draw_kind::at_opening, beacon_kind beacon = beacon_kind::none) {
  auto e = sample_event();
  e.lobby.opens_at = opening - before_opening;
  e.lobby.draw = draw;
  e.lobby.party_max = 3;
  e.lobby.beacon = beacon;
  e.lobby.announced = beacon == beacon_kind::announced ? "the lottery's numbers" : "";
  e.queue.policy = admission_policy::batch;
  e.queue.batch_size = 4;
  return e;
}

/// In the lobby, with `fans` fans.
struct lobby : sample_sale {
  explicit lobby(event_row event = with_lobby(), std::uint64_t fans = 0, std::int64_t tickets = 100) :
      sample_sale(std::move(event), sample_types(tickets)) {
    now = opening - before_opening;
    pass(milliseconds{0});
    join_all(1, fans);
  }
  void open() { pass(opening - now); }
  entry_view view(std::uint64_t n) const { return it->view_of(*it->queue().find(fan(n)), now); }
  std::vector<std::uint64_t> admitted(std::uint64_t fans) const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t n = 1; n <= fans; ++n)
      if (is_set(entry(n).admitted_at)) all.push_back(n);
    return all;
  }
  line_rank rank(std::uint64_t n) const { return it->queue().ranks().rank_of(entry(n).number); }
  refusal give(beacon_kind kind, std::string value) {
    last = {};
    auto no = it->give_beacon(kind, std::move(value), now, last);
    settle();
    return no;
  }
};

template <class Record>
std::size_t noted(const decision& d) {
  return static_cast<std::size_t>(
    std::ranges::count_if(d.records, [](const log_record& r) { return std::holds_alternative<Record>(r); }));
}

} // namespace

CAF_TEST(before the lobby nobody joins and in it nobody has a position) {
  sample_sale s(with_lobby());
  s.now = opening - before_opening - seconds{1};
  const auto early = s.join(1);
  CAF_CHECK(early.no.why == reason::queue_not_open && early.no.at == opening - before_opening);
  CAF_CHECK(s.wake.at == opening - before_opening);
  s.pass(seconds{1});
  CAF_CHECK(s.ledger.lobby.has_value());
  CAF_CHECK_EQUAL(noted<lobby_record>(s.last), 1u);
  s.join_all(1, 3);
  const auto v = s.it->view_of(*s.it->queue().find(fan(2)), s.now);
  CAF_CHECK(v.position == 0 && v.lobby.phase == lobby_phase::open && v.lobby.people == 3);
  CAF_CHECK(s.wake.at == opening);
}

CAF_TEST(a lobby without a draw is served by number) {
  lobby s(with_lobby(draw_kind::none), 6);
  CAF_CHECK(s.view(1).position == 0);
  s.open();
  CAF_CHECK(s.last.gives_positions);
  CAF_CHECK((s.admitted(6) == std::vector<std::uint64_t>{1, 2, 3, 4}));
  CAF_CHECK(s.view(5).position == 1);
}

CAF_TEST(the draw orders the lobby and who comes later stands behind) {
  lobby s(with_lobby(), 20);
  s.open();
  CAF_CHECK(is_set(s.ledger.lobby->drawn_at) && s.ledger.lobby->entrants == 20);
  s.join(21);
  CAF_CHECK_EQUAL(value_of(s.rank(21)), 21u);
  CAF_CHECK_EQUAL(s.view(21).position, 17u);
  std::vector<std::uint64_t> first;
  for (std::uint64_t n = 1; n <= 20; ++n)
    if (value_of(s.rank(n)) <= 4) first.push_back(n);
  CAF_CHECK(s.admitted(20) == first);
  CAF_CHECK((first != std::vector<std::uint64_t>{1, 2, 3, 4}));
}

CAF_TEST(a load at any moment gives the same order) {
  std::optional<std::vector<std::uint64_t>> order;
  for (int crash = 0; crash < 4; ++crash) {
    lobby s(with_lobby(draw_kind::at_opening, beacon_kind::announced), 20);
    if (crash == 1) s.reload();
    s.draws = false;
    s.open();
    if (crash == 2) s.reload();
    s.draws = true;
    s.pass(milliseconds{0}); // root
    CAF_CHECK(s.view(1).lobby.phase == lobby_phase::waiting && s.admitted(20).empty());
    if (crash == 3) s.reload();
    s.leave(7); // after the closing: changes nothing for the others
    CAF_CHECK(!s.give(beacon_kind::announced, "4 8 15"));
    std::vector<std::uint64_t> ranks;
    for (std::uint64_t n = 1; n <= 20; ++n) ranks.push_back(value_of(s.rank(n)));
    if (!order) order = ranks;
    CAF_CHECK(ranks == *order);
    s.reload();
    CAF_CHECK(how_a_reload_differs(s).empty());
  }
}

CAF_TEST(an entrant who leaves before the root is known has the group of the closing in it) {
  auto types = sample_types(100);
  types.push_back(
    {.ordinal = 1, .id = {0x77, 2}, .name = "Friends", .price = 500, .total = 9, .hidden = true});
  sample_sale s(with_lobby(), types);
  s.now = opening - before_opening;
  s.pass(milliseconds{0});
  promo_code_patch code;
  code.code = {true, "FRIEND"};
  code.reduction = {true, {discount_kind::none, 0, 2}};
  CAF_REQUIRE(!s.promo(code));
  s.join(1, 0, "friend");
  s.join(2);
  s.draws = false;
  s.pass(before_opening);
  s.leave(1);
  for (const bool is_loaded : {false, true}) {
    if (is_loaded) s.reload();
    std::vector<sale::entrant_place> entrants;
    s.it->add_entrants(entrants, {}, 2);
    CAF_REQUIRE_EQUAL(entrants.size(), 2u);
    CAF_CHECK(entrants[0].where.opens == 2 && entrants[1].where.opens == 0);
  }
}

CAF_TEST(the draw waits for its beacon) {
  lobby s(with_lobby(draw_kind::at_opening, beacon_kind::announced), 6);
  CAF_CHECK(s.give(beacon_kind::announced, "1").why == reason::lobby_not_closed);
  s.open();
  s.pass(seconds{3'000});
  CAF_CHECK(s.admitted(6).empty());
  CAF_CHECK(s.give(beacon_kind::drand, "1").why == reason::wrong_mode);
  CAF_CHECK(!s.give(beacon_kind::announced, "1"));
  CAF_CHECK(s.ledger.lobby->value == "1" && s.admitted(6).size() == 4);
  CAF_CHECK(s.give(beacon_kind::announced, "2").why == reason::already_drawn);
}

CAF_TEST(time in line begins with the draw) {
  auto e = with_lobby(draw_kind::at_opening, beacon_kind::announced);
  e.queue.ticket_ttl = seconds{60};
  lobby s(e, 6);
  s.open();
  s.pass(seconds{600});
  CAF_CHECK(!s.give(beacon_kind::announced, "1"));
  CAF_CHECK_EQUAL(s.it->queue().counts().waiting, 2u);
  s.pass(seconds{60});
  CAF_CHECK_EQUAL(s.it->queue().counts().waiting, 0u);
}

CAF_TEST(a lobby has no deadline that an outage could move) {
  auto e = with_lobby();
  e.queue.ticket_ttl = seconds{60};
  lobby s(e, 6);
  CAF_CHECK(!s.it->has_deadlines());
  s.open();
  CAF_CHECK(s.it->has_deadlines());
}

CAF_TEST(a sale that is over keeps the order of its draw) {
  auto e = with_lobby();
  e.queue.batch_size = 1;
  lobby s(e, 8);
  s.open();
  const auto before = s.rank(5);
  CAF_CHECK(!s.change_status(event_trigger::end));
  s.reload();
  CAF_CHECK(s.rank(5) == before && s.it->next_draw_step() == sale::draw_step::none);
}

CAF_TEST(a sale that ends before its root is computed gets the root and no draw) {
  for (const auto trigger : {event_trigger::end, event_trigger::cancel}) {
    lobby s(with_lobby(), 6);
    s.draws = false;
    s.open();
    CAF_CHECK(!s.change_status(trigger));
    s.reload();
    s.draws = true;
    s.pass(milliseconds{0});
    CAF_CHECK(!s.ledger.lobby->root.empty() && !is_set(s.ledger.lobby->drawn_at));
    CAF_CHECK(s.it->next_draw_step() == sale::draw_step::none && s.admitted(6).empty());
  }
}

CAF_TEST(an operator ends the wait and the log records the intervention) {
  lobby s(with_lobby(draw_kind::at_opening, beacon_kind::announced), 6);
  s.open();
  s.last = {};
  CAF_CHECK(!s.it->end_wait("the lottery was cancelled", s.now, s.last));
  CAF_CHECK(noted<hand_record>(s.last) == 1 && noted<drawn_record>(s.last) == 1);
  s.settle();
  CAF_CHECK(s.ledger.lobby->beacon == beacon_kind::none && s.admitted(6).size() == 4);
}

CAF_TEST(what the lobby has promised does not change) {
  lobby s;
  event_patch later;
  later.set(&event_row::queue_opens_at, opening - seconds{1});
  CAF_CHECK(s.patch(later).why == reason::lobby_fixed);
  event_patch other;
  other.set(&lobby_settings::draw, draw_kind::none);
  CAF_CHECK(s.patch(other).why == reason::lobby_fixed);
  event_patch name;
  name.set(&event_row::name, std::string{"Other"});
  CAF_CHECK(!s.patch(name));
}

CAF_TEST(settings of a lobby are checked) {
  const auto refused = [](auto change) {
    auto e = with_lobby();
    change(e);
    return validate(e, sample_types()).detail;
  };
  CAF_CHECK(refused([](event_row&) {}).empty());
  CAF_CHECK(refused([](event_row& e) { e.lobby.opens_at = opening; }).starts_with("lobby_opens_at"));
  CAF_CHECK(refused([](event_row& e) { e.lobby.opens_at = never; }).starts_with("lobby_opens_at"));
  CAF_CHECK(refused([](event_row& e) {
              e.lobby.draw = draw_kind::none;
              e.lobby.beacon = beacon_kind::drand;
            }).starts_with("beacon.kind"));
  CAF_CHECK(
    refused([](event_row& e) { e.lobby.beacon = beacon_kind::drand; }).starts_with("beacon.chain_hash"));
  CAF_CHECK(
    refused([](event_row& e) { e.lobby.beacon = beacon_kind::announced; }).starts_with("beacon.announced"));
}

CAF_TEST(a party has one lot and its members follow each other) {
  lobby s(with_lobby(), 10);
  CAF_CHECK(s.open_party(99).why == reason::not_in_queue);
  CAF_CHECK(!s.open_party(4));
  CAF_CHECK_EQUAL(noted<changed_record>(s.last), 1u);
  const auto party = s.entry(4).number;
  CAF_CHECK(s.join_party(11, queue_number{9}).no.why == reason::party_unknown);
  CAF_CHECK(!s.join_party(11, party).no && !s.join_party(12, party).no);
  CAF_CHECK(s.view(11).party == party && s.view(11).party_size == 3);
  CAF_CHECK(s.join_party(13, party).no.why == reason::party_full);
  CAF_CHECK(s.join_party(2, queue_number{9}).no.why == reason::party_unknown);
  s.leave(12);
  s.reload();
  CAF_CHECK(!s.join_party(14, party).no);
  s.leave(14);
  CAF_CHECK(s.change_party(3, queue_number{9}).why == reason::party_unknown);
  CAF_CHECK(!s.change_party(3, party)); // who is in the lobby already
  CAF_CHECK(s.view(3).party == party && s.entry(3).number == queue_number{3});
  s.leave(3);
  CAF_CHECK(!s.join_party(14, party).no);
  s.open();
  CAF_CHECK(s.open_party(1).why == reason::lobby_not_open);
  CAF_CHECK(s.join_party(15, party).no.why == reason::lobby_not_open);
  CAF_CHECK_EQUAL(value_of(s.rank(11)), value_of(s.rank(4)) + 1);
  CAF_CHECK(s.rank(14) > s.rank(11)
            && value_of(s.rank(14)) <= value_of(s.rank(4)) + 5); // who left keeps a rank
}

CAF_TEST(a visitor with one key brings the code of a party later and a repeated join moves no entry) {
  auto e = with_lobby();
  e.queue.policy = admission_policy::operated; // no entry is admitted
  lobby s(e, 2);
  s.open_party(1);
  s.open_party(2);
  const auto first = s.join(3, 77);
  CAF_REQUIRE(first.created);
  const auto one = s.entry(1).number, two = s.entry(2).number;
  CAF_CHECK(s.join_party(3, one, 77).number == first.number && s.view(3).party == one);
  CAF_CHECK(s.join_party(3, two, 77).replayed && s.view(3).party == one);
  CAF_CHECK(!s.change_party(3, two) && s.view(3).party == two && s.view(1).party_size == 1);
  CAF_CHECK(s.join_party(3, one, 77).replayed && s.view(3).party == two); // a late copy of the request
  s.leave(3);
  CAF_CHECK(s.change_party(3, two).why == reason::not_in_queue);
  s.open();
  CAF_CHECK(s.change_party(1, two).why == reason::lobby_not_open);
  CAF_CHECK(what_is_wrong(s).empty());
}

CAF_TEST(a party gets the lowest class of its members) {
  lobby s;
  s.prefer(1, priority_vip);
  s.join(1);
  s.open_party(1);
  s.join_party(2, s.entry(1).number);
  CAF_CHECK(s.entry(1).priority_class == priority_vip);
  s.draws = false;
  s.open();
  CAF_CHECK(s.entry(1).priority_class == priority_vip); // the leaf has the class from before
  s.draws = true;
  s.pass(milliseconds{0});
  CAF_CHECK(s.entry(1).priority_class == priority_standard);
  CAF_CHECK(what_is_wrong(s).empty());
}

CAF_TEST(a log that begins after the closing has the class of the party) {
  lobby s(with_lobby(draw_kind::at_opening, beacon_kind::announced));
  s.prefer(1, priority_vip);
  s.join_all(1, 2);
  s.open_party(1);
  CAF_CHECK(!s.change_party(2, s.entry(1).number));
  s.open();
  s.pass(seconds{1});
  s.leave(2);
  s.reload();
  decision d;
  s.it->begin_log("", d);
  const auto is_of_1 = [&](const log_record& r) {
    const auto* joined = std::get_if<joined_record>(&r);
    return joined != nullptr && joined->number == s.entry(1).number;
  };
  const auto found = std::ranges::find_if(d.records, is_of_1);
  CAF_REQUIRE(found != d.records.end());
  CAF_CHECK(std::get<joined_record>(*found).priority_class == priority_standard); // the draw gives it, too
}

CAF_TEST(who leaves after the closing still counts for the class of the party) {
  for (const bool reloads : {false, true}) {
    lobby s(with_lobby(draw_kind::at_opening, beacon_kind::announced));
    for (const auto n : {1, 3, 5}) s.prefer(n, priority_vip);
    s.join_all(1, 5);
    s.open_party(1);
    const auto party = s.entry(1).number;
    CAF_CHECK(!s.change_party(2, party) && !s.change_party(3, party));
    s.open_party(4);
    CAF_CHECK(!s.change_party(5, s.entry(4).number));
    s.leave(4); // before the closing: does not count
    s.open();
    s.pass(seconds{1});
    s.leave(2);
    if (reloads) s.reload();
    CAF_CHECK(!s.give(beacon_kind::announced, "4 8 15"));
    CAF_CHECK(s.entry(1).priority_class == priority_standard);
    CAF_CHECK(s.entry(3).priority_class == priority_standard);
    CAF_CHECK(s.entry(5).priority_class == priority_vip);
    CAF_CHECK(what_is_wrong(s).empty());
  }
}

namespace {

/// A party of three that is first in line, alone in its lobby, and a fan behind.
struct party_first : lobby {
  explicit party_first(event_row event, std::int64_t tickets = 100) : lobby(std::move(event), 1, tickets) {
    open_party(1);
    join_party(2, entry(1).number);
    join_party(3, entry(1).number);
    open();
    join(4);
  }
};

event_row with_cap(std::uint32_t concurrency) {
  auto e = with_lobby();
  e.queue.policy = admission_policy::capacity;
  e.queue.concurrency = concurrency;
  return e;
}

} // namespace

CAF_TEST(a party is admitted together) {
  party_first s(with_cap(3));
  CAF_CHECK((s.admitted(4) == std::vector<std::uint64_t>{1, 2, 3}));
}

CAF_TEST(a party waits until there is room for all and nobody overtakes it) {
  auto e = with_cap(3);
  lobby s(e, 2);
  s.open_party(1);
  s.join_party(3, s.entry(1).number);
  s.join_party(4, s.entry(1).number);
  s.open();
  s.join(5);
  const bool single_first = value_of(s.rank(2)) == 1;
  if (single_first) {
    CAF_CHECK((s.admitted(5) == std::vector<std::uint64_t>{2})); // two places are free, the party needs three
    s.leave(2);
  }
  CAF_CHECK(
    (s.admitted(5)
     == (single_first ? std::vector<std::uint64_t>{1, 2, 3, 4} : std::vector<std::uint64_t>{1, 3, 4})));
}

CAF_TEST(a party for which room cannot come goes in order of number and the rest stay first) {
  party_first s(with_cap(2));
  CAF_CHECK((s.admitted(4) == std::vector<std::uint64_t>{1, 2}));
  s.leave(1);
  CAF_CHECK((s.admitted(4) == std::vector<std::uint64_t>{1, 2, 3}));
  party_first t(with_cap(10), 2); // two tickets
  CAF_CHECK((t.admitted(4) == std::vector<std::uint64_t>{1, 2}));
}

CAF_TEST(a party is split if a member may no longer buy and the log says so) {
  auto types = sample_types(2, 0);
  types[0].hidden = true;
  sample_sale s(with_lobby(draw_kind::at_opening, beacon_kind::announced), types);
  s.now = opening - before_opening;
  s.pass(milliseconds{0});
  CAF_REQUIRE(!s.invite({1}, {types[0].id, 1, never}));
  CAF_REQUIRE(!s.invite({2}, {types[0].id, 1, opening + seconds{10}}));
  s.join_all(1, 2);
  s.open_party(1);
  s.join_party(2, s.entry(1).number);
  s.pass(before_opening + seconds{20});
  s.last = {};
  CAF_REQUIRE(!s.it->give_beacon(beacon_kind::announced, "1", s.now, s.last));
  s.settle();
  CAF_CHECK(is_set(s.entry(1).admitted_at) && !is_set(s.entry(2).admitted_at));
  CAF_REQUIRE_EQUAL(noted<admitted_record>(s.last), 1u);
  for (const auto& r : s.last.records)
    if (const auto* admitted = std::get_if<admitted_record>(&r)) CAF_CHECK(admitted->splits_party);
}

CAF_TEST(an operator who calls fewer than a party has gets as many as were called) {
  auto e = with_lobby();
  e.queue.policy = admission_policy::operated;
  party_first s(e);
  std::uint64_t admitted = 0;
  s.last = {};
  CAF_CHECK(!s.it->advance(2, s.now, s.last, admitted));
  s.settle();
  CAF_CHECK((admitted == 2 && s.admitted(4) == std::vector<std::uint64_t>{1, 2}));
}

CAF_TEST(who is away is drawn and does not hold its party up) {
  auto e = with_cap(3);
  e.queue.presence_timeout = seconds{30};
  e.queue.away_grace = seconds{3'600};
  party_first s(e); // none has polled since the lobby opened
  CAF_CHECK(s.ledger.lobby->entrants == 3 && s.admitted(3).empty());
  s.last = {};
  s.it->seen(s.entry(1).number, s.now, s.last);
  s.settle();
  CAF_CHECK((s.admitted(3) == std::vector<std::uint64_t>{1}));
}

CAF_TEST(a crowd is drawn fast) {
  queue_line line;
  std::vector<entry_row> rows(200'000);
  std::vector<std::uint32_t> order;
  for (std::uint32_t n = 1; n <= rows.size(); ++n) {
    rows[n - 1].number = queue_number{n};
    rows[n - 1].subject = fan(n);
    rows[n - 1].priority_class = n % 2;
    order.push_back(static_cast<std::uint32_t>(rows.size()) + 1 - n);
  }
  line.load(rows);
  line.draw(line_ranks{order});
  CAF_CHECK_EQUAL(line.position(*line.find(queue_number{200'000})), 1u);
  CAF_CHECK_EQUAL(line.position(*line.find(queue_number{199'999})), 100'001u);
  changes out;
  CAF_CHECK(line.move(queue_number{200'000}, entry_trigger::leave, opening, out));
  CAF_CHECK_EQUAL(line.position(*line.find(queue_number{199'998})), 1u);
}

} // namespace lobby_test
