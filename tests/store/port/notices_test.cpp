// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: devices, webhook endpoints and deliveries.
#define CAF_SUITE store_notices
#include "tests/store/port/engines.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace notices_test {

using namespace fq;
using namespace fq::test;

namespace {

const tenant_id here{1}, elsewhere{2};
const uuid ada = id_of(1, accounts_aggregate), ben = id_of(2, accounts_aggregate), place = id_of(3, sale);

device_row device(std::uint64_t n, const uuid& holder = ada, channel way = channel::fcm,
                  seconds after = seconds{0}) {
  return {.id = id_of(100 + n),
          .holder = holder,
          .way = way,
          .token = "token-" + std::to_string(n),
          .is_sandbox = n % 2 == 1,
          .registered_at = noon + after,
          .gone_at = never,
          .gone_reason = {},
          .language = language::ar};
}

webhook_endpoint_row endpoint(std::uint64_t n, tenant_id tenant = here) {
  return {.id = id_of(200 + n),
          .tenant = tenant,
          .organizer = n % 2 == 1 ? id_of(7) : organizer_id{},
          .url = "https://hooks.example/" + std::to_string(n),
          .topics = "order.completed queue.expired",
          .secret_no = 2,
          .previous_until = noon + seconds{9},
          .is_enabled = true,
          .contact = "ops@example.org",
          .off_reason = {},
          .created_at = noon,
          .updated_at = noon};
}

delivery_row delivery(std::uint64_t n, const uuid& target, channel way = channel::fcm,
                      seconds due = seconds{0}) {
  return {.target = target,
          .notice = id_of(300 + n),
          .way = way,
          .tenant = here,
          .holder = ada,
          .topic = "order.completed",
          .payload = R"({"a":"ọ"})",
          .created_at = noon,
          .expires_at = noon + seconds{600},
          .state = delivery_state::pending,
          .due_at = noon + due,
          .attempts = 0,
          .status = 0,
          .reason = {},
          .ended_at = never};
}

/// The row as a read returns it.
webhook_endpoint_row kept(webhook_endpoint_row e) {
  e.replaces = never;
  return e;
}

std::vector<uuid> notices_of(const std::vector<due_delivery>& due) {
  std::vector<uuid> ids;
  for (const auto& d : due) ids.push_back(d.row.notice);
  return ids;
}

} // namespace

CAF_TEST(a device is known by its token and its holder has ten at most) {
  on_every_engine([](ledger& store) {
    CAF_CHECK_EQUAL(to_string(store.register_device(device(1))), to_string(id_of(101)));
    auto again = device(1);
    again.id = id_of(999);
    again.registered_at = noon + seconds{5};
    CAF_CHECK_EQUAL(to_string(store.register_device(again)), to_string(id_of(101)));
    CAF_CHECK_EQUAL(store.list_devices(ada).size(), 1u);
    CAF_CHECK(store.list_devices(ada)[0].registered_at == noon + seconds{5});
    for (std::uint64_t n = 2; n <= 12; ++n)
      store.register_device(device(n, ada, channel::fcm, seconds{static_cast<std::int64_t>(10 * n)}));
    const auto mine = store.list_devices(ada);
    CAF_CHECK_EQUAL(mine.size(), devices_per_holder_max);
    CAF_CHECK(mine.front() == device(12, ada, channel::fcm, seconds{120}));
    CAF_CHECK(mine.back() == device(3, ada, channel::fcm, seconds{30}));
    CAF_CHECK(!store.remove_device(ben, id_of(112))); // of another customer
    CAF_CHECK(store.remove_device(ada, id_of(112)));
    CAF_CHECK(!store.remove_device(ada, id_of(112)));
    CAF_CHECK_EQUAL(store.list_devices(ada).size(), devices_per_holder_max - 1);
  });
}

CAF_TEST(a token that is gone is gone for all who registered it before) {
  on_every_engine([](ledger& store) {
    auto shared = device(2, ben);
    shared.token = "token-1";
    shared.registered_at = noon + seconds{60};
    store.register_device(device(1));
    store.register_device(shared);
    store.end_device(id_of(101), noon + seconds{30}, "Unregistered", noon + seconds{90});
    CAF_CHECK(store.list_devices(ada).empty());
    CAF_CHECK_EQUAL(store.list_devices(ben).size(), 1u); // registered again later
    store.end_device(id_of(101), noon + seconds{60}, "Unregistered", noon + seconds{91});
    CAF_CHECK(store.list_devices(ben).empty());
    store.end_device(id_of(555), noon + seconds{60}, "Unregistered", noon + seconds{91}); // unknown device
    store.register_device(device(1, ada, channel::fcm, seconds{100}));
    CAF_CHECK_EQUAL(store.list_devices(ada).size(), 1u); // active again
  });
}

