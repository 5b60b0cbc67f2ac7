// SPDX-License-Identifier: Apache-2.0
// Check-in: answers to gates, the same scan twice, gates that were offline, conflicts, lists and devices.
#define CAF_SUITE domain_sale_checkin
#include "domain/sale/limits.hpp"
#include "tests/domain/sale/orders_fixture.hpp"

#include <algorithm>
#include <numeric>

namespace sale_checkin_test {

using namespace fq;
using namespace fq::test;

namespace {

using enum scan_objection;

struct gate_fixture : orders_fixture {
  gate_fixture() {
    bought(1, {standard(2), seat()});
    tickets = s.tickets_of(1);
    list = s.checkin_list();
    both_ways = s.checkin_list(checkin_mode::entry_and_exit);
    device = s.checkin_device();
  }

  scan_wish wish(const event_ticket_id& ticket, scan_type type = scan_type::entry) {
    scan_wish w;
    w.id = {0x5ca4, ++scans};
    w.list = both_ways;
    w.ticket = ticket;
    w.generation = 1;
    w.type = type;
    return w;
  }
  scan_wish at(const event_ticket_id& ticket, scan_type type, seconds after) {
    auto w = wish(ticket, type);
    w.at = start + after;
    w.passed = true;
    return w;
  }
  scan_view scan(const scan_wish& w) {
    auto answer = s.scan(device, w);
    sound();
    return answer;
  }
  scan_objection refusal_of(const scan_wish& w) {
    const auto answer = scan(w);
    CAF_CHECK(answer.no == reason::none && !answer.scan.is_admitted);
    return answer.scan.objection;
  }
  bool admits(const scan_wish& w) { return scan(w).scan.is_admitted; }
  event_ticket_status status(const event_ticket_id& id) const { return s.ledger.event_tickets.at(id).status; }
  bool goes_back(const event_ticket_id& id) const {
    const auto* row = s.it->event_tickets().find(id);
    return s.it->at_gate({&row, 1}).front().refund_pending;
  }
  bool in_conflict(const event_ticket_id& id) const { return s.it->checkin().conflicts().contains(id); }

