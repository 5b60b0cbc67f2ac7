// SPDX-License-Identifier: Apache-2.0
// An organizer's decisions: life cycle, changed settings during the sale, ending and cancelling.
#define CAF_SUITE domain_sale_organizer
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

#include <deque>
#include <functional>

namespace sale_organizer_test {

using namespace fq;
using namespace fq::test;

namespace {

void check_sound(const sample_sale& s) {
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
  CAF_CHECK_EQUAL(how_a_reload_differs(s), "");
}

ticket_type_patch type_patch(const ticket_type_id& id) {
  ticket_type_patch p;
  p.values.id = id;
  return p;
}

event_patch total(const sample_sale& s, std::int64_t n) {
  event_patch p;
  p.ticket_types = {type_patch(s.type().id)};
  p.ticket_types[0].set(&ticket_type_row::total, n);
  return p;
}

} // namespace

CAF_TEST(every state and trigger and so the sale follows the table and tells its audience) {
  for (int s = 0; s < 5; ++s)
    for (int t = 0; t < 5; ++t) {
      auto event = sample_event();
      event.status = static_cast<event_status>(s);
      sample_sale sample{event};
      const auto to = next(event_rules, event.status, static_cast<event_trigger>(t));
      const auto no = sample.change_status(static_cast<event_trigger>(t));
      CAF_CHECK_EQUAL(no.why == reason::none, to.has_value());
      if (to) CAF_CHECK(sample.it->event().status == *to);
      if (!to) CAF_CHECK(no.why == reason::invalid_transition && no.detail == name_of(event.status));
      CAF_CHECK_EQUAL(sample.told(socket_notice_kind::ended),
                      to == event_status::ended || to == event_status::cancelled);
      CAF_CHECK_EQUAL(sample.told(socket_notice_kind::paused), to == event_status::paused);
    }
}

CAF_TEST(a sale that is over is not activated) {
  auto event = sample_event();
  event.status = event_status::draft;
  sample_sale s{event};
  s.now = event.sale_end;
  CAF_CHECK(s.change_status(event_trigger::activate).why == reason::invalid_transition);
}

CAF_TEST(without a gateway only free tickets go on sale) {
  auto event = sample_event();
  event.status = event_status::draft;
  const sale_rules rules{.has_gateway = false};
  sample_sale priced{event, sample_types(), 1, rules};
  CAF_CHECK(priced.change_status(event_trigger::activate).why == reason::no_gateway);
  CAF_CHECK(priced.it->event().status == event_status::draft && priced.last.content.empty());

  sample_sale s{event, sample_types(10, 0), 1, rules};
  event_patch p;
  p.ticket_types = {type_patch(s.type().id)};
  p.ticket_types[0].set(&ticket_type_row::price, 500);
  CAF_CHECK(!s.patch(p)); // a draft sells nothing yet
  CAF_CHECK(s.change_status(event_trigger::activate).why == reason::no_gateway);
  p.ticket_types[0].set(&ticket_type_row::price, 0);
  CAF_CHECK(!s.patch(p));
  CAF_CHECK(!s.change_status(event_trigger::activate));
  p.ticket_types[0].set(&ticket_type_row::price, 500);
  CAF_CHECK(s.patch(p).why == reason::no_gateway);
  CAF_CHECK_EQUAL(s.type().price, 0);
  CAF_CHECK(s.last.content.empty());

  s.join_all(1, 2);
  CAF_CHECK(!s.order(1).no);
  CAF_CHECK(s.claim_of(1).status == claim_status::confirmed);
  CAF_CHECK(s.order(2, {{s.type().id, 1, 700}}).no.why == reason::no_gateway); // a donation
  check_sound(s);
}

CAF_TEST(an event whose server has lost its gateway can be changed and ended) {
  sample_sale s{sample_event(), sample_types(), 1, {.has_gateway = false}};
  event_patch p;
  p.set(&event_row::name, "Other");
  CAF_CHECK(!s.patch(p));
  s.join_all(1, 1);
  CAF_CHECK(s.claim(1).why == reason::no_gateway);
  CAF_CHECK(!s.change_status(event_trigger::pause));
  CAF_CHECK(!s.change_status(event_trigger::resume));
  CAF_CHECK(!s.change_status(event_trigger::end));
}

CAF_TEST(at sale_end the event ends by itself and so waiters go sessions and claims run out) {
  sample_sale s{sample_event(), sample_types(2)};
  s.now = opening + seconds{3590};
  s.join_all(1, 4);
  s.claim(1);
  changes away; // away entries end too
  s.it->queue().move(queue_number{3}, entry_trigger::go_away, s.now, away);
  s.ledger.apply(away);
  s.pass(seconds{10});
  CAF_CHECK(s.it->event().status == event_status::ended);
  CAF_CHECK(s.told(socket_notice_kind::ended));
  CAF_CHECK(s.entry(3).status == entry_status::cancelled);
  CAF_CHECK(s.entry(4).status == entry_status::cancelled);
  CAF_CHECK(s.claim_of(1).status == claim_status::claimed);
  const auto payment = s.pay(1);
  CAF_CHECK(payment.created);
  s.captured(payment.payment);
  CAF_CHECK(s.claim_of(1).status == claim_status::confirmed);
  s.pass(seconds{60});
  CAF_CHECK(s.it->is_quiet(s.now));
  check_sound(s);
}

CAF_TEST(a revoked session can be paid for what it held and holds nothing more) {
  sample_sale s{sample_event(), sample_types(2)};
  s.join_all(1, 3);
  s.claim(1);
  const auto payment = s.pay(1);
  s.last = {};
  CAF_CHECK_EQUAL(s.it->revoke(revocation_scope::all, {}, {}, s.now, s.last), 2u);
  s.settle();
  CAF_CHECK(s.entry(1).status == entry_status::revoked && s.entry(2).status == entry_status::revoked);
  CAF_CHECK(s.entry(3).status == entry_status::waiting || s.entry(3).status == entry_status::admitted);
  CAF_CHECK(s.claim_of(1).status == claim_status::claimed);
  CAF_CHECK(s.claim(1).why != reason::none);
  check_sound(s);
  s.captured(payment.payment);
  CAF_CHECK(s.claim_of(1).status == claim_status::confirmed);
  CAF_CHECK(s.entry(1).status == entry_status::revoked);
  s.pass(seconds{60});
  check_sound(s);
}

CAF_TEST(ending a long line takes bounded steps) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 1801);
  s.change_status(event_trigger::end);
  CAF_CHECK(s.wake.again);
  CAF_CHECK(s.last.content.size() < 600);
  CAF_CHECK(s.drain() >= 3);
  CAF_CHECK_EQUAL(s.it->queue().counts().waiting, 0u);
  check_sound(s);
}

