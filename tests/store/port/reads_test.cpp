// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: listings, aggregates to wake, order of images, pruning.
#define CAF_SUITE store_reads
#include "tests/store/port/engines.hpp"

#include <algorithm>
#include <utility>

namespace reads_test {

using namespace fq;
using namespace fq::test;

namespace {

/// A page of events from 16 upwards; organizers 1 and 2 alternate.
event_filter page(aggregate_id after, std::uint32_t limit, std::optional<organizer_id> organizer = {}) {
  event_filter f;
  f.organizer = organizer;
  f.after = after;
  f.limit = limit;
  return f;
}

void create_events(ledger& store, const std::vector<event_status>& statuses) {
  owner me(store);
  me.take(catalog_aggregate);
  for (std::uint32_t i = 0; i < statuses.size(); ++i) {
    auto e = sample_event(aggregate_id{16 + i}, 1 + i % 2);
    e.status = statuses[i];
    e.facts.description = "One\n*night*";
    e.facts.ticket_terms = "No glass.";
    FQ_COMMITS(me.put(catalog_aggregate, {event_created{e, {sample_type(0, 5), sample_type(1, 6)}}}));
  }
}

std::vector<std::uint32_t> numbers(const std::vector<event_listing>& listings) {
  std::vector<std::uint32_t> result;
  for (const auto& l : listings) result.push_back(number_of(l.event.aggregate));
  return result;
}

using list = std::vector<std::uint32_t>;

constexpr tenant_id arena{2};

/// Owns three sales: 16 and 17 of the default tenant and organizers 1 and 2, 18 of another tenant and
/// organizer 1.
owner create_sales_of_tenants(ledger& store) {
  owner me(store);
  me.take(accounts_aggregate);
  me.take(catalog_aggregate);
  FQ_COMMITS(me.put(accounts_aggregate, {tenant_stored{{arena, "arena", "", "", noon}}}));
  for (std::uint32_t n = 16; n <= 18; ++n) {
    auto e = sample_event(aggregate_id{n}, 1 + (n == 17 ? 1 : 0));
    e.tenant = n == 18 ? arena : default_tenant;
    e.name = "Night " + std::to_string(n);
    e.currency = n == 17 ? "KES" : "NGN";
    FQ_COMMITS(me.put(catalog_aggregate, {event_created{e, {sample_type(0, 10)}}}));
    me.take(aggregate_id{n});
  }
  return me;
}

/// The same numbers in different events are different orders of the same customer.
order_row placed(aggregate_id aggregate, std::uint64_t n, std::uint64_t customer) {
  auto o = sample_order(n, sample_claim(n, customer));
  o.id = id_of(40'000 + n, aggregate);
  return o;
}

dead_letter_row letter_of(aggregate_id aggregate, std::uint64_t n,
                          dead_letter_status status = dead_letter_status::open) {
  return {
    id_of(50'000 + n, aggregate), dead_letter_kind::refund_refused, id_of(n), status, "why", "", noon, noon};
}

using orders = std::vector<order_listing>;
using letters = std::vector<dead_letter_listing>;

/// Reads all pages of `f.limit` rows; every page except the last is full.
letters all_pages(ledger& store, dead_letter_filter f) {
  letters all;
  for (;;) {
    const auto some = store.list_dead_letters(f);
    all.insert(all.end(), some.begin(), some.end());
    if (some.size() < f.limit) return all;
    CAF_REQUIRE(all.size() < 100); // detects a cursor that does not advance
    CAF_REQUIRE_EQUAL(some.size(), f.limit);
    f.before = some.back().letter.id;
  }
}

/// The events that must run although no client asks for them.
list woken(ledger& store) {
  list result;
  for (const auto a : store.aggregates_to_wake({})) result.push_back(number_of(a));
  return result;
}

entry_row entry_with(entry_status status) {
  auto e = sample_entry(1);
  e.status = status;
  return e;
}

/// Gives each of the events 19 to 31 other open work, or none.
void leave_work(owner& me) {
  const auto claim = [](claim_status s) {
    auto c = sample_claim(1, 1);
    c.status = s;
    return claim_opened{c};
  };
  const auto payment = [](std::uint64_t n, payment_status s) {
    auto p = sample_payment(n, sample_claim(1, 1));
    p.status = s;
    return payment_opened{p};
  };
  const auto put = [&](std::uint32_t n, changes content) {
    FQ_COMMITS(me.put(aggregate_id{n}, std::move(content)));
  };
  const auto refund = sample_refund(1, sample_payment(3, sample_claim(1, 1)));
  put(19, {claim(claim_status::confirmed), payment(9, payment_status::confirmed)});
  put(20, {claim(claim_status::expiring)});
  put(21, {claim(claim_status::confirmed), payment(1, payment_status::pending)});
  put(22, {claim(claim_status::released), payment(2, payment_status::confirmed_late)});
  put(23, {claim(claim_status::released), payment(3, payment_status::refund_failed), refund_opened{refund}});
  put(24, {claim(claim_status::released), payment(4, payment_status::refunded)});
  put(25, {entry_joined{sample_entry(1)}});
  put(26, {entry_joined{entry_with(entry_status::admitted)}});
  put(27, {entry_joined{sample_entry(1)},
           entry_moved{entry_status::waiting, entry_with(entry_status::cancelled)}});
  put(28, {claim(claim_status::confirmed), payment(5, payment_status::confirmed)});
  put(29, {claim(claim_status::confirmed),
           payment(6, payment_status::partially_refunded)}); // the rest must still be refunded
  const auto asked_again = [&](std::uint64_t n, timestamp at) {
    auto p = payment(n, payment_status::failed);
    p.row.recheck_at = at;
    return p;
  };
  const auto year_2100 = from_unix_ms(4'102'444'800'000);
  put(30, {claim(claim_status::released), payment(7, payment_status::failed), asked_again(10, year_2100)});
  put(31, {claim(claim_status::released), asked_again(8, from_unix_ms(1))});
}

/// Event 19 has ended, but a customer who paid may be on a block list.
void check_blocks_wake(ledger& store, owner& me) {
  const auto event = *store.peek(aggregate_id{19}).image.event;
  const auto customer = sample_claim(1, 1).customer;
  const auto blocked = [&](tenant_id tenant, const organizer_id& organizer, const customer_id& who,
                           bool includes_ended = true) {
    FQ_COMMITS(
      me.put(accounts_aggregate, {block_stored{{tenant, organizer, who, "", includes_ended, noon}}}));
    const auto now = woken(store);
    FQ_COMMITS(me.put(accounts_aggregate, {block_removed{tenant, organizer, who}}));
    return std::ranges::find(now, 19u) != now.end();
  };
  CAF_CHECK(!blocked(event.tenant, event.organizer, id_of(99, accounts_aggregate)));
  CAF_CHECK(!blocked(event.tenant, id_of(98, accounts_aggregate), customer));
  CAF_CHECK(!blocked(tenant_id{99}, {}, customer));
  CAF_CHECK(blocked(event.tenant, {}, customer));
  CAF_CHECK(!blocked(event.tenant, {}, customer, false));
  if (!event.organizer.is_nil()) CAF_CHECK(blocked(event.tenant, event.organizer, customer));
}

} // namespace

CAF_TEST(a customer sees the own orders at all events page by page) {
  on_every_engine([](ledger& store) {
    auto me = create_sales_of_tenants(store);
    const auto place = [&](std::uint32_t event, std::uint64_t n, std::uint64_t customer) {
      const aggregate_id a{event};
      FQ_COMMITS(
        me.put(a, {claim_opened{sample_claim(n, customer, {})}, order_placed{placed(a, n, customer)}}));
    };
    place(16, 1, 1);
    place(17, 2, 1);
    place(18, 3, 1); // of another tenant
    place(16, 4, 2); // of another customer
    place(17, 5, 3);
    auto slot = sample_claim(6, 1, {});
    slot.live_slot = 1;
    FQ_COMMITS(me.put(aggregate_id{16}, {claim_opened{slot}, order_placed{placed(aggregate_id{16}, 6, 1)}}));
    const auto told = [](std::uint32_t event, std::uint64_t n) {
      const aggregate_id a{event};
      return order_listing{id_of(900, a), "Night " + std::to_string(event), event == 17 ? "KES" : "NGN",
                           placed(a, n, 1)};
    };
    // The event's bits in the id are above the distinguishing bits.
    orders newest_first{told(18, 3), told(17, 2), told(16, 6), told(16, 1)};
    std::ranges::sort(newest_first, std::greater{}, [](const order_listing& o) { return o.order.id; });
    order_filter f{.customer = id_of(1, accounts_aggregate)};
    CAF_CHECK((store.list_orders(f) == newest_first));
    f.limit = 2;
    CAF_CHECK((store.list_orders(f) == orders{newest_first[0], newest_first[1]}));
    f.before = newest_first[1].order.id;
    CAF_CHECK((store.list_orders(f) == orders{newest_first[2], newest_first[3]}));
    f.before = newest_first[3].order.id;
    CAF_CHECK(store.list_orders(f).empty());
    CAF_CHECK(store.list_orders({.customer = id_of(9, accounts_aggregate)}).empty());
    CAF_CHECK(store.list_orders({.customer = f.customer, .limit = 0}).empty());
  });
}

CAF_TEST(dead letters are listed by tenant and organizer with the open ones apart) {
  on_every_engine([](ledger& store) {
    auto me = create_sales_of_tenants(store);
    letters all;
    const auto put = [&](std::uint32_t event, std::uint64_t n,
                         dead_letter_status status = dead_letter_status::open) {
      const aggregate_id a{event};
      FQ_COMMITS(me.put(a, {dead_letter_stored{letter_of(a, n, status)}}));
      all.push_back({a < first_event_aggregate ? event_id{} : id_of(900, a), letter_of(a, n, status)});
    };
    for (std::uint64_t n = 1; n <= 4; ++n) put(16, n);
    put(16, 5, dead_letter_status::retried);
    put(17, 6, dead_letter_status::dismissed);
    put(17, 7);
    put(18, 8); // of another tenant
    put(18, 9, dead_letter_status::dismissed);
    put(number_of(accounts_aggregate), 10); // without an event
    std::ranges::sort(all, std::greater{}, [](const dead_letter_listing& l) { return l.letter.id; });
    const auto expected = [&](auto matches) {
      letters some;
      std::ranges::copy_if(all, std::back_inserter(some), matches);
      return some;
    };
    const auto is_open = [](const dead_letter_listing& l) {
      return l.letter.status == dead_letter_status::open;
    };
    const auto is_arenas = [](const dead_letter_listing& l) {
      return l.event == id_of(900, aggregate_id{18});
    };
    const auto is_adas = [](const dead_letter_listing& l) { return l.event == id_of(900, aggregate_id{16}); };
    const auto open = expected([&](const auto& l) { return !is_arenas(l) && is_open(l); });
    const auto any = expected([&](const auto& l) { return !is_arenas(l); });
    CAF_CHECK_EQUAL(open.size(), 6u);
    CAF_CHECK_EQUAL(any.size(), 8u);
    CAF_CHECK((store.list_dead_letters({}) == open));
    CAF_CHECK((store.list_dead_letters({.is_open = false}) == any));
    for (const std::uint32_t limit : {1, 2, 3, 6, 7}) {
      CAF_CHECK((all_pages(store, {.limit = limit}) == open));
      CAF_CHECK((all_pages(store, {.is_open = false, .limit = limit}) == any));
    }
    CAF_CHECK((store.list_dead_letters({.tenant = arena})
               == expected([&](const auto& l) { return is_arenas(l) && is_open(l); })));
    CAF_CHECK((store.list_dead_letters({.tenant = arena, .is_open = false}) == expected(is_arenas)));
    const auto ada = id_of(1, accounts_aggregate);
    CAF_CHECK((all_pages(store, {.organizer = ada, .limit = 2})
               == expected([&](const auto& l) { return is_adas(l) && is_open(l); })));
    CAF_CHECK((store.list_dead_letters({.organizer = ada, .is_open = false}) == expected(is_adas)));
    CAF_CHECK((store.list_dead_letters({.tenant = arena, .organizer = ada}).size() == 1));
    // the nil organizer does not match all
    CAF_CHECK(store.list_dead_letters({.organizer = organizer_id{}}).empty());
    CAF_CHECK(store.list_dead_letters({.tenant = tenant_id{3}}).empty());
    CAF_CHECK(store.list_dead_letters({.limit = 0}).empty());
  });
}

CAF_TEST(the public listing shows ACTIVE and PAUSED events page by page) {
  on_every_engine([](ledger& store) {
    using enum event_status;
    create_events(store, {draft, active, paused, ended, cancelled, active, active});
    CAF_CHECK((numbers(store.list_events({})) == list{17, 18, 21, 22}));
    CAF_CHECK((numbers(store.list_events(page({}, 2))) == list{17, 18}));
    CAF_CHECK((numbers(store.list_events(page(aggregate_id{18}, 1))) == list{21}));
    CAF_CHECK((numbers(store.list_events(page(aggregate_id{22}, 5))) == list{}));
    CAF_CHECK((numbers(store.list_events(page({}, 0))) == list{}));
    const auto first = store.list_events(page({}, 1)).at(0);
    CAF_CHECK((first.ticket_types == std::vector{sample_type(0, 5), sample_type(1, 6)}));
    auto whole = *store.peek(aggregate_id{17}).image.event;
    CAF_CHECK_EQUAL(std::exchange(whole.facts.description, {}), "One\n*night*");
    CAF_CHECK_EQUAL(std::exchange(whole.facts.ticket_terms, {}), "No glass.");
    CAF_CHECK(!std::exchange(whole.questions, {}).empty());
    CAF_CHECK(first.event == whole);
  });
}

CAF_TEST(an organizer sees all of his events and no other) {
  on_every_engine([](ledger& store) {
    using enum event_status;
    create_events(store, {draft, active, paused, ended, cancelled, active, active});
    const auto ada = id_of(1, accounts_aggregate);
    CAF_CHECK((numbers(store.list_events(page({}, 50, ada))) == list{16, 18, 20, 22}));
    CAF_CHECK((numbers(store.list_events(page(aggregate_id{18}, 1, ada))) == list{20}));
    CAF_CHECK(store.list_events(page({}, 50, id_of(3, accounts_aggregate))).empty());
  });
}

CAF_TEST(what must run without being asked is woken) {
  on_every_engine([](ledger& store) {
    using enum event_status;
    create_events(store, {draft, active, paused, ended, cancelled, ended, ended, ended, ended, ended, ended,
                          ended, cancelled, cancelled, ended, ended});
    owner me(store);
    for (std::uint32_t n = 19; n <= 31; ++n) me.take(aggregate_id{n});
    me.take(accounts_aggregate);
    leave_work(me);
    CAF_CHECK((woken(store) == list{17, 18, 20, 21, 22, 23, 25, 26, 28, 29, 31}));
    FQ_COMMITS(
      me.put(aggregate_id{25}, {entry_moved{entry_status::waiting, entry_with(entry_status::cancelled)}}));
    CAF_CHECK((woken(store) == list{17, 18, 20, 21, 22, 23, 26, 28, 29, 31}));
    check_blocks_wake(store, me);
    CAF_CHECK((woken(store) == list{17, 18, 20, 21, 22, 23, 26, 28, 29, 31}));
  });
}

CAF_TEST(images list rows by key whatever the order they came in) {
  in_every_world([](world& w) {
    for (const std::uint64_t n : {300u, 2u, 77u, 1u}) {
      const auto claim = sample_claim(n, n);
      const auto payment = sample_payment(n, claim);
      FQ_COMMITS(w.put({entry_joined{sample_entry(n)}, claim_opened{claim}, payment_opened{payment},
                        refund_opened{sample_refund(n, payment)},
                        event_ticket_issued{sample_event_ticket(n, claim)}}));
    }
    const auto image = w.image();
    const auto ascending = [](const auto& rows, auto key) {
      const auto before = [&](const auto& a, const auto& b) { return key(a) < key(b); };
      return std::is_sorted(rows.begin(), rows.end(), before);
    };
    CAF_CHECK_EQUAL(image.entries.size(), 4u);
    CAF_CHECK(ascending(image.entries, [](const entry_row& r) { return r.number; }));
    CAF_CHECK(ascending(image.claims, [](const claim_row& r) { return r.id; }));
    CAF_CHECK(ascending(image.payments, [](const payment_row& r) { return r.id; }));
    CAF_CHECK(ascending(image.refunds, [](const refund_row& r) { return r.id; }));
    CAF_CHECK_EQUAL(image.event_tickets.size(), 4u);
    CAF_CHECK(ascending(image.event_tickets, [](const event_ticket_row& r) { return r.id; }));
    CAF_CHECK(w.store.acquire_unleased(sale, never)->image == image);
  });
}

CAF_TEST(pruning forgets the oldest first and makes a receipt possible again) {
  in_every_world([](world& w) {
    const auto young = sample_key(2, noon + seconds{9});
    const receipt_row old_receipt{"sandbox", "evt_1", noon};
    const receipt_row young_receipt{"sandbox", "evt_2", noon + seconds{2}};
    FQ_COMMITS(
      w.me.put(accounts_aggregate, {idempotency_stored{sample_key(1, noon)}, idempotency_stored{young}}));
    FQ_COMMITS(w.put({idempotency_stored{sample_key(3, noon + seconds{1})}, receipt_stored{old_receipt},
                      receipt_stored{young_receipt}}));
    CAF_CHECK_EQUAL(w.store.prune({noon, noon, never, 10}), 0u);
    CAF_CHECK_EQUAL(w.store.prune({noon + seconds{5}, noon + seconds{5}, never, 1}), 1u);
    CAF_CHECK((w.store.peek(accounts_aggregate).image.idempotency == std::vector{young}));
    CAF_CHECK_EQUAL(w.image().idempotency.size(), 1u);
    CAF_CHECK_EQUAL(w.store.prune({noon + seconds{5}, noon + seconds{1}, never, 10}), 2u);
    CAF_CHECK(w.image().idempotency.empty());
    CAF_CHECK((w.image().receipts == std::vector{young_receipt}));
    FQ_COMMITS(w.put({receipt_stored{old_receipt}}));
    FQ_CONFLICTS(w.put({receipt_stored{young_receipt}}));
  });
}

} // namespace reads_test
