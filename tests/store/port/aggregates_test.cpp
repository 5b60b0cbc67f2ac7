// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: aggregates, epochs, events, ticket types, accounts.
#define CAF_SUITE store_aggregates
#include "tests/store/port/engines.hpp"

namespace aggregates_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(the global aggregates exist from the first migration) {
  on_every_engine([](ledger& store) {
    for (const auto aggregate : {accounts_aggregate, catalog_aggregate}) {
      const auto taken = store.acquire_unleased(aggregate, never);
      CAF_REQUIRE(taken.has_value());
      CAF_CHECK_EQUAL(taken->epoch, 1u);
      CAF_CHECK_EQUAL(taken->applied_seq, 0u);
      CAF_CHECK(taken->committed_at == never);
      auto image = taken->image;
      if (aggregate == accounts_aggregate) {
        CAF_CHECK((std::exchange(image.tenants, {})
                   == std::vector{tenant_row{default_tenant, "default", {}, {}, never}}));
      }
      CAF_CHECK(image == aggregate_image{});
    }
    CAF_CHECK(!store.acquire_unleased(sale, never));
    CAF_CHECK(store.peek(sale) == aggregate_snapshot{});
    CAF_CHECK(store.history(sale).empty());
    CAF_CHECK_EQUAL(number_of(store.last_aggregate()), number_of(first_event_aggregate) - 1);
  });
}

CAF_TEST(a created event is an aggregate of its own that its first owner takes at epoch 1) {
  in_every_world([](world& w) {
    CAF_CHECK_EQUAL(w.me.epoch(sale), 1u);
    CAF_CHECK_EQUAL(w.me.seq(sale), 0u);
    const auto taken = w.me.take(sale);
    CAF_CHECK_EQUAL(taken.epoch, 2u);
    CAF_CHECK(taken.committed_at == noon);
    CAF_CHECK(taken.image.event == sample_event());
    CAF_CHECK((taken.image.ticket_types == std::vector{sample_type(0, 10), sample_type(1, 5)}));
    CAF_CHECK(w.store.last_aggregate() == sale);
    const auto history = w.store.history(sale);
    CAF_REQUIRE_EQUAL(history.size(), 1u);
    CAF_CHECK((history[0] == history_row{0, "event", to_string(sample_event().id), "", "DRAFT", noon}));
    CAF_CHECK(w.store.history(catalog_aggregate).empty());
  });
}

CAF_TEST(creation is refused for a number that is taken or reserved and for stock that is not free) {
  in_every_world([](world& w) {
    const auto create = [&](event_row e, std::vector<ticket_type_row> types) {
      return w.me.put(catalog_aggregate, {event_created{std::move(e), std::move(types)}});
    };
    FQ_CONFLICTS(create(sample_event(), {}));
    FQ_CONFLICTS(create(sample_event(aggregate_id{15}), {}));
    FQ_CONFLICTS(create(sample_event(accounts_aggregate), {}));
    auto held = sample_type(0, 5);
    held.held = 1;
    FQ_CONFLICTS(create(sample_event(other_sale), {held}));
    auto sold = sample_type(0, 5);
    sold.sold = 1;
    FQ_CONFLICTS(create(sample_event(other_sale), {sold}));
    FQ_CONFLICTS(create(sample_event(other_sale), {sample_type(0, 5), sample_type(0, 6)}));
    FQ_CONFLICTS(create(sample_event(other_sale), {sample_type(0, -1)}));
    auto gift = sample_type(0, 1);
    gift.price = -1;
    FQ_CONFLICTS(create(sample_event(other_sale), {gift}));
    CAF_CHECK(!w.store.acquire_unleased(other_sale, never));
    CAF_CHECK(w.store.last_aggregate() == sale);
    FQ_COMMITS(create(sample_event(other_sale), {sample_type(0, 5, other_sale)}));
    CAF_CHECK(w.store.last_aggregate() == other_sale);
  });
}