CAF_TEST(raising a total admits at once) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 5);
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 1u);
  CAF_CHECK(!s.patch(total(s, 4)));
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 4u);
  CAF_CHECK_EQUAL(s.entry(4).admission_batch, 2u);
  check_sound(s);
}

CAF_TEST(a total below held plus sold is refused and changes nothing) {
  sample_sale s{sample_event(), sample_types(10)};
  s.join_all(1, 3);
  s.claim(1);
  s.captured(s.pay(1).payment);
  s.claim(2);
  auto p = total(s, 1);
  p.set(&event_row::name, "Other");
  const auto no = s.patch(p);
  CAF_CHECK(no.why == reason::total_below_committed);
  CAF_CHECK_EQUAL(no.first, 1);
  CAF_CHECK_EQUAL(no.second, 1);
  CAF_CHECK_EQUAL(s.it->event().name, "Concert");
  CAF_CHECK(s.last.content.empty());
  CAF_CHECK(!s.patch(total(s, 2)));
  CAF_CHECK_EQUAL(s.it->stock().available(), 0);
  check_sound(s);
}

CAF_TEST(lowering the concurrency evicts nobody and the count only falls) {
  auto event = sample_event();
  event.queue.policy = admission_policy::capacity;
  event.queue.concurrency = 5;
  sample_sale s{event, sample_types(100)};
  s.join_all(1, 20);
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 5u);
  event_patch p;
  p.set(&queue_settings::concurrency, 3);
  CAF_CHECK(!s.patch(p));
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 5u);
  s.leave(1);
  s.leave(2);
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 3u);
  s.leave(3);
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 3u); // a freed slot admits the next fan at once
  p.set(&queue_settings::concurrency, 8);
  s.patch(p);
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 8u);
  check_sound(s);
}