  std::vector<event_ticket_id> tickets;
  checkin_list_id list, both_ways;
  checkin_device_id device;
  std::uint64_t scans = 0;
  const timestamp start = opening;
};

} // namespace

CAF_TEST(a ticket is let in once and the second scan says when and where) {
  gate_fixture f;
  f.s.pass(seconds{5});
  const auto first = f.wish(f.tickets[0]);
  const auto in = f.scan(first);
  CAF_CHECK(in.scan.is_admitted && in.scan.at == f.s.now && in.ticket.type == "Standard");
  CAF_CHECK_EQUAL(in.ticket.name, "Ada Obi");
  CAF_CHECK(f.status(f.tickets[0]) == event_ticket_status::checked_in);
  f.s.pass(seconds{60});
  const auto again = f.scan(f.wish(f.tickets[0]));
  CAF_CHECK(!again.scan.is_admitted && again.scan.objection == already_in);
  CAF_CHECK(again.earlier.scan.id == first.id && again.earlier.scan.at == in.scan.at);
  CAF_CHECK(again.earlier.list == "Main" && again.earlier.gate == "West" && again.earlier.device == "Phone");
  CAF_CHECK_EQUAL(f.s.ledger.scans.size(), 2u); // refused ones are kept
  CAF_CHECK(!f.in_conflict(f.tickets[0]));
}

CAF_TEST(the same nonce is the same scan with the same answer) {
  gate_fixture f;
  const auto first = f.wish(f.tickets[0]), second = f.wish(f.tickets[0]);
  CAF_CHECK(f.admits(first));
  CAF_CHECK(f.refusal_of(second) == already_in);
  f.s.reload();
  const auto again = f.scan(first), refused = f.scan(second);
  CAF_CHECK(again.is_replayed && again.scan.is_admitted && again.scan.objection == none);
  CAF_CHECK(refused.is_replayed && refused.scan.objection == already_in
            && refused.earlier.scan.id == first.id);
  CAF_CHECK_EQUAL(f.s.ledger.scans.size(), 2u);
  auto other = first;
  other.ticket = f.tickets[1];
  CAF_CHECK(f.scan(other).no == reason::scan_id_reused);
  other = first;
  other.type = scan_type::exit;
  CAF_CHECK(f.scan(other).no == reason::scan_id_reused);
  CAF_CHECK(f.status(f.tickets[1]) == event_ticket_status::issued);
}

CAF_TEST(every reason of a refusal has its name and leaves the ticket as it is) {
  gate_fixture f;
  const auto ticket = f.tickets[0];
  for (const auto what : {unreadable, other_event, wrong_key, expired_code}) {
    auto w = f.wish(ticket);
    w.code = what;
    CAF_CHECK(f.refusal_of(w) == what);
  }
  CAF_CHECK(f.refusal_of(f.wish({7, 7})) == unknown_ticket);
  auto w = f.wish(ticket);
  w.generation = 2;
  CAF_CHECK(f.refusal_of(w) == transferred);
  w = f.wish(ticket);
  const auto seats = f.s.checkin_list(checkin_mode::entry, {f.s.type(1).id});
  w.list = seats;
  CAF_CHECK(f.refusal_of(w) == wrong_list);
  w = f.wish(ticket, scan_type::exit);
  w.list = f.list;
  CAF_CHECK(f.refusal_of(w) == no_exit);
  CAF_CHECK(f.refusal_of(f.wish(ticket, scan_type::exit)) == not_in);
  CAF_CHECK(f.status(ticket) == event_ticket_status::issued);
  auto gate_said_no = f.wish(ticket);
  gate_said_no.refused = true;
  gate_said_no.objection = already_in;
  CAF_CHECK(f.refusal_of(gate_said_no) == already_in); // it was at the gate; the rules would let it in
  CAF_CHECK(f.status(ticket) == event_ticket_status::issued);
  std::set<std::string_view> names;
  for (auto o = std::uint8_t{1}; o <= static_cast<std::uint8_t>(not_in); ++o)
    names.insert(name_of(static_cast<scan_objection>(o)));
  CAF_CHECK_EQUAL(names.size(), static_cast<std::size_t>(not_in));
}

CAF_TEST(a ticket whose money goes back is refused and then cancelled) {
  gate_fixture f;
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {f.tickets[0]}));
  const auto refund = *f.s.refund_asked();
  CAF_CHECK(f.refusal_of(f.wish(f.tickets[0])) == refund_pending);
  f.s.refunded(refund);
  CAF_CHECK(f.refusal_of(f.wish(f.tickets[0])) == cancelled);
  CAF_CHECK(f.admits(f.wish(f.tickets[1])));
}

CAF_TEST(gates that work offline hear of a refund that begins and of one that is given up) {
  for (const bool reloads : {false, true}) {
    gate_fixture f;
    f.s.rules.refund_retry.attempts = 1;
    f.s.reload();
    f.s.pass(seconds{1});
    const auto heard_since = [&](timestamp at) {
      if (reloads) f.s.reload(); // after a restart or at another node
      std::set<event_ticket_id> ids;
      const auto& book = f.s.it->event_tickets();
      for (const auto* t : book.changed_after(at, event_ticket_id{~0ull, ~0ull}, timestamp::max(), 100))
        ids.insert(t->id);
      return ids;
    };
    auto synced = f.s.now;
    CAF_CHECK(heard_since(synced).empty());
    f.s.pass(seconds{1});
    CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {f.tickets[0]}));
    const auto refund = *f.s.refund_asked();
    CAF_CHECK(heard_since(synced).contains(f.tickets[0]));
    CAF_CHECK(f.goes_back(f.tickets[0]));
    synced = f.s.now;
    f.s.pass(seconds{1});
    f.s.it->refund_not_processed(refund, true, f.s.now, f.s.last = {});
    f.s.settle();
    CAF_REQUIRE(f.s.ledger.refunds.at(refund).status == refund_status::failed);
    CAF_CHECK(heard_since(synced).contains(f.tickets[0]));
    CAF_CHECK(!f.goes_back(f.tickets[0]));
    CAF_CHECK(f.admits(f.wish(f.tickets[0])));
  }
}

