// SPDX-License-Identifier: Apache-2.0
// The event actor's check-in: codes and keys, answers after the commit, revoked devices, state by version.
#define CAF_SUITE event_checkin
#include "tests/actors/sale/checkout_fixture.hpp"

#include "crypto/event_ticket_code.hpp"

namespace event_checkin_test {

using namespace fq;
using namespace fq::test;

namespace {

struct checkin_fixture : checkout_fixture {
  principal organizer() const { return {principal_kind::organizer, event.tenant, event.organizer}; }
  managed here() const { return {event.id, organizer()}; }

  /// A paid order's ticket, a list and a device.
  void open_gate() {
    const auto bought = ordered(1);
    order = bought.order.id;
    page(bought);
    ask<ack_reply>(owner, apply_fact{paid(bought)});
    run();
    ticket = look(bought).event_tickets.at(0).ticket.id;
    set_checkin_list x{here(), {}, {}};
    x.patch.name = {true, "Main"};
    x.patch.mode = {true, checkin_mode::entry_and_exit};
    list = made(ask<checkin_reply>(owner, x));
    set_checkin_device y{here(), {}, {}};
    y.patch.label = "Phone";
    y.patch.secret_hash = "hash";
    device = made(ask<checkin_reply>(owner, y));
  }
  template <class Answer>
  uuid made(const Answer& answer) {
    run();
    CAF_REQUIRE(answer->ok && !answer->value.no);
    return answer->value.changed;
  }
  presented_scan scan(std::string code) {
    presented_scan s;
    s.wish.id = {7, ++scans};
    s.wish.list = list;
    s.code = std::move(code);
    return s;
  }
  auto send(std::vector<presented_scan> all, std::string hash = "hash") {
    return ask<scans_reply>(owner, redeem_scans{{device, std::move(hash)}, std::move(all)});
  }
  scan_objection objection_to(const presented_scan& s) {
    auto answer = send({s});
    run();
    CAF_REQUIRE(answer->ok && !answer->value.no);
    return answer->value.scans.at(0).scan.objection;
  }
  std::string code(std::uint32_t generation = 1, std::uint32_t key_number = 0) const {
    return event_ticket_keys{services.stored_key, event.id, key_number}.fixed_code(ticket, generation);
  }
  /// The gateway says no to the refund as often as the sale asks.
  void refuse_refund() {
    const auto call = gateway->calls.back();
    for (std::uint32_t n = 0; n < sale_rules{}.refund_retry.attempts; ++n)
      tell({.kind = gateway_call_kind::refund,
            .result = gateway_result::refund_refused,
            .gateway = "sandbox",
            .payment = call.payment,
            .reference = make_reference(call.payment),
            .refund = call.refund});
  }
  gate_state_reply state(const gate_version& since = {}) {
    auto answer = ask<gate_state_reply>(owner, find_gate_state{{device, "hash"}, list, since});
    run();
    CAF_REQUIRE(answer->ok && !answer->value.no);
    return answer->value;
  }