CAF_TEST(a restart grants no extra batch) {
  sample_sale s{sample_event(), sample_types(1000)};
  s.join_all(1, 200);
  s.reload();
  s.pass(seconds{4});
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted_total, 50u);
  CAF_CHECK(s.wake.at == opening + seconds{5});
  s.reload();
  s.pass(seconds{1});
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted_total, 100u);
}

CAF_TEST(a shorter claim window takes nothing from who was admitted before) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 2);
  event_patch p;
  p.set(&queue_settings::claim_window, seconds{5});
  CAF_CHECK(!s.patch(p));
  CAF_CHECK(s.it->view_of(*s.it->queue().find(fan(1)), s.now).claim_by == opening + seconds{10});
  s.pass(milliseconds{9'999});
  CAF_CHECK(s.entry(1).status == entry_status::admitted);
  s.reload(); // the admission is durable
  CAF_CHECK(!s.claim(1));
  s.pass(seconds{11});
  CAF_CHECK(s.entry(1).status == entry_status::admitted);
  check_sound(s);
}

CAF_TEST(a changed claim window is that of the next admission) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 3);
  event_patch p;
  p.set(&queue_settings::claim_window, seconds{5});
  CAF_CHECK(!s.patch(p));
  s.pass(seconds{10}); // the first fan has not claimed: the second is admitted
  CAF_CHECK(s.entry(1).status == entry_status::session_expired);
  CAF_CHECK(s.entry(2).status == entry_status::admitted);
  CAF_CHECK(s.entry(2).claim_by == opening + seconds{15});
  p.set(&queue_settings::claim_window, seconds{30});
  CAF_CHECK(!s.patch(p));
  s.pass(seconds{5}); // a longer window does not extend earlier admissions
  CAF_CHECK(s.entry(2).status == entry_status::session_expired);
  CAF_CHECK(s.entry(3).claim_by == opening + seconds{45});
  s.pass(milliseconds{29'999});
  CAF_CHECK(s.entry(3).status == entry_status::admitted);
  check_sound(s);
}

CAF_TEST(types are added and taken off sale while it runs) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 3);
  event_patch p;
  p.ticket_types = {type_patch({}), type_patch(s.type().id)};
  p.ticket_types[0].set(&ticket_type_row::name, "Seat");
  p.ticket_types[0].set(&ticket_type_row::price, 900);
  p.ticket_types[0].set(&ticket_type_row::total, 2);
  p.ticket_types[1].set(&ticket_type_row::on_sale, false);
  CAF_CHECK(!s.patch(p));
  CAF_CHECK_EQUAL(s.it->stock().types().size(), 2u);
  CAF_CHECK_EQUAL(s.type(1).ordinal, 1u);
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 2u);
  CAF_CHECK(!s.claim(1));
  CAF_CHECK_EQUAL(s.claim_of(1).amount, 1110);
  p.ticket_types = {type_patch({9, 9})};
  CAF_CHECK(s.patch(p).why == reason::invalid_field);
  p.ticket_types = {type_patch({})};
  CAF_CHECK(s.patch(p).why == reason::invalid_field); // missing name, price and total
  check_sound(s);
}

