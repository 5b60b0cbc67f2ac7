// SPDX-License-Identifier: Apache-2.0
// The waiting list: when it begins and ends, to whom a unit goes that comes back, and for how long.
#define CAF_SUITE domain_waiting_list
#include "domain/line/quiet_hours.hpp"
#include "domain/sale/waiting_list.hpp"
#include "tests/domain/sale/orders_fixture.hpp"
#include "tests/domain/sale/sale_checks.hpp"
#include "tests/domain/sale/sample_sale.hpp"

#include "caf/test/unit_test.hpp"

namespace waiting_list_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr milliseconds minute{60'000};

event_row listed(milliseconds window = 30 * minute) {
  auto e = sample_event();
  e.sale_end = opening + seconds{30 * 24 * 3'600};
  e.waiting_list.enabled = true;
  e.waiting_list.claim_window = window;
  return e;
}

std::vector<ticket_type_row> two_types(std::int64_t standard, std::int64_t early, money price = 0) {
  auto types = sample_types(standard, price);
  types.push_back({.ordinal = 1,
                   .id = {0x77, 2},
                   .name = "Early bird",
                   .price = price,
                   .total = early,
                   .max_per_order = 4});
  return types;
}

template <class Value>
refusal set_type(sample_sale& s, std::size_t type, Value ticket_type_row::*member, Value value) {
  event_patch p;
  ticket_type_patch t;
  t.values.id = s.type(type).id;
  t.set(member, value);
  p.ticket_types.push_back(t);
  return s.patch(p);
}

/// Two free tickets, which fans 1 and 2 have bought; fans 3 to 6 wait.
struct sold_out_sale : sample_sale {
  explicit sold_out_sale(event_row event = listed(), sale_rules r = {}) :
      sample_sale(std::move(event), sample_types(2, 0), 1, std::move(r)) {
    join_all(1, 6);
    for (const auto n : {1, 2}) {
      CAF_REQUIRE(!claim(n));
      CAF_REQUIRE(!pay(n).no);
    }
    drain();
  }
  /// A ticket comes back: the organizer adds one.
  void add_ticket() {
    event_patch p;
    ticket_type_patch t;
    t.values.id = type().id;
    t.set(&ticket_type_row::total, type().total + 1);
    p.ticket_types.push_back(t);
    CAF_REQUIRE(!patch(p));
  }
  entry_status status(std::uint64_t n) const { return entry(n).status; }
};

} // namespace

CAF_TEST(the list begins when no unit is free or held) {
  sample_sale s(listed(), sample_types(1, 0));
  s.join_all(1, 2);
  CAF_CHECK(!s.claim(1));
  CAF_CHECK(!is_waiting_list(s.it->event())); // one is held
  CAF_CHECK(!s.pay(1).no);
  CAF_CHECK(is_waiting_list(s.it->event()));
  CAF_CHECK(s.told(socket_notice_kind::waiting_list));
  CAF_CHECK_EQUAL(how_a_reload_differs(s), "");
}

CAF_TEST(the list begins although a type whose window is over has units left) {
  auto types = two_types(1, 10);
  types[1].sale_until = opening + seconds{30};
  sample_sale s(listed(), types);
  s.join_all(1, 2);
  CAF_CHECK(!s.claim(1, {{s.type(0).id, 1, 0}}));
  CAF_CHECK(!s.pay(1).no);
  s.pass(seconds{29}); // 2 has claimed nothing
  CAF_CHECK(!is_waiting_list(s.it->event()));
  CAF_CHECK(is_set(s.wake.at) && s.wake.at <= types[1].sale_until);
  s.pass(seconds{1});
  CAF_CHECK(is_waiting_list(s.it->event()));
  CAF_CHECK_EQUAL(how_a_reload_differs(s), "");
}

CAF_TEST(the list stays when a unit comes back whose window is over) {
  auto types = two_types(1, 1, 1'000);
  types[1].sale_until = opening + seconds{30};
  orders_fixture f(listed(), types);
  const auto early = f.bought(1, {f.seat()}).id;
  const auto standard = f.bought(2, {f.standard()}).id;
  CAF_REQUIRE(is_waiting_list(f.s.it->event()));
  f.s.pass(seconds{60});
  CAF_CHECK(!f.s.refund_order(early));
  f.s.refunded(*f.s.refund_asked());
  CAF_CHECK(f.s.type(1).sold == 0 && is_waiting_list(f.s.it->event()));
  f.s.join(3);
  CAF_CHECK(f.s.entry(3).status == entry_status::waiting);
  CAF_CHECK(!f.s.refund_order(standard));
  f.s.refunded(*f.s.refund_asked());
  CAF_CHECK(f.s.entry(3).claim_by == f.s.now + 30 * minute);
  f.sound();
}

CAF_TEST(units of a type count until its window ends) {
  for (const bool hidden : {false, true}) {
    auto types = two_types(1, 5);
    types[1].hidden = hidden;
    types[1].sale_from = opening + 60 * minute;
    sample_sale s(listed(), types);
    s.join(1);
    CAF_CHECK(!s.claim(1, {{s.type(0).id, 1, 0}}));
    CAF_CHECK(!s.pay(1).no);
    CAF_CHECK(!is_waiting_list(s.it->event()));
    CAF_CHECK(!set_type(s, 1, &ticket_type_row::on_sale, false)); // maybe for a moment
    CAF_CHECK(!is_waiting_list(s.it->event()));
    CAF_CHECK(!set_type(s, 1, &ticket_type_row::sale_from, never));
    CAF_CHECK(!set_type(s, 1, &ticket_type_row::sale_until, s.now));
    CAF_CHECK(is_waiting_list(s.it->event()));
  }
}

CAF_TEST(no list begins after the windows of all types) {
  auto types = sample_types(5, 0);
  types[0].sale_until = opening + seconds{30};
  sample_sale s(listed(), types);
  s.join(1);
  s.pass(seconds{31});
  CAF_CHECK(!is_waiting_list(s.it->event()));
}

CAF_TEST(odds count no units whose window is over) {
  auto types = two_types(3, 10);
  types[1].sale_until = opening + seconds{30};
  sample_sale s(listed(), types);
  CAF_CHECK_EQUAL(evidence_of(*s.it, opening).free, 13u);
  CAF_CHECK_EQUAL(evidence_of(*s.it, types[1].sale_until).free, 3u);
}

CAF_TEST(without the setting the line stays as it is) {
  sold_out_sale s(sample_event());
  CAF_CHECK(!is_waiting_list(s.it->event()));
  s.add_ticket();
  CAF_CHECK(s.entry(3).claim_by == s.now + seconds{10});
}

CAF_TEST(a unit that comes back goes to the first and then to the next) {
  sold_out_sale s;
  CAF_CHECK(is_waiting_list(s.it->event()));
  s.add_ticket();
  CAF_CHECK(s.status(3) == entry_status::admitted && s.status(4) == entry_status::waiting);
  CAF_CHECK(s.entry(3).claim_by == s.now + 30 * minute);
  CAF_CHECK(s.entry(3).session_expires_at == s.now + 30 * minute + seconds{20});
  s.join(7); // behind all others
  s.pass(29 * minute);
  CAF_CHECK(s.status(3) == entry_status::admitted && s.status(4) == entry_status::waiting);
  s.pass(minute);
  CAF_CHECK(s.status(3) == entry_status::session_expired && s.status(4) == entry_status::admitted);
  CAF_CHECK(!s.claim(4));
  CAF_CHECK(!s.pay(4).no);
  CAF_CHECK(is_waiting_list(s.it->event()));
  CAF_CHECK(s.status(5) == entry_status::waiting && s.status(7) == entry_status::waiting);
}

CAF_TEST(the list stays while its last offer stands) {
  sold_out_sale s;
  event_patch p;
  p.set(&queue_settings::policy, admission_policy::open);
  CAF_REQUIRE(!s.patch(p));
  for (const auto n : {4, 5, 6}) s.leave(n);
  s.add_ticket();
  s.pass(29 * minute);
  CAF_CHECK(s.status(3) == entry_status::admitted && is_waiting_list(s.it->event()));
  s.join(7);
  CAF_CHECK(s.status(7) == entry_status::waiting); // the unit is promised to 3
  s.pass(minute);
  CAF_CHECK(s.status(7) == entry_status::admitted);
}

CAF_TEST(a refunded ticket is offered to the first of the list) {
  orders_fixture f(listed(), sample_types(1, 1'000));
  const auto order = f.bought(1, {f.standard()}).id;
  f.s.join_all(2, 3);
  CAF_REQUIRE(is_waiting_list(f.s.it->event()));
  CAF_CHECK(!f.s.refund_order(order));
  f.s.refunded(*f.s.refund_asked());
  CAF_CHECK(f.s.entry(2).status == entry_status::admitted && f.s.entry(3).status == entry_status::waiting);
  CAF_CHECK(f.s.entry(2).claim_by == f.s.now + 30 * minute);
  f.sound();
}

CAF_TEST(one person is offered each unit whatever the policy admits) {
  for (const auto policy : {admission_policy::open, admission_policy::operated}) {
    auto e = listed();
    sold_out_sale s(e);
    event_patch p;
    p.set(&queue_settings::policy, policy);
    p.set(&queue_settings::over_admission_percent, 300u);
    CAF_REQUIRE(!s.patch(p));
    s.add_ticket();
    s.drain();
    CAF_CHECK(s.status(3) == entry_status::admitted && s.status(4) == entry_status::waiting);
  }
}

CAF_TEST(no place of the list has to be watched) {
  auto e = listed();
  e.queue.presence_timeout = seconds{20};
  e.queue.away_grace = seconds{20};
  sold_out_sale s(e);
  CAF_CHECK(!watches_presence(s.it->event()));
  s.pass(24 * 60 * minute);
  CAF_CHECK(s.status(3) == entry_status::waiting && s.status(6) == entry_status::waiting);
  s.reload();
  s.pass(24 * 60 * minute);
  CAF_CHECK(s.status(3) == entry_status::waiting && is_waiting_list(s.it->event()));
}

CAF_TEST(those who were away when it began are back in their places) {
  auto e = listed();
  e.queue.presence_timeout = seconds{20};
  e.queue.away_grace = seconds{600};
  sample_sale s(e, sample_types(1, 0));
  s.join(1);
  CAF_CHECK(!s.claim(1));
  s.join_all(2, 3);
  s.pass(seconds{15});
  static_cast<void>(s.join(3));
  s.pass(seconds{4});
  CAF_CHECK(!s.pay(1).no); // within the claim's 20 s
  s.pass(seconds{20});
  CAF_CHECK(s.entry(2).status == entry_status::waiting && s.entry(3).status == entry_status::waiting);
}

CAF_TEST(a ticket_ttl does not end places of the list) {
  auto e = listed();
  e.queue.ticket_ttl = seconds{60};
  sold_out_sale s(e);
  s.pass(60 * minute);
  CAF_CHECK(s.status(3) == entry_status::waiting);
}

CAF_TEST(the list ends when the line is empty and a unit is free) {
  sold_out_sale s;
  for (const auto n : {3, 4, 5, 6}) CAF_CHECK(!s.leave(n));
  CAF_CHECK(is_waiting_list(s.it->event())); // sold out: who joins waits
  s.add_ticket();
  CAF_CHECK(!is_waiting_list(s.it->event()));
  CAF_CHECK(s.told(socket_notice_kind::no_waiting_list));
  s.join(8);
  CAF_CHECK(s.entry(8).claim_by == s.now + seconds{10});
}

CAF_TEST(in quiet hours nothing is offered and no window runs) {
  auto e = listed(60 * minute);
  e.waiting_list.quiet_from = 22 * 60;
  e.waiting_list.quiet_until = 8 * 60;
  const auto midnight = std::chrono::floor<std::chrono::days>(opening) + std::chrono::days{1};
  sold_out_sale s(e);
  s.pass(midnight - s.now + milliseconds{21 * 60 * minute} + 30 * minute); // 21:30
  s.add_ticket();
  CAF_CHECK(s.status(3) == entry_status::admitted);
  CAF_CHECK(s.entry(3).claim_by == midnight + std::chrono::days{1} + 8 * 60 * minute + 30 * minute);
  s.pass(60 * minute); // 22:30
  s.add_ticket();
  CAF_CHECK(s.status(4) == entry_status::waiting);
  CAF_CHECK(s.wake.at <= midnight + std::chrono::days{1} + 8 * 60 * minute);
  s.pass(midnight + std::chrono::days{1} + 8 * 60 * minute - s.now);
  CAF_CHECK(s.status(4) == entry_status::admitted);
  CAF_CHECK(s.entry(4).claim_by == s.now + 60 * minute);
}

CAF_TEST(quiet hours are those of the venue) {
  auto e = listed(60 * minute);
  e.facts.time_zone = "Africa/Lagos";
  e.waiting_list.quiet_from = 0;
  e.waiting_list.quiet_until = 6 * 60;
  sale_rules r;
  r.zone_offset = [](timestamp, const std::string& zone) {
    return seconds{zone == "Africa/Lagos" ? 3'600 : 0};
  };
  sold_out_sale s(e, r);
  const auto midnight = std::chrono::floor<std::chrono::days>(opening) + std::chrono::days{1};
  s.pass(midnight - s.now + 5 * 60 * minute - minute); // 5:59 there
  s.add_ticket();
  CAF_CHECK(s.status(3) == entry_status::waiting);
  s.pass(minute);
  CAF_CHECK(s.status(3) == entry_status::admitted);
}

CAF_TEST(one of the quiet hours alone is refused) {
  auto e = listed();
  e.waiting_list.quiet_from = 60;
  CAF_CHECK(validate(e, sample_types()).detail.starts_with("waiting_list.quiet_until_minute"));
  e.waiting_list.quiet_until = 1'440;
  CAF_CHECK(validate(e, sample_types()).detail.starts_with("waiting_list.quiet_until_minute"));
}

CAF_TEST(a window of several days skips each quiet part) {
  const quiet_hours night{22 * 60, 8 * 60, seconds{0}}; // 14 hours a day are not quiet
  const auto noon = timestamp{std::chrono::floor<std::chrono::days>(opening)} + 12 * 60 * minute;
  CAF_CHECK(night.after(noon, 10 * 60 * minute) == noon + 10 * 60 * minute);
  CAF_CHECK(night.after(noon, 10 * 60 * minute + minute) == noon + 20 * 60 * minute + minute);
  CAF_CHECK(night.after(noon, 28 * 60 * minute) == noon + 48 * 60 * minute);
  CAF_CHECK(!is_set(night.end_at(noon)));
  const quiet_hours none;
  CAF_CHECK(!none.are_set() && none.after(noon, minute) == noon + minute);
}

} // namespace waiting_list_test