CAF_TEST(the audience are the holders devices and the tenants endpoints) {
  on_every_engine([](ledger& store) {
    store.register_device(device(1));
    store.register_device(device(2, ben, channel::apns));
    store.register_device(device(3, place, channel::ntfy));
    CAF_CHECK(store.store_endpoint(endpoint(1)));
    CAF_CHECK(store.store_endpoint(endpoint(2)));
    CAF_CHECK(store.store_endpoint(endpoint(3, elsewhere)));
    auto off = endpoint(2);
    off.is_enabled = false;
    off.off_reason = "owner";
    mark_changed(off, noon);
    CAF_CHECK(store.store_endpoint(off));
    const notice_audience expected{{device(1), device(3, place, channel::ntfy)}, {endpoint(1)}};
    CAF_CHECK(store.audience({.holders = {ada, place}, .tenants = {here}}) == expected);
    CAF_CHECK(store.audience({}) == notice_audience{});
    CAF_CHECK((store.list_endpoints(here) == std::vector{endpoint(1), kept(off)}));
    CAF_CHECK(!store.remove_endpoint(here, endpoint(3).id));
    CAF_CHECK(store.remove_endpoint(elsewhere, endpoint(3).id));
    CAF_CHECK(store.list_endpoints(elsewhere).empty());
  });
}

CAF_TEST(a tenant has fifty endpoints at most and may still change them) {
  on_every_engine([](ledger& store) {
    for (std::uint64_t n = 0; n < endpoints_per_tenant_max; ++n) {
      auto one = endpoint(n);
      if (!one.organizer.is_nil()) one.organizer = id_of(700 + n);
      CAF_CHECK(store.store_endpoint(one));
    }
    CAF_CHECK(!store.store_endpoint(endpoint(60)));
    CAF_CHECK(!store.store_endpoint(endpoint(61))); // an organizer without endpoints
    CAF_CHECK(store.store_endpoint(endpoint(60, elsewhere)));
    auto changed = endpoint(3);
    changed.url = "https://elsewhere.example/";
    mark_changed(changed, noon);
    CAF_CHECK(store.store_endpoint(changed));
    CAF_CHECK_EQUAL(store.list_endpoints(here).size(), endpoints_per_tenant_max);
  });
}

CAF_TEST(an organizer has ten endpoints at most and leaves the others theirs) {
  on_every_engine([](ledger& store) {
    const auto its = [](std::uint64_t n, organizer_id whose, tenant_id tenant = here) {
      auto one = endpoint(n, tenant);
      one.organizer = whose;
      return one;
    };
    for (std::uint64_t n = 0; n < endpoints_per_organizer_max; ++n)
      CAF_CHECK(store.store_endpoint(its(n, id_of(7))));
    CAF_CHECK(!store.store_endpoint(its(20, id_of(7))));
    CAF_CHECK(store.store_endpoint(its(3, id_of(7)))); // repeated
    auto changed = its(4, id_of(7));
    mark_changed(changed, noon);
    CAF_CHECK(store.store_endpoint(changed));
    CAF_CHECK(store.store_endpoint(its(21, id_of(8))));
    CAF_CHECK(store.store_endpoint(its(22, id_of(7), elsewhere)));
    for (std::uint64_t n = 30; n < 45; ++n) CAF_CHECK(store.store_endpoint(its(n, {}))); // of the tenant
    CAF_CHECK(store.remove_endpoint(here, changed.id));
    CAF_CHECK(store.store_endpoint(its(20, id_of(7))));
  });
}