CAF_TEST(a changed price does not touch what was quoted) {
  sample_sale s;
  s.join_all(1, 2);
  s.claim(1);
  event_patch p;
  p.ticket_types = {type_patch(s.type().id)};
  p.ticket_types[0].set(&ticket_type_row::price, 700);
  CAF_CHECK(!s.patch(p));
  const auto paying = s.pay(1).payment;
  CAF_CHECK_EQUAL(s.payment(paying).amount, 699);
  s.captured(paying);
  CAF_CHECK(s.claim_of(1).status == claim_status::confirmed);
  s.claim(2);
  CAF_CHECK_EQUAL(s.claim_of(2).amount, 905);
  check_sound(s);
}

CAF_TEST(a field out of range is named and nothing changes) {
  const std::vector<std::pair<std::string, std::function<void(event_row&, ticket_type_row&)>>> wrong{
    {"name", [](auto& e, auto&) { e.name.clear(); }},
    {"name", [](auto& e, auto&) { e.name.assign(201, 'x'); }},
    {"currency", [](auto& e, auto&) { e.currency = "ngn"; }},
    {"currency", [](auto& e, auto&) { e.currency = "NGNX"; }},
    {"sale_end", [](auto& e, auto&) { e.sale_end = e.sale_start; }},
    {"queue_opens_at", [](auto& e, auto&) { e.queue_opens_at = e.sale_start + milliseconds{1}; }},
    {"claims_per_customer", [](auto& e, auto&) { e.claims_per_customer = 0; }},
    {"claims_per_customer", [](auto& e, auto&) { e.claims_per_customer = 9; }},
    {"claim_ttl_seconds", [](auto& e, auto&) { e.claim_ttl = milliseconds{999}; }},
    {"queue.batch_size", [](auto& e, auto&) { e.queue.batch_size = 0; }},
    {"queue.concurrency", [](auto& e, auto&) { e.queue.policy = admission_policy::capacity; }},
    {"queue.rate_per_minute", [](auto& e, auto&) { e.queue.policy = admission_policy::rate; }},
    {"queue.admission_interval_ms", [](auto& e, auto&) { e.queue.admission_interval = milliseconds{49}; }},
    {"queue.over_admission_factor", [](auto& e, auto&) { e.queue.over_admission_percent = 99; }},
    {"queue.locks_per_session", [](auto& e, auto&) { e.queue.locks_per_session = 21; }},
    {"queue.session_ttl_seconds",
     [](auto& e, auto&) { e.queue.session_ttl = seconds{29}; }}, // window 10 + claim 20
    {"queue.claim_window_seconds", [](auto& e, auto&) { e.queue.claim_window = seconds{61}; }},
    {"ticket_types.name", [](auto&, auto& t) { t.name.clear(); }},
    {"ticket_types.price", [](auto&, auto& t) { t.price = -1; }},
    {"ticket_types.total", [](auto&, auto& t) { t.total = 0; }},
    {"ticket_types.total", [](auto&, auto& t) { t.total = 10'000'001; }},
    {"ticket_types.max_per_order", [](auto&, auto& t) { t.max_per_order = 101; }},
  };
  CAF_CHECK(!validate(sample_event(), sample_types()));
  CAF_CHECK(validate(sample_event(), {}).why == reason::invalid_field);
  for (const auto& [field, spoil] : wrong) {
    auto event = sample_event();
    auto types = sample_types();
    spoil(event, types[0]);
    const auto no = validate(event, types);
    CAF_CHECK(no.why == reason::invalid_field);
    CAF_CHECK_EQUAL(no.detail.substr(0, no.detail.find(':')), field);
  }
  sample_sale s;
  event_patch p;
  p.set(&queue_settings::batch_size, 0);
  CAF_CHECK(s.patch(p).why == reason::invalid_field);
  CAF_CHECK(s.last.content.empty());
}

CAF_TEST(nothing is changed about an event that is over) {
  sample_sale s;
  s.change_status(event_trigger::end);
  CAF_CHECK(s.patch(total(s, 99)).why == reason::invalid_transition);
}

