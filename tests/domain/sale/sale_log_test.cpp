// SPDX-License-Identifier: Apache-2.0
// What decisions note for the public log. The walks of sale_walk_test check the order rules of all of them.
#define CAF_SUITE domain_sale_log
#include "domain/sale/log_settings.hpp"
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

namespace sale_log_test {

using namespace fq;
using namespace fq::test;

namespace {

/// One letter for each record of the last decision.
std::string told(const decision& d) {
  const std::map<std::size_t, char> letters{{0, 'j'}, {1, 'c'}, {2, 'l'}, {3, 'a'}, {4, 'b'},  {5, 'A'},
                                            {6, 'e'}, {7, 'h'}, {8, 'L'}, {9, 'C'}, {10, 'D'}, {11, 'B'}};
  std::string text;
  for (const auto& r : d.records) text += letters.at(r.index());
  return text;
}

template <class Record>
const Record& only(const decision& d) {
  const Record* found = nullptr;
  for (const auto& r : d.records)
    if (const auto* x = std::get_if<Record>(&r)) found = x;
  CAF_REQUIRE(found != nullptr);
  return *found;
}

} // namespace

CAF_TEST(the log records a join and an admission with its free units) {
  auto types = sample_types(3);
  sample_sale s(sample_event(), types);
  s.join(1);
  CAF_CHECK_EQUAL(told(s.last), "jA");
  const auto& admitted = only<admitted_record>(s.last);
  CAF_CHECK_EQUAL(admitted.public_units, 3u);
  CAF_CHECK_EQUAL(admitted.batch, 1u);
  CAF_CHECK_EQUAL(admitted.numbers.size(), 1u);
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
}

CAF_TEST(the log records leaving and the end of a session) {
  auto event = sample_event();
  event.queue.policy = admission_policy::operated;
  sample_sale s(event);
  s.join(1);
  s.join(2);
  s.leave(2);
  CAF_CHECK_EQUAL(told(s.last), "l");
  CAF_CHECK(only<left_record>(s.last).why == left_why::holder);
  s.last = {};
  std::uint64_t admitted = 0;
  CAF_CHECK(!s.it->advance(1, s.now, s.last, admitted));
  CAF_CHECK_EQUAL(told(s.last), "hA");
  s.settle();
  s.pass(seconds{10});
  CAF_CHECK_EQUAL(told(s.last), "e");
  CAF_CHECK(only<session_ended_record>(s.last).why == session_end::expired);
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
}

CAF_TEST(the log records each intervention before its effect) {
  auto event = sample_event();
  event.queue.policy = admission_policy::operated;
  sample_sale s(event);
  s.join(1);
  s.join(2);
  s.last = {};
  CAF_CHECK_EQUAL(s.it->revoke(revocation_scope::ticket, queue_number{1}, {}, s.now, s.last), 1u);
  CAF_CHECK_EQUAL(told(s.last), "hl");
  s.settle();
  s.block({2});
  CAF_CHECK_EQUAL(told(s.last), "hl");
  CAF_CHECK(only<hand_record>(s.last).action == hand_action::block);
  s.change_status(event_trigger::pause);
  CAF_CHECK(only<hand_record>(s.last).action == hand_action::pause);
  s.prefer(3, priority_vip);
  CAF_CHECK(only<hand_record>(s.last).action == hand_action::priority);
  event_patch p;
  p.set(&queue_settings::concurrency, 7u);
  s.patch(p);
  CAF_CHECK_EQUAL(only<hand_record>(s.last).change, "concurrency=7");
  event_patch name;
  name.set(&event_row::name, std::string{"Another"});
  s.patch(name);
  CAF_CHECK_EQUAL(told(s.last), ""); // no setting of the line
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
}

CAF_TEST(the log records a hand that changes what people in line may buy) {
  auto event = sample_event();
  event.queue.policy = admission_policy::operated;
  auto types = sample_types(9);
  types.push_back({.ordinal = 1,
                   .id = {0x77, 2},
                   .name = "Hidden",
                   .price = 500,
                   .total = 5,
                   .max_per_order = 4,
                   .on_sale = true,
                   .hidden = true});
  sample_sale s(event, types);
  s.join_all(1, 3);
  const invitation_wish wish{types[1].id, 1, never};
  CAF_REQUIRE(!s.invite({1, 2, 9}, wish)); // 9 is not in line
  CAF_CHECK_EQUAL(told(s.last), "hcc");
  const auto& hand = only<hand_record>(s.last);
  CAF_CHECK(hand.action == hand_action::access && hand.number == queue_number{} && hand.count == 2);
  CAF_CHECK_EQUAL(hand.change, "invited=3");
  CAF_CHECK(only<changed_record>(s.last).by == changed_by::hand);
  CAF_REQUIRE(!s.invite({8}, wish));
  CAF_CHECK_EQUAL(told(s.last), "h"); // who joins later goes by it
  CAF_REQUIRE_EQUAL(s.uninvite(1), 1u);
  CAF_CHECK_EQUAL(told(s.last), "hc");
  CAF_CHECK_EQUAL(only<hand_record>(s.last).change, "uninvited=1");
  CAF_CHECK_EQUAL(s.uninvite(1), 0u);
  CAF_CHECK_EQUAL(told(s.last), "");

  promo_code_patch code;
  code.code = {true, "FANS"};
  code.reduction = {true, {discount_kind::none, 0, 2}};
  CAF_REQUIRE(!s.promo(code));
  CAF_CHECK_EQUAL(told(s.last), ""); // no one has it
  CAF_REQUIRE(!s.join(4, 0, "FANS").no);
  CAF_CHECK(only<changed_record>(s.last).by == changed_by::holder);
  code.id = s.it->promo_codes().all()[0].id;
  code.is_active = {true, false};
  CAF_REQUIRE(!s.promo(code));
  CAF_CHECK_EQUAL(told(s.last), "hc");
  CAF_CHECK_EQUAL(only<hand_record>(s.last).change, "promo_code=changed");
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
}

CAF_TEST(a waiting list that begins by itself is not told as a change of settings) {
  auto event = sample_event();
  event.waiting_list.enabled = true;
  sample_sale s(event, sample_types(1, 0));
  s.join_all(1, 2);
  CAF_REQUIRE(!s.claim(1));
  CAF_REQUIRE(!s.pay(1).no);
  CAF_CHECK(only<hand_record>(s.last).action == hand_action::waiting_list);
}

CAF_TEST(the log tells that a waiting list was turned off by hand) {
  auto event = sample_event();
  event.waiting_list.enabled = true;
  sample_sale s(event, sample_types(1, 0));
  s.join_all(1, 2);
  CAF_REQUIRE(!s.claim(1));
  CAF_REQUIRE(!s.pay(1).no);
  event_patch p;
  p.set(&waiting_list_settings::enabled, false);
  CAF_REQUIRE(!s.patch(p));
  std::vector<hand_record> hands;
  for (const auto& r : s.last.records)
    if (const auto* hand = std::get_if<hand_record>(&r)) hands.push_back(*hand);
  CAF_REQUIRE_EQUAL(hands.size(), 2u);
  CAF_CHECK(hands[0].action == hand_action::settings);
  CAF_CHECK_EQUAL(hands[0].change, "waiting_list=0");
  CAF_CHECK(hands[1].action == hand_action::waiting_list);
  CAF_CHECK_EQUAL(hands[1].reason, "the organizer has turned the list off");
}

CAF_TEST(the settings in the log have those of the waiting list without its beginning) {
  auto event = sample_event();
  const auto before = settings_text(event, {});
  event.waiting_list = {true, milliseconds{60'000}, 60, 120};
  CAF_CHECK_EQUAL(changed_lines(before, settings_text(event, {})),
                  "waiting_list=1\nwaiting_list_claim_window_ms=60000\nwaiting_list_quiet_from=60\n"
                  "waiting_list_quiet_until=120");
  CAF_CHECK_EQUAL(settings_text(event, {}).find("began_at"), std::string::npos);
}

CAF_TEST(an end by time is no intervention) {
  sample_sale s;
  s.change_status(event_trigger::pause);
  s.join(1);
  s.pass(seconds{3600});
  CAF_CHECK_EQUAL(told(s.last), "l");
  CAF_CHECK(only<left_record>(s.last).why == left_why::over);
}

CAF_TEST(the log records AWAY and the return) {
  auto event = sample_event();
  event.queue.policy = admission_policy::operated;
  event.queue.presence_timeout = seconds{20};
  sample_sale s(event);
  s.join(1);
  s.pass(seconds{21});
  CAF_CHECK_EQUAL(told(s.last), "a");
  s.last = {};
  s.it->seen(queue_number{1}, s.now, s.last);
  CAF_CHECK_EQUAL(told(s.last), "b");
  s.settle();
  s.pass(seconds{21});
  s.pass(seconds{301});
  CAF_CHECK_EQUAL(told(s.last), "l");
  CAF_CHECK(only<left_record>(s.last).why == left_why::expired);
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
}

CAF_TEST(a log that begins later has the entries in line) {
  auto event = sample_event();
  event.queue.policy = admission_policy::operated;
  event.queue.presence_timeout = seconds{20};
  sample_sale s(event);
  s.join_all(1, 4);
  s.leave(2);
  s.pass(seconds{15});
  s.last = {};
  s.it->seen(queue_number{1}, s.now, s.last);
  s.it->seen(queue_number{3}, s.now, s.last);
  s.settle();
  s.pass(seconds{6}); // 4 is away
  decision d;
  s.it->begin_log("old", d);
  CAF_CHECK_EQUAL(told(d), "Bjjja");
  const auto& begun = only<begin_record>(d);
  CAF_CHECK_EQUAL(begun.lost, "old");
  CAF_CHECK(begun.settings.ends_with("joined_before=4"));
  CAF_CHECK(begun.settings.starts_with("policy=operator\n"));
}

CAF_TEST(a log that begins later has the lobby and its closing and its draw) {
  auto event = sample_event();
  event.lobby.opens_at = opening - seconds{600};
  event.lobby.draw = draw_kind::at_opening;
  event.lobby.beacon = beacon_kind::announced;
  event.lobby.announced = "a number";
  event.queue.policy = admission_policy::operated;
  sample_sale s(event);
  s.now = opening - seconds{600};
  s.pass(milliseconds{0});
  s.prefer(1, priority_vip);
  s.join_all(1, 3);
  s.open_party(1);
  s.join_party(3, s.entry(1).number);
  const auto begun = [&] {
    decision d;
    s.it->begin_log({}, d);
    return d;
  };
  CAF_CHECK_EQUAL(told(begun()), "BLjcjjc");
  s.pass(seconds{600});
  s.join(4);
  const auto closed = begun();
  CAF_CHECK_EQUAL(told(closed), "BLjcjjcCj");
  CAF_CHECK_EQUAL(int{std::get<changed_record>(closed.records[3]).now.priority_class}, int{priority_vip});
  s.last = {};
  CAF_CHECK(!s.it->end_wait("no number came", s.now, s.last));
  s.settle();
  CAF_CHECK_EQUAL(told(begun()), "BLjcjjcChDj");
  CAF_CHECK(!s.change_status(event_trigger::cancel));
  CAF_CHECK_EQUAL(told(begun()).back(), 'h');
}

CAF_TEST(only lines that are new count as changed) {
  CAF_CHECK_EQUAL(changed_lines("a=1\nb=2", "a=1\nb=3\nc=4"), "b=3\nc=4");
  CAF_CHECK_EQUAL(changed_lines("a=1", "a=1"), "");
}

} // namespace sale_log_test