CAF_TEST(a change of an endpoint is written only over the version it was made from) {
  on_every_engine([](ledger& store) {
    CAF_CHECK(store.store_endpoint(endpoint(1)));
    CAF_CHECK(store.store_endpoint(endpoint(1))); // repeated
    auto first = endpoint(1), second = endpoint(1);
    first.url = "https://first.example/";
    second.secret_no = 3;
    mark_changed(first, noon);
    mark_changed(second, noon); // both read the same version, in the same millisecond
    CAF_CHECK(store.store_endpoint(first));
    CAF_CHECK(!store.store_endpoint(second));
    CAF_CHECK((store.list_endpoints(here) == std::vector{kept(first)}));
    CAF_CHECK(!store.store_endpoint(endpoint(1))); // exists already

    auto later = kept(first), elsewheres = kept(first);
    // by a clock that is behind
    CAF_CHECK(store.disable_endpoint(first.id, "gone", noon + seconds{30}, noon));
    mark_changed(later, noon + seconds{31});
    CAF_CHECK(!store.store_endpoint(later)); // would enable it without knowing that it was disabled
    const auto off = store.list_endpoints(here).at(0);
    CAF_CHECK(!off.is_enabled);
    CAF_CHECK(off.updated_at > first.updated_at);

    elsewheres.tenant = elsewhere;
    elsewheres.replaces = off.updated_at;
    CAF_CHECK(!store.store_endpoint(elsewheres));
    auto late = off;
    mark_changed(late, noon + seconds{40});
    CAF_CHECK(store.remove_endpoint(here, off.id));
    CAF_CHECK(!store.store_endpoint(late)); // it stays removed
    CAF_CHECK(store.list_endpoints(here).empty());
  });
}

CAF_TEST(an endpoint that was changed since is not turned off for what was before) {
  on_every_engine([](ledger& store) {
    auto mended = endpoint(1);
    store.store_endpoint(mended);
    mended.url = "https://mended.example/";
    mark_changed(mended, noon + seconds{10});
    CAF_CHECK(store.store_endpoint(mended));
    CAF_CHECK(!store.disable_endpoint(mended.id, "gone", noon + seconds{9}, noon + seconds{11}));
    CAF_CHECK(store.disable_endpoint(mended.id, "gone", noon + seconds{10}, noon + seconds{11}));
  });
}

CAF_TEST(a delivery is taken when it is due and by nobody else for a while) {
  on_every_engine([](ledger& store) {
    store.register_device(device(1));
    store.store_endpoint(endpoint(1));
    const std::vector rows{delivery(1, id_of(101)), delivery(2, id_of(101), channel::fcm, seconds{-5}),
                           delivery(3, id_of(101), channel::fcm, seconds{50}),
                           delivery(4, endpoint(1).id, channel::webhook), delivery(5, id_of(555))};
    store.store_deliveries(rows);
    auto changed = rows[0];
    changed.payload = "{}";
    store.store_deliveries(std::vector{changed}); // known already
    const auto first = store.take_deliveries({channel::fcm, 2, seconds{60}}, noon);
    CAF_REQUIRE_EQUAL(first.size(), 2u);
    CAF_CHECK(first[0] == (due_delivery{rows[1], device(1), std::nullopt}));
    CAF_CHECK(first[1] == (due_delivery{rows[0], device(1), std::nullopt}));
    const auto second = store.take_deliveries({channel::fcm, 9, seconds{60}}, noon);
    CAF_REQUIRE_EQUAL(second.size(), 1u); // its device does not exist
    CAF_CHECK(second[0] == (due_delivery{rows[4], std::nullopt, std::nullopt}));
    CAF_CHECK(store.take_deliveries({channel::fcm, 9, seconds{60}}, noon + seconds{49}).empty());
    CAF_CHECK((notices_of(store.take_deliveries({channel::fcm, 9, seconds{60}}, noon + seconds{59}))
               == std::vector{rows[2].notice}));
    CAF_CHECK_EQUAL(store.take_deliveries({channel::fcm, 9, seconds{60}}, noon + seconds{60}).size(),
                    3u); // not settled
    const auto hooks = store.take_deliveries({channel::webhook, 9, seconds{60}}, noon);
    CAF_REQUIRE_EQUAL(hooks.size(), 1u);
    CAF_CHECK(hooks[0] == (due_delivery{rows[3], std::nullopt, endpoint(1)}));
  });
}

CAF_TEST(targets that have their share are left out) {
  on_every_engine([](ledger& store) {
    std::vector<delivery_row> rows;
    for (std::uint64_t n = 1; n <= 6; ++n) rows.push_back(delivery(n, id_of(n % 2 == 1 ? 101 : 102)));
    store.store_deliveries(rows);
    const auto others = store.take_deliveries(
      {channel::fcm, 9, seconds{60}, {}, 9, 1, {id_of(101), id_of(102)}, {id_of(101), id_of(777)}}, noon);
    CAF_CHECK((notices_of(others) == std::vector{rows[1].notice, rows[3].notice, rows[5].notice}));
    CAF_CHECK_EQUAL(store.take_deliveries({channel::fcm, 9, seconds{60}}, noon).size(), 3u);
  });
}