CAF_TEST(a gate that asks for tickets of several orders hears which of them go back) {
  gate_fixture f;
  f.bought(2, {f.standard(2)});
  f.bought(3, {f.standard(2)});
  const auto others = f.s.tickets_of(2);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {f.tickets[0]}));
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(3).id, {}));
  std::set<event_ticket_id> going_back{f.tickets[0]};
  for (const auto& id : f.s.tickets_of(3)) going_back.insert(id);
  const auto& book = f.s.it->event_tickets();
  std::vector<const event_ticket_row*> rows;
  for (std::size_t i = book.size(); i-- > 0;) rows.push_back(&book.at(i));
  const auto seen = f.s.it->at_gate(rows);
  CAF_REQUIRE_EQUAL(seen.size(), 7u);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CAF_CHECK(seen[i].ticket == *rows[i]);
    CAF_CHECK_EQUAL(seen[i].refund_pending, going_back.contains(rows[i]->id));
  }
}

CAF_TEST(a holder leaves and comes back by a list with exits) {
  gate_fixture f;
  const auto ticket = f.tickets[0];
  CAF_CHECK(f.admits(f.wish(ticket)));
  CAF_CHECK(f.admits(f.wish(ticket, scan_type::exit)));
  CAF_CHECK(f.status(ticket) == event_ticket_status::checked_out);
  CAF_CHECK(f.refusal_of(f.wish(ticket, scan_type::exit)) == not_in);
  f.s.pass(seconds{1});
  const auto back = f.wish(ticket);
  CAF_CHECK(f.admits(back));
  CAF_CHECK(f.scan(f.wish(ticket)).earlier.scan.id == back.id); // since the last exit
  const auto counts = f.s.it->checkin_counts();
  CAF_CHECK(counts[0].valid == 2 && counts[0].in == 1 && counts[0].out == 0);
  CAF_CHECK(counts[1].valid == 1 && counts[1].in == 0);
  const auto scans = f.s.it->checkin().counts(f.both_ways);
  CAF_CHECK(scans.entries == 2 && scans.exits == 1 && scans.refused == 2);
}

CAF_TEST(two gates that were offline and let the same ticket in are a conflict and both scans stay) {
  gate_fixture f;
  f.s.pass(seconds{100});
  const auto ticket = f.tickets[0];
  const auto late = f.scan(f.at(ticket, scan_type::entry, seconds{50}));
  CAF_CHECK(late.scan.is_admitted && late.scan.objection == none && !f.in_conflict(ticket));
  const auto early = f.scan(f.at(ticket, scan_type::entry, seconds{40}));
  CAF_CHECK(early.scan.is_admitted && early.scan.is_forced && early.scan.objection == already_in);
  CAF_CHECK(f.in_conflict(ticket));
  const auto conflict = f.s.it->conflict_of(ticket);
  CAF_REQUIRE_EQUAL(conflict.scans.size(), 2u);
  CAF_CHECK(conflict.scans[0].scan.id == early.scan.id && conflict.scans[1].scan.id == late.scan.id);
  CAF_CHECK(f.scan(f.wish(ticket)).earlier.scan.id == early.scan.id); // the first at the gates
  f.s.reload();
  CAF_CHECK(f.in_conflict(ticket));
}

CAF_TEST(scans of gates that were offline mean the same in every order of arrival) {
  std::vector<int> order(4);
  std::iota(order.begin(), order.end(), 0);
  do {
    gate_fixture f;
    f.s.pass(seconds{100});
    const auto ticket = f.tickets[0];
    const std::vector all{
      f.at(ticket, scan_type::entry, seconds{10}), f.at(ticket, scan_type::exit, seconds{20}),
      f.at(ticket, scan_type::entry, seconds{30}), f.at(ticket, scan_type::exit, seconds{40})};
    for (const auto i : order) CAF_CHECK(f.admits(all[static_cast<std::size_t>(i)]));
    CAF_CHECK(f.status(ticket) == event_ticket_status::checked_out);
    CAF_CHECK(!f.in_conflict(ticket));
  } while (std::ranges::next_permutation(order).found);
}