CAF_TEST(an event changes as a whole from the status it has) {
  in_every_world([](world& w) {
    auto e = sample_event();
    e.status = event_status::active;
    e.name = "Renamed";
    e.currency = "EUR";
    e.tenant = tenant_id{1};
    e.queue = {admission_policy::rate, 1, 2, 3, milliseconds{4}, 500, milliseconds{6}, milliseconds{7},
               milliseconds{8}};
    e.claim_ttl = milliseconds{9};
    e.claims_per_customer = 8;
    e.queue_opens_at = noon + seconds{1};
    e.sale_start = noon + seconds{2};
    e.sale_end = noon + seconds{3};
    e.facts = {noon + seconds{6}, noon + seconds{7}, noon + seconds{5}, "Africa/Lagos",        "The Arena",
               "Main Street 1",   -90'000'000,       180'000'000,       "# Tonight\n\n* one\n"};
    e.updated_at = noon + seconds{4};
    w.me.now = noon + seconds{5};
    FQ_CONFLICTS(w.put({event_changed{event_status::active, e}}));
    FQ_COMMITS(w.put({event_changed{event_status::draft, e}}));
    CAF_CHECK(w.image().event == e);
    FQ_CONFLICTS(w.put({event_changed{event_status::draft, e}}));
    FQ_COMMITS(w.put({event_changed{event_status::active, e}}));
    auto stranger = e;
    stranger.id = id_of(1);
    FQ_CONFLICTS(w.put({event_changed{event_status::active, stranger}}));
    stranger = e;
    stranger.aggregate = other_sale;
    FQ_CONFLICTS(w.put({event_changed{event_status::active, stranger}}));
    const auto history = w.store.history(sale);
    CAF_REQUIRE_EQUAL(history.size(), 2u);
    CAF_CHECK((history[1] == history_row{1, "event", to_string(e.id), "DRAFT", "ACTIVE", noon + seconds{5}}));
  });
}

CAF_TEST(ticket types are added and changed but never lose what is held or sold) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({ticket_type_added{sample_type(7, 3)}}));
    FQ_CONFLICTS(w.put({ticket_type_added{sample_type(7, 3)}}));
    auto held = sample_type(8, 3);
    held.held = 1;
    FQ_CONFLICTS(w.put({ticket_type_added{held}}));
    FQ_COMMITS(w.put({stock_moved{0, 4, 0}, stock_moved{0, -1, 1}}));
    auto changed = sample_type(0, 4);
    changed.name = "Seated";
    changed.price = 0;
    changed.max_per_order = 1;
    changed.on_sale = false;
    changed.description = "Near the stage.";
    changed.held = 99; // ignored, as is the id
    changed.id = id_of(1);
    FQ_COMMITS(w.put({ticket_type_changed{changed}}));
    ticket_type_row expected{0, id_of(800), "Seated", 0, 4, 3, 1, 1, false};
    expected.description = "Near the stage.";
    CAF_CHECK(w.image().ticket_types.at(0) == expected);
    changed.total = 3;
    FQ_CONFLICTS(w.put({ticket_type_changed{changed}}));
    changed.total = 4;
    changed.price = -1;
    FQ_CONFLICTS(w.put({ticket_type_changed{changed}}));
    FQ_CONFLICTS(w.put({ticket_type_changed{sample_type(5, 10)}}));
    CAF_CHECK(w.image().ticket_types.at(0) == expected);
    CAF_CHECK_EQUAL(w.image().ticket_types.size(), 3u);
  });
}

CAF_TEST(an aggregate without an event has no ticket types) {
  in_every_world([](world& w) {
    FQ_CONFLICTS(w.me.put(catalog_aggregate, {ticket_type_added{sample_type(0, 1)}}));
    const auto event = sample_event(catalog_aggregate);
    FQ_CONFLICTS(w.me.put(catalog_aggregate, {event_changed{event_status::draft, event}}));
  });
}