CAF_TEST(of each target no more than its part is taken however many wait) {
  on_every_engine([](ledger& store) {
    std::vector<delivery_row> rows;
    for (std::uint64_t n = 1; n <= 9; ++n)
      rows.push_back(delivery(n, id_of(n <= 5 ? 101 : n <= 8 ? 102 : 103)));
    store.store_deliveries(rows);
    const due_filter filter{channel::fcm, 9, seconds{60}, {}, 3, 1, {id_of(102)}, {id_of(104)}};
    const auto some = notices_of(store.take_deliveries(filter, noon));
    CAF_CHECK((std::set<uuid>(some.begin(), some.end())
               == std::set{rows[0].notice, rows[5].notice, rows[6].notice, rows[7].notice, rows[8].notice}));
    // reserved rows are hidden, the others are available
    CAF_CHECK((notices_of(store.take_deliveries(filter, noon)) == std::vector{rows[1].notice}));
    CAF_CHECK((notices_of(store.take_deliveries({channel::fcm, 1, seconds{60}, {}, 3, 0, {id_of(101)}}, noon))
               == std::vector{rows[2].notice}));
    CAF_CHECK((notices_of(store.take_deliveries({channel::fcm, 9, seconds{60}, {}, 3, 0, {id_of(101)}},
                                                noon + seconds{60}))
               == std::vector{rows[3].notice, rows[4].notice, rows[0].notice}));
    CAF_CHECK(store.take_deliveries({channel::webhook, 9, seconds{60}, {}, 3}, noon).empty());
  });
}

CAF_TEST(tenants that have their share are left out) {
  on_every_engine([](ledger& store) {
    std::vector<delivery_row> rows;
    for (std::uint64_t n = 1; n <= 6; ++n) rows.push_back(delivery(n, id_of(100 + n)));
    for (const auto i : {1u, 3u}) rows[i].tenant = elsewhere;
    store.store_deliveries(rows);
    const auto others = store.take_deliveries(
      {channel::fcm, 9, seconds{60}, {here, tenant_id{77}}, 9, 1, {}, {id_of(106)}}, noon);
    CAF_CHECK((notices_of(others) == std::vector{rows[1].notice, rows[3].notice}));
    CAF_CHECK_EQUAL(store.take_deliveries({channel::fcm, 9, seconds{60}}, noon).size(), 4u);
  });
}

CAF_TEST(what came of a delivery is written once and listed) {
  on_every_engine([](ledger& store) {
    auto a = delivery(1, id_of(101)), b = delivery(2, id_of(101)), c = delivery(2, id_of(102)),
         d = delivery(4, id_of(103), channel::webhook);
    d.holder = {};
    store.store_deliveries(std::vector{a, b, c, d});
    a.state = delivery_state::delivered;
    a.attempts = 1;
    a.status = 200;
    a.ended_at = noon + seconds{1};
    b.due_at = noon + seconds{30};
    b.attempts = 1;
    b.reason = "UNAVAILABLE";
    b.status = 503;
    store.settle_deliveries(std::vector{a, b});
    auto late = a;
    late.state = delivery_state::failed;
    store.settle_deliveries(std::vector{late}); // it has ended
    CAF_CHECK((store.list_deliveries({.tenant = here}) == std::vector{d, c, b, a}));
    CAF_CHECK((store.list_deliveries({.tenant = here, .limit = 2}) == std::vector{d, c}));
    CAF_CHECK(
      (store.list_deliveries({.tenant = here, .before = c.notice, .before_target = c.target, .limit = 9})
       == std::vector{b, a}));
    CAF_CHECK((store.list_deliveries({.target = id_of(101)}) == std::vector{b, a}));
    CAF_CHECK((store.list_deliveries({.target = id_of(101), .before = b.notice, .before_target = b.target})
               == std::vector{a}));
    CAF_CHECK((store.list_deliveries({.holder = ada}) == std::vector{c, b, a}));
    CAF_CHECK(
      (store.list_deliveries({.holder = ada, .before = c.notice, .before_target = c.target, .limit = 1})
       == std::vector{b}));
    CAF_CHECK(store.list_deliveries({.tenant = elsewhere}).empty());
    CAF_CHECK(store.list_deliveries({}).empty()); // without a tenant
    CAF_CHECK(!store.replay_delivery(here, b.target, b.notice, noon)); // it has not ended
    CAF_CHECK(!store.replay_delivery(elsewhere, a.target, a.notice, noon));
    CAF_CHECK(store.replay_delivery(here, a.target, a.notice, noon + seconds{70}));
    const auto again = store.take_deliveries({channel::fcm, 9, seconds{60}}, noon + seconds{70});
    CAF_CHECK_EQUAL(again.size(), 3u);
    CAF_CHECK_EQUAL(std::ranges::count(notices_of(again), a.notice), 1);
    for (const auto& one : again)
      if (one.row.notice == a.notice)
        CAF_CHECK(one.row.created_at == a.created_at && one.row.expires_at > noon + seconds{70});
  });
}