CAF_TEST(a forced scan of a cancelled ticket is kept as a conflict and the ticket stays cancelled) {
  gate_fixture f;
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {f.tickets[0]}));
  f.s.refunded(*f.s.refund_asked());
  f.s.pass(seconds{50});
  const auto in = f.scan(f.at(f.tickets[0], scan_type::entry, seconds{1}));
  CAF_CHECK(in.scan.is_admitted && in.scan.objection == cancelled);
  CAF_CHECK(f.in_conflict(f.tickets[0]));
  CAF_CHECK(f.status(f.tickets[0]) == event_ticket_status::cancelled);
  auto nobody = f.wish({7, 7});
  nobody.force = nobody.passed = true;
  CAF_CHECK(f.refusal_of(nobody) == unknown_ticket); // nothing to let in
}

CAF_TEST(only a device that may lets in against the rules and who has passed is recorded by any) {
  gate_fixture f;
  const auto plain = f.s.checkin_device({}, false);
  CAF_CHECK(f.admits(f.wish(f.tickets[0])));
  auto again = f.wish(f.tickets[0]);
  again.force = true;
  const auto refused = f.s.scan(plain, again);
  CAF_CHECK(!refused.scan.is_admitted && !refused.scan.is_forced && refused.scan.objection == already_in);
  CAF_CHECK(!f.in_conflict(f.tickets[0]));
  auto passed = f.wish(f.tickets[0]);
  passed.passed = true;
  const auto kept = f.s.scan(plain, passed);
  CAF_CHECK(kept.scan.is_admitted && kept.scan.is_forced && f.in_conflict(f.tickets[0]));
  auto forced = f.wish(f.tickets[1]);
  forced.generation = 7;
  forced.force = true;
  CAF_CHECK(!f.s.scan(plain, forced).scan.is_admitted);
  forced.id.lo += 1'000;
  CAF_CHECK(f.s.scan(f.device, forced).scan.is_admitted);
  f.sound();
}

CAF_TEST(the time of a scan is bounded by the ticket and by now) {
  gate_fixture f;
  f.s.pass(seconds{100});
  auto w = f.wish(f.tickets[0]);
  w.at = f.s.now + seconds{3600};
  CAF_CHECK(f.scan(w).scan.at == f.s.now);
  w = f.wish(f.tickets[1]);
  w.at = f.start - seconds{3600};
  CAF_CHECK(f.scan(w).scan.at == f.s.ledger.event_tickets.at(f.tickets[1]).created_at);
}

CAF_TEST(beyond the bounds scans are answered and not recorded or not taken) {
  gate_fixture f;
  f.s.rules.bounds.refused_scans = 1;
  f.s.rules.bounds.scans = 2;
  f.s.reload();
  const event_ticket_id nobody{7, 7};
  CAF_CHECK(f.refusal_of(f.wish(nobody)) == unknown_ticket);
  CAF_CHECK(f.refusal_of(f.wish(nobody)) == unknown_ticket);
  CAF_CHECK_EQUAL(f.s.ledger.scans.size(), 1u);
  CAF_CHECK(f.admits(f.wish(f.tickets[0])));
  CAF_CHECK(f.scan(f.wish(f.tickets[1])).no == reason::too_many);
  CAF_CHECK(f.status(f.tickets[1]) == event_ticket_status::issued);
}

CAF_TEST(scans of one ticket are bounded and other tickets still come in) {
  gate_fixture f;
  f.s.rules.bounds.scans_of_ticket = 2;
  f.s.reload();
  auto forced = [&] {
    auto w = f.wish(f.tickets[0]);
    w.force = true;
    return f.scan(w);
  };
  CAF_CHECK(forced().scan.is_admitted);
  CAF_CHECK(forced().scan.is_admitted);
  CAF_CHECK(forced().no == reason::too_many);
  CAF_CHECK_EQUAL(f.s.ledger.scans.size(), 2u);
  CAF_CHECK(f.admits(f.wish(f.tickets[1])));
}

