// SPDX-License-Identifier: Apache-2.0
// The number of statements per batch, and the order of dependent changes. Cases with a ledger run on every
// engine: rounds must keep the sequential order.
#define CAF_SUITE store_rounds
#include "tests/store/port/engines.hpp"

#include "store/postgres/postgres_rounds.hpp"

namespace postgres_rounds_test {

using namespace fq;
using namespace fq::test;

namespace {

using names = std::vector<std::string>;

/// The statements for one batch.
names statements_of(const changes& content, postgres_order order = postgres_order::in_rounds) {
  postgres_rounds rounds(order);
  rounds.add({sale, 1, 0, 1, noon, content}, default_tenant);
  names result;
  rounds.take_all(
    [&](const postgres_statement& s, const postgres_parameters&) { result.emplace_back(s.name); });
  return result;
}

entry_row in_status(std::uint64_t number, entry_status status) {
  auto e = sample_entry(number);
  e.status = status;
  return e;
}

claim_row in_status(claim_row c, claim_status status) {
  c.status = status;
  return c;
}

payment_row in_status(payment_row p, payment_status status) {
  p.status = status;
  return p;
}

} // namespace

CAF_TEST(a thousand joins are one statement) {
  changes joins;
  for (std::uint64_t n = 1; n <= 1'000; ++n) joins.push_back(entry_joined{sample_entry(n)});
  CAF_CHECK((statements_of(joins) == names{"move_aggregate", "join"}));
  CAF_CHECK_EQUAL(statements_of(joins, postgres_order::one_by_one).size(), 1'001u);
}

CAF_TEST(the sales of many are one statement a kind of change) {
  changes sales;
  for (std::uint64_t n = 1; n <= 100; ++n) {
    const auto claim = sample_claim(n, n);
    const auto payment = sample_payment(n, claim);
    sales.push_back(payment_moved{payment_status::pending, in_status(payment, payment_status::confirmed)});
    sales.push_back(claim_moved{claim_status::claimed, in_status(claim, claim_status::confirmed)});
    sales.push_back(stock_moved{0, -1, 1});
    sales.push_back(entry_moved{entry_status::admitted, in_status(n, entry_status::completed)});
    sales.push_back(outbox_appended{{id_of(n), "claim.confirmed", "{}", noon}});
  }
  CAF_CHECK((statements_of(sales)
             == names{"move_aggregate", "move_stock", "update_entry", "update_payment", "insert_outbox",
                      "insert_history", "update_claim", "update_claim_item"}));
}

CAF_TEST(one batch may carry an entry through its whole life) {
  const changes life{entry_joined{sample_entry(1)},
                     entry_moved{entry_status::waiting, in_status(1, entry_status::admitted)},
                     entry_moved{entry_status::admitted, in_status(1, entry_status::completed)}};
  CAF_CHECK((statements_of(life)
             == names{"move_aggregate", "join", "insert_history", "update_entry", "update_entry"}));
  in_every_world([&](world& w) {
    FQ_COMMITS(w.put(life));
    CAF_CHECK((w.image().entries == std::vector{in_status(1, entry_status::completed)}));
    const auto history = w.store.history(sale);
    CAF_REQUIRE_EQUAL(history.size(), 3u);
    CAF_CHECK((history[1] == history_row{1, "entry", "1", "WAITING", "ADMITTED", noon}));
    CAF_CHECK((history[2] == history_row{1, "entry", "1", "ADMITTED", "COMPLETED", noon}));
    FQ_CONFLICTS(w.put({entry_moved{entry_status::waiting, in_status(2, entry_status::admitted)},
                        entry_joined{sample_entry(2)}}));
    FQ_CONFLICTS(w.put({entry_joined{sample_entry(2)},
                        entry_moved{entry_status::waiting, in_status(2, entry_status::away)},
                        entry_moved{entry_status::waiting, in_status(2, entry_status::admitted)}}));
    CAF_CHECK_EQUAL(w.image().entries.size(), 1u);
  });
}

CAF_TEST(a claim is opened and paid and given back in one batch) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    const auto payment = sample_payment(1, claim);
    const auto refund = sample_refund(1, payment);
    FQ_COMMITS(w.put({
      claim_opened{claim}, stock_moved{0, 1, 0}, payment_opened{payment},
      payment_moved{payment_status::initializing, in_status(payment, payment_status::pending)},
      payment_moved{payment_status::pending, in_status(payment, payment_status::confirmed)},
      claim_moved{claim_status::claimed, in_status(claim, claim_status::confirmed)}, stock_moved{0, -1, 1},
      payment_moved{payment_status::confirmed, in_status(payment, payment_status::refund_pending)},
      refund_opened{refund}, claim_moved{claim_status::confirmed, in_status(claim, claim_status::refunded)},
      stock_moved{0, 0, -1}, claim_opened{sample_claim(2, 1)}, // the slot is free again
    }));
    CAF_CHECK(
      (w.image().claims == std::vector{in_status(claim, claim_status::refunded), sample_claim(2, 1)}));
    CAF_CHECK((w.image().payments == std::vector{in_status(payment, payment_status::refund_pending)}));
    CAF_CHECK((w.image().refunds == std::vector{refund}));
    CAF_CHECK_EQUAL(w.image().ticket_types.at(0).held + w.image().ticket_types.at(0).sold, 0);
    CAF_CHECK_EQUAL(w.store.history(sale).size(), 10u);
  });
}