CAF_TEST(a part of a log is the first rows of that log and of nothing else than whose log it is) {
  on_every_engine([](ledger& store) {
    // Only the most specific member of the filter applies (target, holder, tenant): if a second one skipped
    // rows, `limit` would not bound the scan.
    auto mine = delivery(1, id_of(101)), theirs = delivery(2, id_of(101)), others = delivery(3, id_of(102));
    theirs.tenant = elsewhere;
    theirs.holder = ben;
    store.store_deliveries(std::vector{mine, theirs, others});
    CAF_CHECK((store.list_deliveries({.target = id_of(101), .holder = ada, .tenant = here, .limit = 1})
               == std::vector{theirs}));
    CAF_CHECK(
      (store.list_deliveries({.holder = ada, .tenant = elsewhere, .limit = 1}) == std::vector{others}));
    CAF_CHECK((store.list_deliveries({.tenant = here}) == std::vector{others, mine}));
  });
}

CAF_TEST(an endpoint that takes nothing is turned off once) {
  on_every_engine([](ledger& store) {
    store.store_endpoint(endpoint(1));
    auto took = delivery(1, endpoint(1).id, channel::webhook);
    store.store_deliveries(std::vector{took});
    took.state = delivery_state::delivered;
    took.ended_at = noon + seconds{10};
    store.settle_deliveries(std::vector{took});
    CAF_CHECK(!store.disable_endpoint(endpoint(1).id, "failing", noon,
                                      noon + seconds{20})); // a later delivery succeeded
    CAF_CHECK(store.disable_endpoint(endpoint(1).id, "failing", noon + seconds{10}, noon + seconds{20}));
    CAF_CHECK(!store.disable_endpoint(endpoint(1).id, "gone", noon + seconds{10}, noon + seconds{21}));
    store.store_endpoint(endpoint(2));
    took = delivery(2, endpoint(2).id, channel::webhook);
    auto failed = delivery(3, took.target, channel::webhook),
         others = delivery(4, endpoint(1).id, channel::webhook);
    store.store_deliveries(std::vector{took, failed, others});
    for (auto* one : {&took, &failed, &others}) {
      one->state = one == &failed ? delivery_state::failed : delivery_state::delivered;
      one->ended_at = noon + seconds{10};
    }
    store.settle_deliveries(std::vector{took, failed, others});
    for (const auto at :
         {noon + seconds{20}, noon + seconds{3'000'000}}) { // a moment later, and a month later
      CAF_CHECK(!store.disable_endpoint(took.target, "failing", noon + seconds{9}, at));
      auto again = store.list_endpoints(here).at(1);
      CAF_CHECK(
        store.disable_endpoint(took.target, "failing", std::max(again.updated_at, noon + seconds{10}), at));
      again = store.list_endpoints(here).at(1);
      again.is_enabled = true;
      again.replaces = again.updated_at;
      again.updated_at = noon + seconds{1};
      CAF_CHECK(store.store_endpoint(again));
    }
    const auto now = store.list_endpoints(here).at(0);
    CAF_CHECK(!now.is_enabled);
    CAF_CHECK_EQUAL(now.off_reason, "failing");
    CAF_CHECK(now.updated_at == noon + seconds{20});
  });
}