CAF_TEST(one device cannot use up the scans of the event) {
  gate_fixture f;
  f.s.rules.bounds.refused_scans = 1;
  f.s.rules.bounds.scans_of_device = 3;
  f.s.reload();
  const auto first = f.wish(f.tickets[0]);
  CAF_CHECK(f.admits(first));
  CAF_CHECK(f.refusal_of(f.wish(f.tickets[0])) == already_in);
  CAF_CHECK(f.refusal_of(f.wish(f.tickets[0])) == already_in); // not recorded: counts for nothing
  CAF_CHECK(f.admits(f.wish(f.tickets[1])));
  f.s.reload();
  auto passed = f.wish(f.tickets[2]);
  passed.passed = true;
  CAF_CHECK(f.scan(passed).no == reason::too_many);
  CAF_CHECK(f.status(f.tickets[2]) == event_ticket_status::issued);
  CAF_CHECK(f.scan(first).is_replayed);
  const auto other = f.s.checkin_device();
  CAF_CHECK(f.s.scan(other, f.wish(f.tickets[2])).scan.is_admitted);
  f.sound();
}

CAF_TEST(a festival of ten days with ten entries and exits a day is within the bound of a ticket) {
  gate_fixture f;
  for (int n = 0; n < 10 * 10; ++n)
    for (const auto type : {scan_type::entry, scan_type::exit}) {
      f.s.pass(seconds{1});
      CAF_REQUIRE(f.s.scan(f.device, f.wish(f.tickets[0], type)).scan.is_admitted);
    }
  f.sound();
}

CAF_TEST(a device may use only its own lists and a removed list admits no ticket) {
  gate_fixture f;
  const auto other = f.s.checkin_device({f.list});
  CAF_CHECK(f.s.scan(other, f.wish(f.tickets[0])).no == reason::not_found);
  auto w = f.wish(f.tickets[0]);
  w.list = {9, 9};
  CAF_CHECK(f.scan(w).no == reason::not_found);
  checkin_list_patch p;
  p.id = f.both_ways;
  p.remove = true;
  checkin_list_id id;
  CAF_REQUIRE(!f.s.it->set_checkin_list(p, f.s.now, f.s.last = {}, id));
  f.s.settle();
  CAF_CHECK(f.refusal_of(f.wish(f.tickets[0])) == wrong_list);
  CAF_CHECK(f.s.it->set_checkin_list(p, f.s.now, f.s.last = {}, id).why == reason::not_found);
  p = {};
  CAF_CHECK(f.s.it->set_checkin_list(p, f.s.now, f.s.last, id).why == reason::invalid_field);
  p.name = {true, "Door"};
  p.ticket_types = {true, {{1, 1}}};
  CAF_CHECK(f.s.it->set_checkin_list(p, f.s.now, f.s.last, id).why == reason::invalid_field);
  checkin_device_patch d;
  d.lists = {f.both_ways};
  CAF_CHECK(f.s.it->set_checkin_device(d, f.s.now, f.s.last, id).why == reason::invalid_field);
  f.s.rules.bounds.checkin_lists = 2;
  f.s.rules.bounds.checkin_devices = 2;
  f.s.reload();
  p.ticket_types = {};
  CAF_CHECK(f.s.it->set_checkin_list(p, f.s.now, f.s.last, id).why == reason::too_many);
  CAF_CHECK(f.s.it->set_checkin_device({}, f.s.now, f.s.last, id).why == reason::too_many);
}

CAF_TEST(a gate finds tickets by name order and id in its types) {
  gate_fixture f;
  f.bought(2, {f.standard()});
  const auto& book = f.s.it->checkin();
  const auto find = [&](std::string_view text) {
    return f.s.it->find_at_gate(*book.find_list(f.list), text, 10).size();
  };
  CAF_CHECK_EQUAL(find("ADA"), 4u);
  CAF_CHECK_EQUAL(find(to_string(f.s.order_of(2).id)), 1u);
  CAF_CHECK_EQUAL(find(to_string(f.tickets[2])), 1u);
  CAF_CHECK_EQUAL(find("nobody"), 0u);
  CAF_CHECK_EQUAL(f.s.it->find_at_gate(*book.find_list(f.list), "ada", 3).size(), 3u);
  transfer_id offer;
  CAF_REQUIRE(!f.s.it->offer_ticket({f.tickets[1], fan(1), fan(2), "", ""}, f.s.now, f.s.last = {}, offer));
  f.s.settle();
  CAF_REQUIRE(!f.s.end_transfer(offer, 2, transfer_trigger::accept));
  CAF_CHECK_EQUAL(find("ADA"), 3u); // not by the name of who gave it away
  CAF_CHECK_EQUAL(find(to_string(f.tickets[1])), 1u);
  const auto seats = f.s.checkin_list(checkin_mode::entry, {f.s.type(1).id});
  CAF_CHECK_EQUAL(f.s.it->find_at_gate(*book.find_list(seats), "ada", 10).size(), 1u);
}