CAF_TEST(a slot and an attempt are passed on in the order of the batch) {
  in_every_world([](world& w) {
    const auto first = sample_claim(1, 1), second = sample_claim(2, 1);
    const auto released = claim_moved{claim_status::claimed, in_status(first, claim_status::released)};
    FQ_COMMITS(w.put({claim_opened{first}}));
    FQ_CONFLICTS(w.put({claim_opened{second}, released}));
    FQ_COMMITS(w.put({released, claim_opened{second}}));
    const auto one = sample_payment(1, second), other = sample_payment(2, second);
    const auto declined = payment_moved{payment_status::initializing, in_status(one, payment_status::failed)};
    FQ_COMMITS(w.put({payment_opened{one}}));
    FQ_CONFLICTS(w.put({payment_opened{other}, declined}));
    FQ_COMMITS(w.put({declined, payment_opened{other}}));
  });
}

CAF_TEST(a ticket type is there for claims from where it was added) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1, {{7, 1, 5'000, 0}});
    FQ_CONFLICTS(w.put({claim_opened{claim}, ticket_type_added{sample_type(7, 3)}}));
    FQ_COMMITS(w.put({ticket_type_added{sample_type(7, 3)}, claim_opened{claim}, stock_moved{7, 1, 0}}));
    auto fewer = sample_type(7, 1);
    FQ_CONFLICTS(w.put({stock_moved{7, 1, 0}, ticket_type_changed{fewer}, stock_moved{7, -1, 0}}));
    FQ_COMMITS(w.put({stock_moved{7, 2, 0}, stock_moved{7, -2, 0}, ticket_type_changed{fewer}}));
    FQ_CONFLICTS(w.put({stock_moved{7, 1, 0}, stock_moved{7, -1, 0}}));
    CAF_CHECK(w.image().ticket_types.back().held == 1);
  });
}

CAF_TEST(rare rows are one statement a kind and in the order of the batch where they concern each other) {
  const auto letter = [](std::uint64_t n, dead_letter_status status = dead_letter_status::open) {
    dead_letter_row l;
    l.id = id_of(n);
    l.status = status;
    return dead_letter_stored{l};
  };
  const auto priority = [](std::uint64_t n) { return priority_stored{{id_of(n), 3, noon}}; };
  CAF_CHECK((statements_of({letter(1), priority(1), letter(2), priority(2), letter(3)})
             == names{"move_aggregate", "store_dead_letter", "store_priority"}));
  CAF_CHECK((statements_of({letter(1), letter(1, dead_letter_status::dismissed), letter(2)})
             == names{"move_aggregate", "store_dead_letter", "store_dead_letter"}));
  CAF_CHECK(
    (statements_of({priority(1), priority_removed{id_of(2)}, priority_removed{id_of(1)}, priority(1)})
     == names{"move_aggregate", "store_priority", "remove_priority", "remove_priority", "store_priority"}));
  CAF_CHECK((statements_of({setting_stored{{"a", "1", noon}}, setting_stored{{"b", "1", noon}},
                            setting_stored{{"a", "2", noon}}})
             == names{"move_aggregate", "store_setting", "store_setting"}));
}

CAF_TEST(an address is passed on in the order of the batch) {
  in_every_world([](world& w) {
    const auto put = [&](changes c) { return w.me.put(accounts_aggregate, std::move(c)); };
    const auto customer = [](std::uint64_t n, const std::string& email) {
      return customer_stored{{id_of(n), default_tenant, email, noon}};
    };
    FQ_COMMITS(put({customer(1, "a"), customer(2, "b")}));
    FQ_CONFLICTS(put({customer(2, "a"), customer(1, "c")}));
    FQ_CONFLICTS(put({customer(2, "d"), customer(2, "a"), customer(1, "c")}));
    FQ_COMMITS(
      put({customer(1, "c"), customer(2, "a"), customer(3, "b"), customer(1, "d"), customer(4, "c")}));
    CAF_CHECK_EQUAL(w.store.peek(accounts_aggregate).image.customers.size(), 4u);
  });
}

} // namespace postgres_rounds_test