CAF_TEST(organizers and customers are replaced by id and keep their address to themselves) {
  in_every_world([](world& w) {
    const auto put = [&](changes c) { return w.me.put(accounts_aggregate, std::move(c)); };
    organizer_row o{id_of(1), default_tenant, "ada@example.org", "hash", noon};
    customer_row c{id_of(2), default_tenant, "bob@example.org", noon, {}, language::es};
    FQ_COMMITS(put({organizer_stored{o}, customer_stored{c}}));
    auto thief = o;
    thief.id = id_of(3);
    FQ_CONFLICTS(put({organizer_stored{thief}}));
    auto twin = c;
    twin.id = id_of(4);
    FQ_CONFLICTS(put({customer_stored{twin}}));
    o.password_hash = "other hash";
    o.email = "ada@example.com";
    c.created_at = noon + seconds{1};
    FQ_COMMITS(put({organizer_stored{o}, customer_stored{c}}));
    FQ_COMMITS(put({organizer_stored{thief}})); // the address is free again
    const auto image = w.store.peek(accounts_aggregate).image;
    CAF_CHECK((image.organizers == std::vector{o, thief}));
    CAF_CHECK((image.customers == std::vector{c}));
  });
}

CAF_TEST(there is one code a handle and removing none is fine) {
  in_every_world([](world& w) {
    const auto put = [&](changes c) { return w.me.put(accounts_aggregate, std::move(c)); };
    const otp_row first{"h1", "ada@example.org", id_of(7), "c0de", noon, 0};
    const otp_row second{"h1", "ada@example.org", id_of(8), "f00d", noon + seconds{5}, 2};
    const otp_row twin{"h2", "ada@example.org", id_of(7), "c0de", noon, 0};
    const otp_row other{"", "", {}, "", never, 0};
    FQ_COMMITS(put({otp_stored{first}, otp_stored{second}, otp_stored{twin}, otp_stored{other}}));
    CAF_CHECK((w.store.peek(accounts_aggregate).image.otps == std::vector{other, second, twin}));
    FQ_COMMITS(put({otp_removed{"h1"}, otp_removed{"nothing"}}));
    CAF_CHECK((w.store.peek(accounts_aggregate).image.otps == std::vector{other, twin}));
  });
}

CAF_TEST(a removed organizer frees its address and ended sessions are in the directory) {
  in_every_world([](world& w) {
    const auto put = [&](changes c) { return w.me.put(accounts_aggregate, std::move(c)); };
    const organizer_row o{id_of(1), default_tenant, "ada@example.org", "hash", noon, noon + seconds{1}};
    auto heir = o;
    heir.id = id_of(3);
    organizer_session_row open{id_of(5), o.id, "agent", noon, noon + seconds{9}, never}, ended = open;
    ended.id = id_of(6);
    ended.ended_at = noon + seconds{2};
    FQ_COMMITS(put({organizer_stored{o}, organizer_session_stored{open}, organizer_session_stored{ended}}));
    const auto image = w.store.peek(accounts_aggregate).image;
    CAF_CHECK((image.organizer_sessions == std::vector{open, ended}));
    CAF_CHECK((w.store.directory().ended_sessions == std::vector{ended.id}));
    CAF_CHECK((w.store.directory().organizers
               == std::vector{organizer_access{o.id, default_tenant, o.tokens_not_before}}));
    FQ_COMMITS(put({organizer_removed{o.id}, organizer_stored{heir}, organizer_session_removed{ended.id},
                    organizer_session_removed{id_of(99)}}));
    CAF_CHECK((w.store.peek(accounts_aggregate).image.organizers == std::vector{heir}));
    CAF_CHECK(w.store.directory().ended_sessions.empty());
    FQ_CONFLICTS(put({organizer_stored{o}, organizer_removed{heir.id}}));
    FQ_COMMITS(put({organizer_removed{heir.id}, organizer_removed{heir.id}}));
  });
}

} // namespace aggregates_test