CAF_TEST(a crowd is everybody with a place or an order) {
  on_every_engine([](ledger& store) {
    world w(store);
    auto waits = sample_entry(1), expired = sample_entry(2);
    waits.subject = ada;
    expired.subject = ben;
    FQ_COMMITS(w.put({entry_joined{waits}, entry_joined{expired}}));
    auto over = expired;
    over.status = entry_status::expired;
    FQ_COMMITS(w.put({entry_moved{entry_status::waiting, over}}));
    store.register_device(device(1, ada));
    store.register_device(device(2, ben));
    store.register_device(device(3, place)); // with a ticket token of this sale
    store.register_device(device(4, id_of(9, accounts_aggregate)));
    CAF_CHECK((store.crowd({sale, {}, 9}) == std::vector{device(1, ada), device(3, place)}));
    CAF_CHECK((store.crowd({sale, {}, 1}) == std::vector{device(1, ada)}));
    CAF_CHECK((store.crowd({sale, device(1).token, 9}) == std::vector{device(3, place)}));
    store.end_device(id_of(101), noon + seconds{99}, "gone", noon);
    CAF_CHECK((store.crowd({sale, {}, 9}) == std::vector{device(3, place)}));
  });
}

CAF_TEST(a push reaches the receiver of a ticket only after accepting and only while holding it) {
  on_every_engine([](ledger& store) {
    world w(store);
    const auto claim = sample_claim(1, 1);
    auto ticket = sample_event_ticket(1, claim);
    const auto first = sample_transfer(1, ticket, ben), second = sample_transfer(2, ticket, ada);
    FQ_COMMITS(w.put({claim_opened{claim}, event_ticket_issued{ticket}, transfer_offered{first}}));
    store.register_device(device(1, ada));
    store.register_device(device(2, ben));
    CAF_CHECK(store.crowd({sale, {}, 9}).empty());
    const auto accept = [&](transfer_row offer) {
      const auto from = ticket.status;
      ticket.status = event_ticket_status::transferred;
      ticket.holder = offer.receiver;
      ++ticket.generation;
      offer.status = transfer_status::accepted;
      FQ_COMMITS(w.put({event_ticket_moved{from, ticket}, transfer_moved{transfer_status::offered, offer}}));
    };
    accept(first);
    CAF_CHECK((store.crowd({sale, {}, 9}) == std::vector{device(2, ben)}));
    FQ_COMMITS(w.put({transfer_offered{second}}));
    CAF_CHECK((store.crowd({sale, {}, 9}) == std::vector{device(2, ben)}));
    accept(second);
    CAF_CHECK((store.crowd({sale, {}, 9}) == std::vector{device(1, ada)}));
    ticket.updated_at = noon + seconds{1};
    const auto from = std::exchange(ticket.status, event_ticket_status::cancelled); // its money is back
    FQ_COMMITS(w.put({event_ticket_moved{from, ticket}}));
    CAF_CHECK(store.crowd({sale, {}, 9, noon + seconds{2}}).empty()); // before the event was cancelled
    CAF_CHECK((store.crowd({sale, {}, 9, noon + seconds{1}}) == std::vector{device(1, ada)}));
  });
}

CAF_TEST(a phone that several of a crowd registered is in one part of it) {
  on_every_engine([](ledger& store) {
    world w(store);
    auto waits = sample_entry(1);
    waits.subject = ada;
    FQ_COMMITS(w.put({entry_joined{waits}}));
    auto first = device(5, place), again = device(4, ada);
    first.token = "Z"; // sorts first by bytes
    again.token = device(2).token;
    for (const auto& d : {device(1, ada), device(2, place), again, first}) store.register_device(d);
    CAF_CHECK((store.crowd({sale, {}, 9}) == std::vector{first, device(1, ada), device(2, place), again}));
    CAF_CHECK((store.crowd({sale, {}, 3}) == std::vector{first, device(1, ada), device(2, place)}));
    CAF_CHECK(store.crowd({sale, device(2).token, 9}).empty());
  });
}

CAF_TEST(old ends and forgotten devices are pruned and what is pending stays) {
  on_every_engine([](ledger& store) {
    auto ended = delivery(1, id_of(101)), pending = delivery(2, id_of(101));
    store.store_deliveries(std::vector{ended, pending});
    ended.state = delivery_state::expired;
    ended.ended_at = noon;
    store.settle_deliveries(std::vector{ended});
    store.register_device(device(1));
    store.register_device(device(2, ben, channel::fcm, seconds{60}));
    const auto bounds = [](timestamp before) {
      return prune_bounds{never, never, never, 100, before, before};
    };
    CAF_CHECK_EQUAL(store.prune(bounds(noon)), 0u);
    CAF_CHECK_EQUAL(store.prune(bounds(noon + seconds{1})), 2u);
    CAF_CHECK((store.list_deliveries({.tenant = here}) == std::vector{pending}));
    CAF_CHECK(store.list_devices(ada).empty());
    CAF_CHECK_EQUAL(store.list_devices(ben).size(), 1u);
  });
}

} // namespace notices_test