CAF_TEST(a gate finds tickets that are not in before those that are) {
  gate_fixture f;
  f.bought(2, {f.standard()});
  const auto find = [&](std::size_t limit) {
    return f.s.it->find_at_gate(*f.s.it->checkin().find_list(f.list), "ada", limit);
  };
  const auto first = find(10).front().ticket.id;
  CAF_REQUIRE(f.admits(f.wish(first)));
  const auto all = find(10);
  CAF_REQUIRE_EQUAL(all.size(), 4u);
  CAF_CHECK(all.back().ticket.id == first);
  CAF_CHECK_EQUAL(find(3).size(), 3u);
  for (const auto& found : find(3)) CAF_CHECK(found.ticket.id != first);
}

CAF_TEST(a gate finds names without their case and accents) {
  gate_fixture f;
  auto row = f.s.ledger.orders.begin();
  row->second.contact.first_name = "Ivana";
  row->second.contact.last_name = "ŠIMIĆ";
  f.s.reload();
  for (const auto* text : {"šimić", "Simic", "IVANA ŠIM"})
    CAF_CHECK_EQUAL(f.s.it->find_at_gate(*f.s.it->checkin().find_list(f.list), text, 10).size(), 3u);
  const std::string only_an_accent = "\u0301\u0301";
  CAF_CHECK(f.s.it->find_at_gate(*f.s.it->checkin().find_list(f.list), only_an_accent, 10).empty());
}

CAF_TEST(a gate finds a ticket of a claim without an order by each whole id) {
  gate_fixture f;
  f.s.join(3);
  CAF_REQUIRE(!f.s.claim(3, {f.standard()}));
  const auto payment = f.s.pay(3).payment;
  f.s.initialized(payment);
  f.s.captured(payment);
  const auto theirs = f.s.tickets_of(3);
  CAF_REQUIRE_EQUAL(theirs.size(), 1u);
  const auto find = [&](const checkin_list_id& list, const std::string& text) {
    return f.s.it->find_at_gate(*f.s.it->checkin().find_list(list), text, 10);
  };
  for (const auto& text : {to_string(theirs[0]), to_string(f.s.claim_of(3).id)}) {
    const auto found = find(f.list, text);
    CAF_REQUIRE_EQUAL(found.size(), 1u);
    CAF_CHECK(found[0].ticket.id == theirs[0] && found[0].name.empty());
  }
  CAF_CHECK_EQUAL(find(f.list, to_string(f.s.claim_of(1).id)).size(), 3u);
  CAF_CHECK(find(f.list, to_string(uuid{7, 7})).empty());
  const auto seats = f.s.checkin_list(checkin_mode::entry, {f.s.type(1).id});
  CAF_CHECK(find(seats, to_string(theirs[0])).empty()); // another type
}

CAF_TEST(a gate finds an order by its whole id however many are newer) {
  gate_fixture f;
  const auto order = f.s.order_of(1).id;
  for (std::uint64_t n = 1; n <= gate_search_max; ++n) {
    order_row newer;
    newer.id = {order.hi + n, order.lo};
    newer.claim = {0xc1a1, n};
    newer.status = order_status::failed;
    f.s.it->load(newer);
  }
  const auto find = [&](std::string_view text) {
    return f.s.it->find_at_gate(*f.s.it->checkin().find_list(f.list), text, 10).size();
  };
  CAF_CHECK_EQUAL(find(to_string(order)), 3u);
  CAF_CHECK_EQUAL(find(to_string(f.tickets[0])), 1u);
  CAF_CHECK_EQUAL(find("ada"), 0u); // names of the newest orders only
}

} // namespace sale_checkin_test