CAF_TEST(the facts of an event stay open until it is cancelled) {
  sample_sale s;
  CAF_CHECK(!s.change_status(event_trigger::end));
  event_patch p;
  p.set(&event_facts::starts_at, opening + seconds{9'000});
  p.set(&event_facts::venue_name, "Another hall");
  CAF_CHECK(!s.patch(p));
  CAF_CHECK_EQUAL(s.it->event().facts.venue_name, "Another hall");
  p.set(&event_row::name, "Another name");
  CAF_CHECK(s.patch(p).why == reason::invalid_transition);
  CAF_CHECK(s.patch({}).why == reason::invalid_transition);
  CAF_CHECK(!s.change_status(event_trigger::cancel));
  event_patch cleared;
  cleared.set(&event_facts::venue_name, "");
  CAF_CHECK(s.patch(cleared).why == reason::invalid_transition);
  check_sound(s);
}

CAF_TEST(the picture of an event goes in every state) {
  event_patch none, another, more;
  none.set(&event_facts::picture, "");
  another.set(&event_facts::picture, std::string(64, 'b'));
  more = none;
  more.set(&event_facts::venue_name, "");
  for (const auto status : {event_status::draft, event_status::active, event_status::paused,
                            event_status::ended, event_status::cancelled}) {
    auto event = sample_event();
    event.status = status;
    event.facts.picture = std::string(64, 'a');
    sample_sale s{event};
    const bool is_cancelled = status == event_status::cancelled;
    CAF_CHECK_EQUAL(s.patch(another).why == reason::invalid_transition, is_cancelled);
    CAF_CHECK_EQUAL(s.patch(more).why == reason::invalid_transition, is_cancelled);
    CAF_CHECK(!s.patch(none));
    CAF_CHECK(s.it->event().facts.picture.empty());
    check_sound(s);
  }
}

CAF_TEST(facts that contradict each other are refused) {
  sample_sale s;
  const auto refused_field = [&](timestamp starts, timestamp ends, timestamp doors, std::int32_t latitude,
                                 std::int32_t longitude) {
    event_patch p;
    p.set(&event_facts::starts_at, starts);
    p.set(&event_facts::ends_at, ends);
    p.set(&event_facts::doors_at, doors);
    p.set(&event_facts::latitude, latitude);
    p.set(&event_facts::longitude, longitude);
    const auto no = s.patch(p);
    return no.why == reason::invalid_field ? no.detail.substr(0, no.detail.find(':')) : std::string{};
  };
  constexpr auto none = no_coordinate;
  const auto begin = opening + seconds{9'000};
  CAF_CHECK_EQUAL(refused_field(begin, begin + seconds{1}, begin, -90'000'000, 180'000'000), "");
  CAF_CHECK_EQUAL(refused_field(begin, never, never, none, none), "");
  CAF_CHECK_EQUAL(refused_field(never, begin, never, none, none), "starts_at");
  CAF_CHECK_EQUAL(refused_field(never, never, begin, none, none), "starts_at");
  CAF_CHECK_EQUAL(refused_field(begin, begin, never, none, none), "ends_at");
  CAF_CHECK_EQUAL(refused_field(begin, never, begin + seconds{1}, none, none), "doors_at");
  CAF_CHECK_EQUAL(refused_field(begin, never, never, 1, none), "venue.latitude");
  CAF_CHECK_EQUAL(refused_field(begin, never, never, none, 1), "venue.latitude");
  CAF_CHECK_EQUAL(refused_field(begin, never, never, 90'000'001, 1), "venue.latitude");
  CAF_CHECK_EQUAL(refused_field(begin, never, never, 1, -180'000'001), "venue.longitude");
  event_patch long_text;
  long_text.set(&event_facts::description, std::string(10'001, 'x'));
  CAF_CHECK(s.patch(long_text).why == reason::invalid_field);
  CAF_CHECK_EQUAL(s.it->event().facts.description, "");
  check_sound(s);
}

CAF_TEST(refunds that a bank keeps pending do not hold up the others of a cancelled event) {
  sample_sale s{[] {
                  auto e = sample_event();
                  e.queue.policy = admission_policy::open;
                  return e;
                }(),
                sample_types(1000)};
  s.join_all(1, 320);
  for (std::uint64_t n = 1; n <= 320; ++n) {
    s.claim(n);
    s.captured(s.pay(n).payment);
  }
  s.change_status(event_trigger::cancel);
  s.drain();
  CAF_REQUIRE_EQUAL(s.ledger.refunds.size(), 20u); // evenly: the same number in each tenth of a second
  for (int slot = 0; slot < 9; ++slot) s.pass(milliseconds{100});
  CAF_REQUIRE_EQUAL(s.ledger.refunds.size(), 200u);
  s.pass(milliseconds{100});
  CAF_REQUIRE_EQUAL(s.ledger.refunds.size(), 200u); // maximum in flight
  for (const auto& [id, refund] : std::map{s.ledger.refunds}) { // a pending refund
    s.last = {};
    s.it->refund_not_processed(id, false, s.now, s.last);
    s.settle();
  }
  for (int slot = 0; slot < 6; ++slot) s.pass(milliseconds{100});
  CAF_CHECK_EQUAL(s.ledger.refunds.size(), 320u);
  check_sound(s);
}

CAF_TEST(cancelling refunds everybody in bounded steps and only once) {
  sample_sale s{[] {
                  auto e = sample_event();
                  e.queue.policy = admission_policy::open;
                  return e;
                }(),
                sample_types(1000)};
  s.join_all(1, 360);
  for (std::uint64_t n = 1; n <= 350; ++n) {
    s.claim(n);
    if (n <= 320) s.captured(s.pay(n).payment);
  }
  const auto undecided = s.pay(330).payment; // open while the event is cancelled
  s.change_status(event_trigger::cancel);
  CAF_CHECK(s.wake.at == s.now + milliseconds{100});
  auto orders = s.last.gateway_calls;
  CAF_CHECK(orders.size() <= 21);
  s.drain();
  orders.insert(orders.end(), s.last.gateway_calls.begin(), s.last.gateway_calls.end());
  std::deque<refund_id> refunds;
  const auto note_refunds = [&refunds](const std::vector<gateway_call>& some) {
    for (const auto& o : some)
      if (o.kind == gateway_call_kind::refund) refunds.push_back(o.refund);
  };
  note_refunds(orders);
  CAF_CHECK_EQUAL(refunds.size(), 20u);
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 0u);
  CAF_CHECK_EQUAL(s.claim_of(331).status == claim_status::released, true);
  CAF_CHECK(s.claim_of(330).status == claim_status::expiring);
  check_sound(s);
  s.captured(undecided); // paid meanwhile: confirmed, then refunded in its turn
  std::size_t made = 0;
  const auto make_all = [&] {
    for (; !refunds.empty(); refunds.pop_front(), ++made) {
      s.refunded(refunds.front());
      note_refunds(s.last.gateway_calls);
    }
  };
  make_all();
  CAF_CHECK_EQUAL(made, 20u); // refunds that end at once do not free slots in the same tenth of a second
  for (int slot = 0; slot < 16; ++slot) {
    CAF_CHECK(!s.it->is_quiet(s.now)); // no refund is in flight, but some remain
    s.pass(milliseconds{100});
    note_refunds(s.last.gateway_calls);
    make_all();
  }
  CAF_CHECK_EQUAL(made, 321u);
  CAF_CHECK_EQUAL(s.it->stats(s.now).revenue, 0);
  CAF_CHECK_EQUAL(s.it->stats(s.now).refunded, 321 * 699);
  CAF_CHECK_EQUAL(s.type().sold, 0);
  CAF_CHECK_EQUAL(s.type().held, 0);
  CAF_CHECK(s.it->is_quiet(s.now));
  check_sound(s);
}

} // namespace sale_organizer_test
