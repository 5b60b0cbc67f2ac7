// SPDX-License-Identifier: Apache-2.0
// Stock that people may buy: admission and refusals obey sale windows, and returned stock reaches the next.
#define CAF_SUITE domain_sale_stock
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

namespace sale_stock_test {

using namespace fq;
using namespace fq::test;
using std::chrono::minutes;

namespace {

void check_sound(const sample_sale& s) {
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
  CAF_CHECK_EQUAL(how_a_reload_differs(s), "");
}

/// The queue opens 30 minutes before the sale; sessions and claim windows as shipped.
event_row early_queue(admission_policy policy = admission_policy::batch) {
  auto event = sample_event();
  event.queue.policy = policy;
  event.queue.session_ttl = queue_settings{}.session_ttl;
  event.queue.claim_window = queue_settings{}.claim_window;
  event.queue.concurrency = 0;
  event.sale_start = opening + minutes{30};
  event.sale_end = opening + minutes{120};
  return event;
}

std::uint64_t admitted(const sample_sale& s) { return s.it->queue().counts().admitted; }

/// Passes `span` and stops at each wake-up, as an owner does.
void live_through(sample_sale& s, milliseconds span) {
  const auto end = s.now + span;
  while (s.now < end) {
    const auto next = is_set(s.wake.at) ? std::clamp(s.wake.at, s.now, end) : end;
    s.pass(s.wake.again ? milliseconds{0} : std::max(next - s.now, milliseconds{1}));
  }
}

ticket_type_row hidden_type(std::uint32_t ordinal, std::int64_t total) {
  return {.ordinal = ordinal,
          .id = {0x77, ordinal + 1},
          .name = "Hidden",
          .price = 500,
          .total = total,
          .max_per_order = 4,
          .hidden = true};
}

} // namespace

// -- windows (C3)

CAF_TEST(a line that forms before the sale is admitted at its start in order) {
  sample_sale s{early_queue(), sample_types(100)};
  s.join_all(1, 1'000);
  live_through(s, minutes{30} - milliseconds{1});
  CAF_CHECK_EQUAL(admitted(s), 0u);
  CAF_CHECK_EQUAL(s.it->queue().counts().waiting, 1'000u);
  live_through(s, seconds{6}); // two batches of 50
  for (std::uint64_t n = 1; n <= 100; ++n) CAF_CHECK(s.entry(n).status == entry_status::admitted);
  CAF_CHECK_EQUAL(s.it->queue().counts().waiting, 900u);
  check_sound(s);
}

CAF_TEST(no policy admits before anything can be bought) {
  for (const auto policy : {admission_policy::batch, admission_policy::capacity, admission_policy::rate,
                            admission_policy::open, admission_policy::operated}) {
    sample_sale s{early_queue(policy), sample_types(100)};
    s.join_all(1, 3);
    if (policy == admission_policy::operated) {
      std::uint64_t let_in = 0;
      CAF_CHECK(!s.it->advance(3, s.now, s.last, let_in));
      CAF_CHECK_EQUAL(let_in, 0u);
    }
    live_through(s, minutes{30} - milliseconds{1});
    CAF_CHECK_EQUAL(admitted(s), 0u);
    if (policy == admission_policy::operated) continue;
    CAF_CHECK(s.wake.at == s.it->event().sale_start);
    live_through(s, milliseconds{1});
    CAF_CHECK_EQUAL(admitted(s), 3u);
  }
}

CAF_TEST(the window of a ticket type holds the line like the start of the sale) {
  auto types = sample_types(2);
  types[0].sale_from = opening + minutes{5};
  types[0].sale_until = opening + minutes{10};
  sample_sale s{sample_event(), types};
  s.join_all(1, 3);
  CAF_CHECK_EQUAL(admitted(s), 0u);
  CAF_CHECK(s.wake.at == opening + minutes{5});
  live_through(s, minutes{5});
  CAF_CHECK_EQUAL(admitted(s), 2u);
  live_through(s, minutes{5}); // both lose their claim windows, others follow, then the window closes
  s.join(4);
  CAF_CHECK(s.entry(4).status == entry_status::waiting);
  check_sound(s);
}

CAF_TEST(only stock of open windows admits) {
  auto types = sample_types(1);
  types.push_back({.ordinal = 1,
                   .id = {0x77, 2},
                   .name = "Later",
                   .price = 500,
                   .total = 5,
                   .max_per_order = 4,
                   .sale_from = opening + seconds{8}});
  sample_sale s{sample_event(), types};
  s.join_all(1, 4);
  CAF_CHECK_EQUAL(admitted(s), 1u);
  CAF_CHECK(s.wake.at == opening + seconds{8});
  live_through(s, seconds{8});
  CAF_CHECK_EQUAL(admitted(s), 4u);
  check_sound(s);
}

// -- refusals (C7)

CAF_TEST(a closed window is not sold out) {
  auto types = sample_types(10);
  types[0].sale_from = opening;
  sample_sale s{sample_event(), types};
  s.join(1);
  ticket_type_patch later;
  later.values.id = types[0].id;
  later.set(&ticket_type_row::sale_from, opening + seconds{30});
  event_patch p;
  p.ticket_types.push_back(later);
  CAF_REQUIRE(!s.patch(p));
  const auto no = s.claim(1);
  CAF_CHECK(no.why == reason::not_on_sale);
  CAF_CHECK(no.at == opening + seconds{30});
}

CAF_TEST(a type taken off sale with free stock is not sold out) {
  sample_sale s;
  s.join(1);
  ticket_type_patch off;
  off.values.id = s.type().id;
  off.set(&ticket_type_row::on_sale, false);
  event_patch p;
  p.ticket_types.push_back(off);
  CAF_REQUIRE(!s.patch(p));
  CAF_CHECK(!s.told(socket_notice_kind::sold_out));
  CAF_CHECK(!s.it->view().sold_out);
  CAF_CHECK(s.claim(1).why == reason::not_on_sale);
}

CAF_TEST(hidden stock that a customer may not buy is sold out for this customer) {
  auto types = sample_types(2);
  types.push_back(hidden_type(1, 5));
  sample_sale s{sample_event(), types};
  s.join_all(1, 2);
  CAF_REQUIRE(!s.order(1, {{types[0].id, 2}}).no);
  CAF_CHECK(s.claim(2).why == reason::none_free); // fan 1 may not pay
  CAF_REQUIRE(!s.captured(s.payment_of(s.order_of(1)).id));
  CAF_CHECK(s.claim(2).why == reason::event_sold_out);
}

// -- slots (C8)

CAF_TEST(a lower limit of claims counts those that stand in higher slots) {
  auto event = sample_event();
  event.claims_per_customer = 3;
  sample_sale s{event, sample_types(10)};
  std::vector<order_id> bought;
  for (int i = 0; i < 3; ++i) {
    s.join(1);
    const auto placed = s.order(1);
    CAF_REQUIRE(!placed.no);
    CAF_REQUIRE(!s.captured(s.payment_of(*s.it->orders().find(placed.order)).id));
    bought.push_back(placed.order);
    s.pass(seconds{5});
  }
  CAF_REQUIRE(!s.refund_order(bought.front()));
  CAF_REQUIRE(!s.refunded(*s.refund_asked()));
  event_patch p;
  p.set(&event_row::claims_per_customer, 1u);
  CAF_REQUIRE(!s.patch(p));
  CAF_CHECK(s.join(1).no.why == reason::already_claimed);
}

// -- returned stock (C12)

CAF_TEST(a released claim starts a short window to claim again) {
  auto event = sample_event();
  event.queue.reclaim_window = seconds{15};
  sample_sale s{event, sample_types(1)};
  s.join_all(1, 2);
  s.claim(1);
  s.pass(seconds{5});
  CAF_CHECK(!s.release(1, s.claim_of(1).id));
  CAF_CHECK(s.entry(1).claim_by == s.now + seconds{15});
  CAF_CHECK(deadline_of(s.entry(1)) == s.now + seconds{15});
  CAF_CHECK(s.entry(2).status == entry_status::waiting);
  s.pass(seconds{15});
  CAF_CHECK(s.entry(1).status == entry_status::session_expired);
  CAF_CHECK(s.entry(2).status == entry_status::admitted);
  check_sound(s);
}

CAF_TEST(the window to claim again never exceeds the session) {
  auto event = sample_event();
  event.claim_ttl = seconds{50};
  sample_sale s{event, sample_types(1)};
  s.join(1);
  s.claim(1);
  s.pass(seconds{50});
  CAF_CHECK(s.claim_of(1).status == claim_status::released);
  CAF_CHECK(s.entry(1).claim_by == s.entry(1).session_expires_at);
  check_sound(s);
}

CAF_TEST(after so many releases or without a window the session ends and the next is admitted) {
  for (const auto most : {0u, 2u}) {
    auto event = sample_event();
    event.queue.reclaims_max = most;
    sample_sale s{event, sample_types(1)};
    s.join_all(1, 2);
    for (std::uint32_t i = 0; i < most; ++i) {
      CAF_REQUIRE(!s.claim(1));
      s.release(1, s.claim_of(1).id);
      CAF_CHECK(s.entry(1).status == entry_status::admitted);
      s.pass(milliseconds{1});
    }
    CAF_REQUIRE(!s.claim(1));
    s.release(1, s.claim_of(1).id);
    CAF_CHECK(s.entry(1).status == entry_status::session_expired);
    CAF_CHECK(s.entry(2).status == entry_status::admitted);
    check_sound(s);
  }
  auto event = sample_event();
  event.queue.reclaim_window = {};
  sample_sale s{event, sample_types(1)};
  s.join_all(1, 2);
  s.claim(1);
  s.release(1, s.claim_of(1).id);
  CAF_CHECK(s.entry(1).status == entry_status::session_expired);
  CAF_CHECK(s.entry(2).status == entry_status::admitted);
}

CAF_TEST(a claim may be given back together with the place) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 2);
  s.claim(1);
  s.last = {};
  CAF_CHECK(!s.it->release_claim(fan(1), s.claim_of(1).id, s.now, s.last, true));
  s.settle();
  CAF_CHECK(s.entry(1).status == entry_status::completed);
  CAF_CHECK(s.entry(2).status == entry_status::admitted);
  check_sound(s);
}

/// 5,000 fans, 1,000 tickets; a quarter releases or lets expire. Windows as shipped, no pace of admission.
CAF_TEST(returned stock reaches the next within the window and sells out) {
  auto event = early_queue(admission_policy::capacity);
  event.sale_start = opening;
  event.sale_end = opening + minutes{600};
  event.claim_ttl = event_row{}.claim_ttl;
  sample_sale s{event, sample_types(1'000)};
  dice d{7};
  std::vector<timestamp> returned; // tickets given back and not yet offered to another
  std::vector<milliseconds> waits;
  std::set<std::uint64_t> busy;
  s.join_all(1, 5'000);
  for (std::uint64_t seen = 0; s.type().sold < 1'000 && s.now < opening + minutes{300};) {
    for (std::uint64_t n = 1; n <= 5'000; ++n) {
      if (s.entry(n).status != entry_status::admitted || !busy.insert(n).second) continue;
      if (s.claim(n)) continue;
      if (d.chance(75)) {
        const auto paid = s.pay(n);
        CAF_REQUIRE(!s.captured(paid.payment));
      } else if (d.chance(50)) {
        CAF_REQUIRE(!s.release(n, s.claim_of(n).id));
        returned.push_back(s.now);
      } // else it expires
    }
    const auto held = s.type().held;
    live_through(s, std::max(milliseconds{1}, std::min(s.wake.at - s.now, milliseconds{1'000})));
    for (auto i = s.type().held; i < held; ++i) returned.push_back(s.now);
    const auto total = s.it->queue().counts().admitted_total;
    for (; seen < total; ++seen)
      if (seen >= 1'000 && !returned.empty()) {
        waits.push_back(s.now - returned.front());
        returned.erase(returned.begin());
      }
  }
  CAF_CHECK_EQUAL(s.type().sold, 1'000);
  std::ranges::sort(waits);
  CAF_REQUIRE(!waits.empty());
  CAF_CHECK(waits[waits.size() * 99 / 100] <= event.queue.reclaim_window + seconds{2});
  check_sound(s);
}

} // namespace sale_stock_test
