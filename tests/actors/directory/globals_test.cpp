// SPDX-License-Identifier: Apache-2.0
// Accounts and catalog: log-in, one-time passwords, creation and listing of events, after commit and across
// reloads.
#define CAF_SUITE globals
#include "tests/actors/directory/globals_fixture.hpp"

#include <set>

namespace globals_test {

using namespace fq;
using namespace fq::test;

CAF_TEST_FIXTURE_SCOPE(accounts_tests, globals_fixture)

CAF_TEST(an organizer is added after commit and logs in with the right password only) {
  auto adding = ask<person_reply>(people, add_organizer{"o@example.com", "secret", false});
  run_without(worker);
  CAF_CHECK(adding->open());
  run();
  CAF_REQUIRE(adding->ok);
  CAF_CHECK(person(log_in{"o@example.com", "secret"}).person == adding->value.person);
  CAF_CHECK(person(log_in{"o@example.com", "wrong"}).no.why == reason::invalid_credentials);
  CAF_CHECK(person(log_in{"x@example.com", "secret"}).no.why == reason::invalid_credentials);
  CAF_CHECK(person(add_organizer{"o@example.com", "other", false}).no.why == reason::email_taken);
  CAF_CHECK(person(add_organizer{"o@example.com", "other", true}).person == adding->value.person);
  CAF_CHECK(!person(log_in{"o@example.com", "other"}).no);
  reload(accounts_aggregate);
  CAF_CHECK(!person(log_in{"o@example.com", "other"}).no);
}

CAF_TEST(a request during the load waits for it and one after a failed load is refused at once) {
  auto begun = keep(sys.spawn(accounts, static_cast<const accounts_services*>(&services)));
  auto early = ask<person_reply>(begun, log_in{"x@example.com", "secret"});
  run_without(worker);
  CAF_CHECK(early->open());
  run();
  CAF_REQUIRE(early->ok);
  CAF_CHECK(early->value.no.why == reason::invalid_credentials);
  kill(begun);

  acquire_failures = 1;
  auto away = keep(sys.spawn(accounts, static_cast<const accounts_services*>(&services)));
  auto first = ask<person_reply>(away, log_in{"x@example.com", "secret"});
  run();
  CAF_CHECK(first->unavailable());
  auto second = ask<person_reply>(away, log_in{"x@example.com", "secret"});
  run_without(worker);
  CAF_CHECK(second->unavailable());
  kill(away);
}

CAF_TEST(after two loads at once the owner serves under the epoch of the later one) {
  caf::anon_send(people, lease_lost{accounts_aggregate});
  caf::anon_send(people, lease_lost{accounts_aggregate});
  run();
  CAF_CHECK(!person(add_organizer{"o@example.com", "secret", false}).no);
}

CAF_TEST(an owner that reads its load late begins at the time of reading) {
  request("f@example.com");
  kill(people);
  people = keep(sys.spawn(accounts, static_cast<const accounts_services*>(&services)));
  sched.run_once(); // it asks the ledger
  run_without(people); // the process freezes after the ledger's answer
  sched.advance_time(services.otp_life);
  run();
  CAF_CHECK(enter("f@example.com", code()).no.why == reason::invalid_otp);
}

CAF_TEST(a code works once and gives the same customer each time) {
  auto asked = request("f@example.com");
  CAF_REQUIRE(asked->ok);
  const auto first_code = code();
  const auto first = enter("f@example.com", first_code);
  CAF_CHECK(!first.no && !first.person.is_nil());
  CAF_CHECK(enter("f@example.com", first_code).no.why == reason::invalid_otp);
  request("f@example.com");
  CAF_CHECK(enter("f@example.com", code()).person == first.person);
}

CAF_TEST(the id of a customer does not tell when it was registered) {
  std::set<std::int64_t> days;
  for (const auto* email : {"a@example.com", "b@example.com", "c@example.com"}) {
    request(email);
    const auto id = enter(email, code()).person;
    days.insert(unix_ms(time_of(id)) / 86'400'000);
    CAF_CHECK(owner_of(id) == accounts_aggregate);
  }
  CAF_CHECK(!days.contains(unix_ms(env.wall_now()) / 86'400'000) && days.size() == 3);
}

CAF_TEST(lists name customers by address and only a sign-in makes an account) {
  const auto told = [this] {
    std::vector<std::string> payloads;
    const std::vector<std::uint32_t> own{number_of(accounts_aggregate) % outbox_partitions};
    for (const auto& item : store.undelivered(lane::bus, own, 100, {})) {
      CAF_CHECK_EQUAL(item.row.topic, "user.updated");
      payloads.push_back(item.row.payload);
    }
    return payloads;
  };
  const auto listed = [this](auto message) {
    auto asked = ask<customers_reply>(people, std::move(message));
    run();
    CAF_REQUIRE(asked->ok && !asked->value.no);
    return asked->value.customers;
  };
  const find_customers wish{default_tenant, {"f@example.com", "g@example.com"}};
  const auto ids = listed(wish);
  CAF_REQUIRE_EQUAL(ids.size(), 2u);
  CAF_CHECK(ids[0] != ids[1]);
  const principal by{principal_kind::organizer, default_tenant, {5, 5}};
  CAF_CHECK(listed(block_customers{by, {"{}", "why"}, {"f@example.com"}, false}) == std::vector{ids[0]});
  CAF_CHECK(store.committed(accounts_aggregate)->customers.empty());
  CAF_CHECK(told().empty());
  reload(accounts_aggregate);
  CAF_CHECK(listed(wish) == ids);
  for (int i = 0; i < 2; ++i) {
    request("f@example.com");
    CAF_CHECK(enter("f@example.com", code()).person == ids[0]);
  }
  CAF_CHECK(store.blocks().at(0).customer == ids[0]);
  CAF_CHECK_EQUAL(store.committed(accounts_aggregate)->customers.size(), 1u);
  CAF_REQUIRE_EQUAL(told().size(), 1u);
  CAF_CHECK(told()[0].find(R"("email":"f@example.com","email_verified":true)") != std::string::npos);
  CAF_CHECK(listed(wish) == ids);
}

CAF_TEST(a sign-in sets the language of mails to the customer) {
  const auto sign_in = [this](maybe<language> in) {
    ask<ack_reply>(people, request_otp{"f@example.com", {1, 1}, one_handle, {}, {}, in.value});
    run();
    CAF_CHECK(!person(verify_otp{"f@example.com", code(), one_handle, in}).no);
    return store.committed(accounts_aggregate)->customers.at(0).language;
  };
  CAF_CHECK(sign_in({true, language::fr}) == language::fr);
  CAF_CHECK_EQUAL(mails->back().subject, "Votre code de connexion");
  CAF_CHECK(sign_in({}) == language::fr);
  CAF_CHECK_EQUAL(mails->back().subject, "Your sign-in code");
  CAF_CHECK(sign_in({true, language::es}) == language::es);
  std::vector<std::string> told; // one for the new customer, one for the other language
  const std::vector<std::uint32_t> own{number_of(accounts_aggregate) % outbox_partitions};
  for (const auto& item : store.undelivered(lane::bus, own, 100, {})) told.push_back(item.row.payload);
  CAF_REQUIRE_EQUAL(told.size(), 2u);
  CAF_CHECK(told[0].find(R"("language":"fr")") != std::string::npos);
  CAF_CHECK(told[1].find(R"("language":"es")") != std::string::npos);
  const find_customers wish{default_tenant, {"g@example.com", "f@example.com"}};
  auto asked = ask<customers_reply>(people, wish);
  run();
  CAF_CHECK((asked->value.languages == std::vector{language::en, language::es}));
}

CAF_TEST(each organizer and each tenant has a list of blocked customers of its own) {
  const principal organizer{principal_kind::organizer, default_tenant, {5, 5}},
    other{principal_kind::organizer, default_tenant, {5, 6}},
    backend{principal_kind::operate, default_tenant, {9, 9}};
  const auto block = [&](const principal& by, std::vector<std::string> emails) {
    auto asked = ask<customers_reply>(people, block_customers{by, {"{}", "why"}, std::move(emails), false});
    run();
    CAF_REQUIRE(asked->ok && !asked->value.no);
    return asked->value.customers;
  };
  const auto listed = [&](const principal& by, const customer_id& after = {}, std::uint32_t limit = 50) {
    auto asked = ask<blocks_reply>(people, find_blocks{by, after, limit});
    run();
    CAF_REQUIRE(asked->ok);
    return asked->value;
  };
  const auto unblock = [&](const principal& by, const customer_id& who) {
    auto asked = ask<ack_reply>(people, unblock_customer{by, {}, who});
    run();
    CAF_REQUIRE(asked->ok);
    return asked->value.no.why;
  };
  const auto [ann, ben] = [&] {
    const auto ids = block(organizer, {"ann@example.com", "ben@example.com"});
    CAF_REQUIRE_EQUAL(ids.size(), 2u);
    return std::pair{ids[0], ids[1]};
  }();
  CAF_CHECK(block(backend, {"ann@example.com"}) == std::vector{ann});
  CAF_CHECK(block(organizer, {"ann@example.com"}) == std::vector{ann}); // unchanged
  CAF_CHECK_EQUAL(store.blocks().size(), 3u);
  CAF_CHECK_EQUAL(listed(organizer).blocks.size(), 2u);
  CAF_CHECK_EQUAL(listed(backend).blocks.size(), 1u);
  CAF_CHECK(listed(other).blocks.empty());
  const auto page = listed(organizer, {}, 1);
  CAF_CHECK(page.more && page.blocks.size() == 1);
  const auto rest = listed(organizer, page.blocks[0].customer, 1);
  CAF_CHECK(!rest.more && rest.blocks.size() == 1 && rest.blocks[0].reason == "why");
  CAF_CHECK(unblock(other, ann) == reason::not_found);
  CAF_CHECK(unblock(organizer, ann) == reason::none);
  CAF_CHECK(unblock(organizer, ann) == reason::not_found);
  reload(accounts_aggregate);
  CAF_CHECK_EQUAL(listed(organizer).blocks.size(), 1u);
  CAF_CHECK(listed(organizer).blocks[0].customer == ben);
  CAF_CHECK(listed(backend).blocks[0].customer == ann);
  std::size_t audited = 0;
  for (const auto& row : store.audit({.tenant = default_tenant}))
    audited += row.action.starts_with("customer.") ? 1 : 0;
  CAF_CHECK_EQUAL(audited, 4u); // three blocks and one removal
}

CAF_TEST(a deed of a manager is in the audit log when it is answered) {
  const principal by{principal_kind::operate, tenant_id{7}, {8, 8}};
  auto done =
    ask<ack_reply>(people, record_deed{by, "endpoint.create", {9, 9}, {R"({"host":"hooks.example"})", {}}});
  run();
  CAF_REQUIRE(done->ok && !done->value.no);
  const auto rows = store.audit({tenant_id{7}, {}, {}, {}, 10});
  CAF_REQUIRE_EQUAL(rows.size(), 1u);
  CAF_CHECK_EQUAL(rows[0].action, "endpoint.create");
  CAF_CHECK((rows[0].target == uuid{9, 9}));
  CAF_CHECK_EQUAL(rows[0].actor, name_of(by));
}

CAF_TEST(settings of a tenant for its payments and mails stay or are replaced or emptied) {
  const auto add = [this](const add_tenant& x) {
    auto told = ask<ack_reply>(people, x);
    run();
    CAF_REQUIRE(told->ok);
    return told->value.no.detail;
  };
  const auto shop_row = [this] {
    for (const auto& row : store.directory().tenants)
      if (row.name == "shop") return row;
    return tenant_row{};
  };
  CAF_CHECK_EQUAL(add({"shop", {}, false, "acct_1", "ACCT_1", "site=a\nteam="}), "");
  CAF_CHECK_EQUAL(add({"shop", {}, true, {}, "ACCT_2"}), "");
  CAF_CHECK_EQUAL(shop_row().stripe_account, "acct_1");
  CAF_CHECK_EQUAL(shop_row().paystack_subaccount, "ACCT_2");
  CAF_CHECK_EQUAL(shop_row().payment_metadata, "site=a\nteam=");
  for (const auto* wrong :
       {"site=a\nsite=b", "site=a\nteam=\nsite=a", "site=a\nnone", "none\nnone", "site", "=a"})
    CAF_CHECK(add({"shop", {}, true, {}, {}, wrong}).starts_with("payment_metadata: must"));
  std::string lines = "k0=";
  for (int i = 1; i < 20; ++i) lines += "\nk" + std::to_string(i) + "=";
  CAF_CHECK_EQUAL(add({"shop", {}, true, {}, {}, lines}), "");
  CAF_CHECK(!add({"shop", {}, true, {}, {}, lines + "\nk20="}).empty());
  CAF_CHECK_EQUAL(add({"shop", {}, true, "none", "none", "none"}), "");
  CAF_CHECK_EQUAL(shop_row().stripe_account + shop_row().paystack_subaccount + shop_row().payment_metadata,
                  "");
  CAF_CHECK_EQUAL(add({"shop", {}, true, {}, {}, {}, "Arena", "box@arena.example", "#2c1d6b"}), "");
  CAF_CHECK_EQUAL(add({"shop", {}, true, {}, {}, {}, "none"}), "");
  CAF_CHECK_EQUAL(shop_row().mail_name + shop_row().mail_sender + shop_row().mail_colour,
                  "box@arena.example#2c1d6b");
  CAF_CHECK_EQUAL(add({"shop", {}, true, {}, {}, {}, {}, "none", "none"}), "");
  CAF_CHECK_EQUAL(shop_row().mail_sender + shop_row().mail_colour, "");
}

CAF_TEST(a manager sets the logo of its own tenant) {
  const auto set = [this](tenant_id tenant, const std::string& picture) {
    const principal by{principal_kind::organizer, tenant, {5, 5}};
    auto told = ask<ack_reply>(people, set_tenant_logo{by, {}, picture});
    run();
    CAF_REQUIRE(told->ok);
    return told->value.no.why;
  };
  const auto logo = [this] { return std::string{store.directory().tenants.at(0).logo}; };
  const std::string id(64, 'a');
  CAF_CHECK(set(default_tenant, id) == reason::none);
  CAF_CHECK_EQUAL(logo(), id);
  CAF_CHECK(set(tenant_id{77}, id) == reason::not_found);
  CAF_CHECK(set(default_tenant, {}) == reason::none);
  CAF_CHECK_EQUAL(logo(), "");
}

CAF_TEST(no code is acknowledged before it is durable nor when the mail failed) {
  auto asked = ask<ack_reply>(people, request_otp{"f@example.com", {}, one_handle});
  run_without(worker);
  CAF_CHECK(asked->open());
  run();
  CAF_CHECK(asked->ok);
  *mail_works = false;
  auto late = request("f@example.com");
  CAF_REQUIRE(late->ok);
  CAF_CHECK(late->value.no.why == reason::unavailable);
  CAF_CHECK_EQUAL(late->value.no.first, 7);
  CAF_CHECK(store.committed(accounts_aggregate)->otps.empty());
}

CAF_TEST(the stored code is no code) {
  request("f@example.com");
  const auto& rows = store.committed(accounts_aggregate)->otps;
  CAF_REQUIRE_EQUAL(rows.size(), 1u);
  CAF_CHECK(rows[0].code_hash.find(code()) == std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST_FIXTURE_SCOPE(catalog_tests, globals_fixture)

CAF_TEST(an event is created after commit as a draft with numbers of its own) {
  auto first = ask<event_reply>(shop, draft({}));
  auto second = ask<event_reply>(shop, draft({}));
  run_without(worker);
  CAF_CHECK(first->open());
  run();
  CAF_REQUIRE(first->ok && second->ok && !first->value.no);
  const auto& e = first->value.event.event;
  CAF_CHECK(e.status == event_status::draft);
  CAF_CHECK(owner_of(e.id) == e.aggregate && e.aggregate != second->value.event.event.aggregate);
  CAF_CHECK_EQUAL(first->value.event.ticket_types[0].held + first->value.event.ticket_types[0].sold, 0);
  CAF_CHECK(store.committed(e.aggregate)->event == e);
}

CAF_TEST(creating is idempotent and numbers go on after a reload) {
  const idempotency_ref key{true, {1, 1}, {2, 2}};
  auto first = ask<event_reply>(shop, draft(key));
  auto again = ask<event_reply>(shop, draft(key));
  run();
  reload(catalog_aggregate);
  auto replay = ask<event_reply>(shop, draft(key));
  auto next = ask<event_reply>(shop, draft({}));
  run();
  CAF_REQUIRE(first->ok && again->ok && replay->ok && next->ok);
  const auto id = first->value.event.event.id;
  CAF_CHECK(again->value.event.event.id == id && again->value.replayed);
  CAF_CHECK(replay->value.event.event.id == id && replay->value.replayed);
  CAF_CHECK(next->value.event.event.aggregate > first->value.event.event.aggregate);
}

CAF_TEST(an answer to an earlier load does not give a number again) {
  const auto created = [&] {
    auto made = ask<event_reply>(shop, draft({}));
    run();
    return made->ok && !made->value.no;
  };
  CAF_CHECK(created());
  last_aggregate_found late;
  late.last = aggregate_id{number_of(first_event_aggregate) - 1};
  caf::anon_send(shop, late);
  run();
  CAF_CHECK(created());
}

CAF_TEST(what is invalid is refused and stored nowhere) {
  auto bad = draft({true, {3, 3}, {4, 4}});
  bad.event.sale_end = bad.event.sale_start;
  auto refused = ask<event_reply>(shop, bad);
  run();
  CAF_CHECK(refused->ok && refused->value.no.why == reason::invalid_field);
  CAF_CHECK(store.committed(catalog_aggregate)->idempotency.empty());
}

CAF_TEST(lists come from committed state) {
  ask<event_reply>(shop, draft({}));
  run();
  auto mine = ask<event_list_reply>(shop, list_events{{principal_kind::organizer, default_tenant, {5, 5}}});
  auto open = ask<event_list_reply>(shop, list_events{});
  run();
  CAF_CHECK(mine->ok && mine->value.events.size() == 1);
  CAF_CHECK(open->ok && open->value.events.empty()); // other people do not see a draft
}

namespace {

const principal first_org{principal_kind::organizer, default_tenant, {5, 5}},
  second_org{principal_kind::organizer, default_tenant, {6, 6}},
  backend{principal_kind::operate, default_tenant, {7, 7}};

} // namespace

CAF_TEST(organizers keep seat plans of their own and see those of the tenant) {
  const auto store_plan = [this](const principal& by, const uuid& id, const std::string& text) {
    auto got = ask<tenant_plan_reply>(shop, store_tenant_plan{by, {}, id, "Hall", text});
    run();
    CAF_REQUIRE(got->ok);
    return got->value;
  };
  const auto ids_of = [this](const principal& by) {
    auto got = ask<tenant_plans_reply>(shop, list_tenant_plans{by, {}, {}, 50});
    run();
    CAF_REQUIRE(got->ok && !got->value.no && !got->value.more);
    std::vector<uuid> ids;
    for (const auto& plan : got->value.plans) ids.push_back(plan.id);
    return ids;
  };
  const auto own = store_plan(first_org, {}, "p\tHall\t0\t0\n").plan;
  const auto house = store_plan(backend, {}, "p\tHouse\t0\t0\n").plan;
  CAF_CHECK(own.organizer == first_org.id && house.organizer.is_nil() && own.content.empty());
  CAF_CHECK((ids_of(first_org) == std::vector{own.id, house.id}));
  CAF_CHECK((ids_of(second_org) == std::vector{house.id}));
  CAF_CHECK_EQUAL(ids_of(backend).size(), 2u);
  CAF_CHECK(store_plan(second_org, own.id, "p\tX\t0\t0\n").no.why == reason::not_found);
  CAF_CHECK(store_plan(second_org, house.id, "").no.why == reason::forbidden);
  CAF_CHECK(!store_plan(first_org, own.id, "p\tWider\t0\t0\n").no);
  auto one = ask<tenant_plans_reply>(shop, list_tenant_plans{first_org, own.id, {}, 1});
  run();
  CAF_REQUIRE(one->ok && one->value.plans.size() == 1);
  CAF_CHECK_EQUAL(one->value.plans[0].content, "p\tWider\t0\t0\n");
  CAF_CHECK(one->value.plans[0].created_at == own.created_at);
  CAF_CHECK(!store_plan(backend, own.id, "").no);
  CAF_CHECK((ids_of(first_org) == std::vector{house.id}));
  auto deeds = ask<audit_reply>(shop, list_audit{backend, own.id, {}, 50});
  run();
  CAF_REQUIRE(deeds->ok && deeds->value.rows.size() == 3);
  std::set<std::string> actions;
  for (const auto& deed : deeds->value.rows) actions.insert(deed.action);
  CAF_CHECK((actions == std::set<std::string>{"seat_plan.change", "seat_plan.create", "seat_plan.remove"}));
}

CAF_TEST(an organizer keeps a limited number of seat plans) {
  const auto store_plan = [this](const principal& by) {
    auto got = ask<tenant_plan_reply>(shop, store_tenant_plan{by, {}, {}, "Hall", "p\tHall\t0\t0\n"});
    run();
    return got->value.no;
  };
  for (std::uint32_t i = 0; i < seat_plans_per_owner_max; ++i) CAF_REQUIRE(!store_plan(first_org));
  const auto no = store_plan(first_org);
  CAF_CHECK(no.why == reason::too_many && no.first == seat_plans_per_owner_max);
  CAF_CHECK(!store_plan(second_org));
  CAF_CHECK(!store_plan(backend));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace globals_test