  order_id order;
  event_ticket_id ticket;
  checkin_list_id list;
  checkin_device_id device;
  std::uint64_t scans = 0;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(event_checkin_tests, checkin_fixture)

CAF_TEST(a scan is answered after its commit and told once) {
  open_gate();
  auto answer = send({scan(code())});
  run_without(worker);
  CAF_CHECK(answer->open());
  run();
  CAF_REQUIRE(answer->ok && !answer->value.no);
  CAF_CHECK(answer->value.scans.at(0).scan.is_admitted);
  CAF_CHECK_EQUAL(outbox(topic::ticket_checked_in).size(), 1u);
  CAF_CHECK_EQUAL(store.committed(event.aggregate)->scans.size(), 1u);
  CAF_CHECK(objection_to(scan(code())) == scan_objection::already_in);
  CAF_CHECK_EQUAL(outbox(topic::ticket_checked_in).size(), 1u);
}

CAF_TEST(what is wrong with a code has its own reason) {
  open_gate();
  CAF_CHECK(objection_to(scan("HELLO")) == scan_objection::unreadable);
  CAF_CHECK(objection_to(scan(code(1, 1))) == scan_objection::wrong_key);
  CAF_CHECK(objection_to(scan(code(2))) == scan_objection::transferred);
  const event_ticket_keys foreign{services.stored_key, {9, 9}, 0};
  CAF_CHECK(objection_to(scan(foreign.fixed_code(ticket, 1))) == scan_objection::other_event);
  const event_ticket_keys keys{services.stored_key, event.id, 0};
  const auto rotating = [&](timestamp at) {
    return rotating_code(keys.secret_of(ticket, 1), {event.id, ticket, 1}, at);
  };
  CAF_CHECK(objection_to(scan(rotating(env.wall_now() - seconds{600}))) == scan_objection::expired_code);
  CAF_CHECK(objection_to(scan(rotating(env.wall_now()))) == scan_objection::none);
}

CAF_TEST(a revoked device and a wrong secret are refused) {
  open_gate();
  auto wrong = send({scan(code())}, "other");
  run();
  CAF_CHECK(wrong->ok && wrong->value.no.why == reason::device_unknown);
  set_checkin_device x{here(), {}, {}};
  x.patch.id = device;
  x.patch.revoke = true;
  made(ask<checkin_reply>(owner, x));
  auto late = send({scan(code())});
  run();
  CAF_CHECK(late->ok && late->value.no.why == reason::device_unknown);
  CAF_CHECK(store.committed(event.aggregate)->scans.empty());
}

CAF_TEST(others neither make lists nor see the gates) {
  open_gate();
  set_checkin_list x{here(), {}, {}};
  x.what.by.id = {9, 9};
  x.patch.name = {true, "Theirs"};
  auto refused = ask<checkin_reply>(owner, x);
  auto shown = ask<checkin_reply>(owner, find_checkin{x.what});
  run();
  CAF_CHECK(refused->ok && refused->value.no.why == reason::not_found);
  CAF_CHECK(shown->ok && shown->value.no.why == reason::not_found);
}

CAF_TEST(the state of a list has what changed since its version) {
  open_gate();
  advance(1s);
  auto known = state();
  CAF_CHECK(known.is_reset && !known.more);
  CAF_REQUIRE_EQUAL(known.tickets.size(), 1u);
  CAF_CHECK_EQUAL(known.public_key.size(), 32u);
  CAF_CHECK(known.tickets[0].secret.empty());
  CAF_CHECK(state(known.version).tickets.empty());
  send({scan(code())});
  run();
  advance(1s);
  const auto next = state(known.version);
  CAF_REQUIRE_EQUAL(next.tickets.size(), 1u);
  CAF_CHECK(!next.is_reset && next.tickets[0].status == event_ticket_status::checked_in);
  CAF_CHECK_EQUAL(next.tickets[0].last_place, "Phone");
  ask<event_reply>(owner, renew_ticket_keys{here(), {}});
  run();
  const auto anew = state(next.version);
  CAF_CHECK(anew.is_reset && anew.tickets.size() == 1 && anew.public_key != known.public_key);
  CAF_CHECK(objection_to(scan(code())) == scan_objection::wrong_key);
}

CAF_TEST(an offline gate hears that a refund began and that the gateway refused it) {
  open_gate();
  advance(1s);
  auto known = state();
  CAF_REQUIRE_EQUAL(known.tickets.size(), 1u);
  CAF_CHECK(!known.tickets[0].refund_pending);
  const auto sync = [&] {
    advance(1s);
    known = state(known.version);
    CAF_REQUIRE_EQUAL(known.tickets.size(), 1u);
    return known.tickets[0];
  };
  auto refund = ask<order_reply>(owner, refund_tickets{{order, organizer()}, {}, {}});
  run();
  CAF_REQUIRE(refund->ok && !refund->value.no);
  CAF_CHECK(sync().refund_pending);
  refuse_refund();
  const auto after = sync();
  CAF_CHECK(!after.refund_pending && after.status == event_ticket_status::issued);
  CAF_CHECK(state(known.version).tickets.empty()); // told once
  CAF_CHECK(objection_to(scan(code())) == scan_objection::none);
}

CAF_TEST(an offline gate of a cancelled event lets no one in even if the refund was refused) {
  open_gate();
  advance(1s);
  const auto known = state();
  ask<event_reply>(owner, turn_event{here(), {}, event_trigger::cancel});
  advance(1s);
  CAF_REQUIRE(gateway->calls.back().kind == gateway_call_kind::refund);
  refuse_refund();
  advance(1s);
  const auto after = state(known.version);
  CAF_REQUIRE_EQUAL(after.tickets.size(), 1u);
  CAF_CHECK(after.tickets[0].status == event_ticket_status::cancelled && !after.tickets[0].refund_pending);
  CAF_CHECK(objection_to(scan(code())) == scan_objection::cancelled);
}

CAF_TEST(a page of conflicts ends after so many scans and the next one goes on) {
  open_gate();
  const auto other = ordered(2);
  page(other);
  ask<ack_reply>(owner, apply_fact{paid(other, "evt_2")});
  run();
  for (const auto& id : {ticket, look(other).event_tickets.at(0).ticket.id})
    for (int n = 0; n < 2; ++n) {
      auto entry = scan({});
      entry.wish.ticket = id;
      entry.wish.passed = true;
      send({entry});
      run();
    }
  list_checkin_conflicts x;
  x.what = here();
  const auto conflicts = [&] {
    auto answer = ask<checkin_conflicts_reply>(owner, x);
    run();
    CAF_REQUIRE(answer->ok && !answer->value.no);
    return answer->value;
  };
  CAF_CHECK(conflicts().conflicts.size() == 2 && !conflicts().more);
  services.rules.bounds.conflict_scans = 2;
  const auto first = conflicts();
  CAF_REQUIRE_EQUAL(first.conflicts.size(), 1u);
  CAF_CHECK(first.more && first.conflicts[0].scans.size() == 2);
  x.after = first.conflicts[0].ticket.ticket.id;
  const auto last = conflicts();
  CAF_CHECK(last.conflicts.size() == 1 && !last.more);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace event_checkin_test
