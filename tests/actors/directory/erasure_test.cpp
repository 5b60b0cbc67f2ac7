// SPDX-License-Identifier: Apache-2.0
// A customer who asks for the data, and to be erased.
#define CAF_SUITE erased_customers
#include "actors/base/answers.hpp"
#include "domain/base/address_text.hpp"
#include "tests/actors/directory/globals_fixture.hpp"

namespace erasure_test {

using namespace fq;
using namespace fq::test;

namespace {

struct erasure_fixture : globals_fixture {
  customer_reply find(find_customer wish) {
    auto a = ask<customer_reply>(people, std::move(wish));
    run();
    CAF_REQUIRE(a->ok);
    return a->value;
  }
  reason erase(const customer_id& who, bool by_operator = false) {
    erase_customer wish{who};
    wish.by_operator = by_operator;
    auto a = ask<ack_reply>(people, std::move(wish));
    run();
    CAF_REQUIRE(a->ok);
    return a->value.no.why;
  }
  customer_id sign_in(const std::string& email) {
    request(email);
    return enter(email, code()).person;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(erasure_tests, erasure_fixture)

CAF_TEST(a customer is found by id and by address) {
  const auto who = sign_in("a@example.com");
  for (int i = 0; i < 2; ++i) {
    CAF_CHECK_EQUAL(find({who}).email, "a@example.com");
    CAF_CHECK(find({{}, "a@example.com"}).customer == who);
    CAF_CHECK(find({{}, "b@example.com"}).no.why == reason::not_found);
    const auto unknown = find({{7, 7}});
    CAF_CHECK(unknown.no.why == reason::not_found && unknown.customer.is_nil());
    reload(accounts_aggregate);
  }
}

CAF_TEST(other threads see an erasure as soon as it is decided) {
  CAF_CHECK_EQUAL(services.customers->mailbox_of({7, 7})->address, "");
  const auto who = sign_in("a@example.com");
  const auto seen = [&] { return services.customers->mailbox_of(who)->address; };
  CAF_CHECK(seen() == "a@example.com");
  reload(accounts_aggregate);
  CAF_CHECK(seen() == "a@example.com");
  commit_faults.push_back({commit_fault::kind::unavailable});
  auto answer = ask<ack_reply>(people, erase_customer{who});
  run();
  CAF_CHECK(!answer->ok); // not committed
  CAF_CHECK(seen() == erased_address(who));
  advance(1min);
  CAF_CHECK(answer->ok);
  CAF_CHECK(seen() == erased_address(who));
}

CAF_TEST(an erased customer is gone at once and its address begins anew) {
  const auto who = sign_in("a@example.com"), other = sign_in("b@example.com");
  request("a@example.com", "pending");
  CAF_CHECK(erase({7, 7}) == reason::not_found);
  CAF_CHECK(erase(who) == reason::none);
  const auto& rows = *store.committed(accounts_aggregate);
  CAF_CHECK(rows.otps.empty());
  CAF_CHECK(store.directory().ended_sessions == std::vector<uuid>{who});
  for (int i = 0; i < 2; ++i) {
    CAF_CHECK(find({who}).no.why == reason::not_found);
    CAF_CHECK(find({who}).customer == who); // not one without an account
    CAF_CHECK(find({{}, "a@example.com"}).no.why == reason::not_found);
    CAF_CHECK_EQUAL(find({other}).email, "b@example.com");
    CAF_CHECK(erase(who) == reason::none); // once more
    reload(accounts_aggregate);
  }
  for (const auto& row : rows.customers) {
    CAF_CHECK_EQUAL(row.email, row.id == who ? erased_address(who) : "b@example.com");
    CAF_CHECK_EQUAL(row.to_erase, row.id == who ? "a@example.com" : "");
  }
  const auto audit = store.audit({});
  CAF_REQUIRE_EQUAL(audit.size(), 1u);
  CAF_CHECK(audit[0].action == "customer.erase" && audit[0].target == who);
  const std::vector<std::uint32_t> own{number_of(accounts_aggregate) % outbox_partitions};
  const auto told = store.undelivered(lane::bus, own, 100, {});
  CAF_REQUIRE_EQUAL(told.size(), 3u); // two new customers, and an erased one
  CAF_CHECK_EQUAL(told[2].row.topic, "user.updated");
  CAF_CHECK_EQUAL(told[2].row.payload, R"({"customer_id":")" + to_string(who)
                                         + R"(","email":null,"email_verified":false,"erased":true})");
  const auto anew = sign_in("a@example.com");
  CAF_CHECK(anew != who);
  auto listed = ask<customers_reply>(people, find_customers{default_tenant, {"a@example.com"}});
  run();
  CAF_CHECK(listed->value.customers == std::vector{anew});
}

CAF_TEST(a browser mark is worth nothing after the erasure) {
  const auto who = sign_in("a@example.com");
  const uuid mark{7, who.lo};
  const auto ask_as = [&](std::uint64_t stranger, const uuid& own) {
    return request("a@example.com", "h" + std::to_string(stranger), {6, stranger}, {}, own)->value.no.why;
  };
  for (std::uint64_t i = 0; i < 9; ++i) CAF_CHECK(ask_as(i, {}) == reason::none);
  CAF_CHECK(ask_as(10, {}) == reason::rate_limited);
  CAF_CHECK(ask_as(11, mark) == reason::none);
  CAF_CHECK(erase(who) == reason::none);
  CAF_CHECK(ask_as(12, mark) == reason::rate_limited);
  advance(24h);
  sign_in("a@example.com"); // begins anew
  for (std::uint64_t i = 20; ask_as(i, {}) == reason::none;) ++i;
  CAF_CHECK(ask_as(60, mark) == reason::rate_limited);
}

CAF_TEST(an open purchase refuses the erasure) {
  const auto who = sign_in("a@example.com"), other = sign_in("b@example.com");
  const auto event = put_event(5);
  const auto image = *store.acquire_unleased(event.aggregate, never);
  claim_row claim;
  claim.id = make_uuid(env.wall_now(), event.aggregate, 1);
  claim.customer = who;
  claim.items = {{0, 1, 0, 0}};
  auto seq = image.applied_seq;
  const auto put = [&](changes content) {
    const batch b{event.aggregate, image.epoch, seq, seq + 1, env.wall_now(), std::move(content)};
    CAF_REQUIRE(store.commit({&b, 1}).at(0) == commit_outcome::committed);
    ++seq;
  };
  put({claim_opened{claim}});
  CAF_CHECK(erase(who) == reason::claim_live);
  payment_row payment;
  payment.id = make_uuid(env.wall_now(), event.aggregate, 2);
  payment.claim = claim.id;
  payment.customer = who;
  payment.gateway = "sandbox";
  payment.reference = "one";
  put({payment_opened{payment}});
  CAF_CHECK(erase(who) == reason::payment_open);
  CAF_CHECK(erase(other) == reason::none);
  CAF_CHECK_EQUAL(find({who}).email, "a@example.com");
  payment.status = payment_status::failed;
  claim.status = claim_status::released;
  put({payment_moved{payment_status::initializing, payment}, claim_moved{claim_status::claimed, claim}});
  CAF_CHECK(erase(who) == reason::none);
}

/// A text in a stored answer has its length before it, which may be a character of addresses.
CAF_TEST(answers with addresses of every length are found) {
  for (const std::size_t size : {std::size_t{20}, std::size_t{'0'}, std::size_t{'x'}, std::size_t{200}}) {
    const auto address = std::string(size - 12, 'z') + "@example.com";
    order_reply reply;
    reply.order.order.contact = {"Ann", "Bee", address, std::string(50, '1')};
    const auto packed = [&] {
      const auto bytes = pack_answer(reply);
      return std::string{bytes.begin(), bytes.end()};
    };
    CAF_CHECK(names_address_serialized(packed(), address));
    reply.order.order.contact.email = "y" + address;
    CAF_CHECK(!names_address_serialized(packed(), address));
    reply.order.order.contact.email = "<" + address + ">";
    CAF_CHECK(names_address_serialized(packed(), address));
    const auto order = make_uuid(env.wall_now(), first_event_aggregate, size);
    CAF_CHECK(!is_of_serialized(packed(), to_string(order)));
    reply.order.order.id = order;
    CAF_CHECK(is_of_serialized(packed(), to_string(order)));
  }
}

CAF_TEST(an operator erases an address that only bought as a guest) {
  const auto id_now = [&] {
    auto a = ask<customers_reply>(people, find_customers{default_tenant, {"gil@example.com"}});
    run();
    return a->value.customers.at(0);
  };
  const auto who = id_now();
  CAF_CHECK(erase(who, true) == reason::not_found);
  erase_customer wish{who};
  wish.by_operator = true;
  for (const auto* email : {"other@example.com", "gil@example.com"}) {
    wish.email = email;
    auto a = ask<ack_reply>(people, wish);
    run();
    CAF_CHECK(a->value.no.why == (wish.email == "gil@example.com" ? reason::none : reason::not_found));
  }
  CAF_CHECK(find({who}).no.why == reason::not_found);
  CAF_CHECK(id_now() != who);
  reload(accounts_aggregate);
  CAF_CHECK(id_now() != who);
}

CAF_TEST(ended tokens of erased customers are bounded and leave with their life) {
  services.bounds.erased = 2;
  const auto a = sign_in("a@example.com"), b = sign_in("b@example.com"), c = sign_in("c@example.com");
  CAF_CHECK(erase(a) == reason::none);
  CAF_CHECK(erase(b) == reason::none);
  CAF_CHECK(erase(c) == reason::unavailable);
  CAF_CHECK_EQUAL(find({c}).email, "c@example.com");
  advance(25h);
  CAF_CHECK(erase(c) == reason::none);
  CAF_CHECK(store.directory().ended_sessions == std::vector<uuid>{c});
}

CAF_TEST(a part of the list of erased customers is for the operator) {
  services.bounds.erased = 4;
  std::vector<customer_id> fans;
  for (const char name : {'a', 'b', 'c', 'd', 'e'})
    fans.push_back(sign_in(name + std::string{"@example.com"}));
  for (int i = 0; i < 3; ++i) CAF_CHECK(erase(fans[i]) == reason::none);
  CAF_CHECK(erase(fans[3]) == reason::unavailable);
  CAF_CHECK(erase(fans[3], true) == reason::none);
  CAF_CHECK(erase(fans[4], true) == reason::unavailable);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace erasure_test
