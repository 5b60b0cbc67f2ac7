// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: stock, entries, claims, payments, refunds, and refused constraint
// violations.
#define CAF_SUITE store_sale_rows
#include <limits>

#include "tests/store/port/engines.hpp"

namespace sale_rows_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(stock never goes below zero or above the total: I1) {
  struct attempt {
    std::int64_t held, sold;
    bool fits;
  };
  // Type 0 has 10 units. Valid deltas accumulate from row to row.
  constexpr attempt attempts[] = {
    {1, 0, true},
    {0, 1, true},
    {-2, 0, false},
    {0, -2, false},
    {9, 0, false},
    {8, 0, true},
    {-1, 1, true},
    {1, 0, false},
    {-9, 9, false},
    {-8, 8, true},
    {0, -10, true},
    {-1, 1, false},
    {11, -11, false},
    {std::numeric_limits<std::int64_t>::max(), 0, false},
    {0, std::numeric_limits<std::int64_t>::min(), false},
  };
  in_every_world([&](world& w) {
    std::int64_t held = 0, sold = 0;
    for (const auto& a : attempts) {
      CAF_CHECK((w.put({stock_moved{0, a.held, a.sold}}) == commit_outcome::committed) == a.fits);
      if (a.fits) held += a.held, sold += a.sold;
      CAF_CHECK(w.image().ticket_types.at(0).held == held);
      CAF_CHECK(w.image().ticket_types.at(0).sold == sold);
    }
    FQ_CONFLICTS(w.put({stock_moved{2, 0, 0}}));
  });
}

CAF_TEST(a batch may not pass through an impossible state) {
  in_every_world([](world& w) {
    FQ_CONFLICTS(w.put({stock_moved{0, 11, 0}, stock_moved{0, -11, 0}}));
    FQ_COMMITS(w.put({stock_moved{0, 10, 0}, stock_moved{0, -10, 0}}));
  });
}

CAF_TEST(joins of every batch size keep every column and the order of numbers) {
  in_every_world([](world& w) {
    std::uint64_t n = 0;
    std::vector<entry_row> expected;
    for (std::size_t size = 1; size <= 70; size += size < 10 ? 1 : 15) {
      changes content;
      for (std::size_t i = 0; i < size; ++i) {
        auto e = sample_entry(++n);
        e.priority_class = static_cast<std::uint8_t>(n % 256);
        if (n % 7 == 0) e.join_key = 0;
        expected.push_back(e);
        content.push_back(entry_joined{e});
      }
      FQ_COMMITS(w.put(std::move(content)));
    }
    CAF_CHECK(w.image().entries == expected);
    CAF_CHECK_EQUAL(w.store.history(sale).size(), 1u); // of the event: joins write no history
  });
}

CAF_TEST(an entry that joined already admitted keeps that) {
  in_every_world([](world& w) {
    auto e = sample_entry(queue_number_max);
    e.status = entry_status::admitted;
    e.admitted_at = noon;
    e.session_expires_at = noon + seconds{60};
    e.claim_by = noon + seconds{30};
    e.admission_no = 1;
    e.admission_batch = 3;
    e.has_claimed = true;
    auto promised = sample_entry(3); // one column is enough to differ from a plain join
    promised.claim_by = noon + seconds{31};
    FQ_COMMITS(w.put({entry_joined{sample_entry(1)}, entry_joined{e}, entry_joined{sample_entry(2)},
                      entry_joined{promised}}));
    CAF_CHECK((w.image().entries == std::vector{sample_entry(1), sample_entry(2), promised, e}));
  });
}

CAF_TEST(a queue number is given once and lies within 40 bits) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({entry_joined{sample_entry(5)}}));
    changes many;
    for (std::uint64_t n = 100; n < 140; ++n) many.push_back(entry_joined{sample_entry(n)});
    many[38] = entry_joined{sample_entry(5)};
    FQ_CONFLICTS(w.put(many));
    FQ_CONFLICTS(w.put({entry_joined{sample_entry(5)}}));
    FQ_CONFLICTS(w.put({entry_joined{sample_entry(0)}}));
    FQ_CONFLICTS(w.put({entry_joined{sample_entry(queue_number_max + 1)}}));
    CAF_CHECK((w.image().entries == std::vector{sample_entry(5)}));
  });
}

CAF_TEST(an entry moves from the status it has and keeps who it is) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({entry_joined{sample_entry(1)}}));
    auto e = sample_entry(1);
    e.status = entry_status::admitted;
    e.admitted_at = noon + seconds{1};
    e.session_expires_at = noon + seconds{9};
    e.claim_by = noon + seconds{2};
    e.ended_at = noon + seconds{3};
    e.admission_no = 4;
    e.admission_batch = 5;
    e.priority_class = 6;
    FQ_CONFLICTS(w.put({entry_moved{entry_status::away, e}}));
    auto disguised = e;
    disguised.subject = id_of(77);
    disguised.join_key = 0;
    disguised.joined_at = never;
    FQ_COMMITS(w.put({entry_moved{entry_status::waiting, disguised}}));
    CAF_CHECK((w.image().entries == std::vector{e}));
    e.has_claimed = true;
    FQ_COMMITS(w.put({entry_moved{entry_status::admitted, e}}));
    CAF_CHECK((w.image().entries == std::vector{e}));
    FQ_CONFLICTS(w.put({entry_moved{entry_status::waiting, sample_entry(2)}}));
    const auto history = w.store.history(sale);
    CAF_REQUIRE_EQUAL(history.size(), 2u); // the second move changed no status
    CAF_CHECK((history[1] == history_row{2, "entry", "1", "WAITING", "ADMITTED", noon}));
  });
}

CAF_TEST(a claim keeps its items in order and moves with their refunds) {
  in_every_world([](world& w) {
    auto c = sample_claim(1, 1, {{1, 2, 100, 0}, {0, 1, 5'000, 0}, {1, 3, 90, 1}});
    FQ_COMMITS(w.put({claim_opened{c}}));
    CAF_CHECK((w.image().claims == std::vector{c}));
    auto next = c;
    next.status = claim_status::confirmed;
    next.expires_at = noon + seconds{1};
    next.ended_at = noon + seconds{2};
    next.live_slot = 3;
    next.customer = id_of(2, accounts_aggregate); // a guest's claim becomes its buyer's
    next.items[0].refunded = 2;
    next.items[2].refunded = 0;
    auto disguised = next;
    disguised.entry = queue_number{77};
    disguised.amount = 77;
    disguised.created_at = never;
    disguised.items[1].quantity = 77;
    FQ_CONFLICTS(w.put({claim_moved{claim_status::expiring, disguised}}));
    FQ_COMMITS(w.put({claim_moved{claim_status::claimed, disguised}}));
    CAF_CHECK((w.image().claims == std::vector{next}));
    auto over = next;
    over.items[1].refunded = 2;
    FQ_CONFLICTS(w.put({claim_moved{claim_status::confirmed, over}}));
    auto fewer = next;
    fewer.items.pop_back();
    FQ_CONFLICTS(w.put({claim_moved{claim_status::confirmed, fewer}}));
    FQ_CONFLICTS(w.put({claim_moved{claim_status::claimed, sample_claim(2, 1)}}));
    CAF_CHECK((w.image().claims == std::vector{next}));
    const auto history = w.store.history(sale);
    CAF_REQUIRE_EQUAL(history.size(), 3u);
    CAF_CHECK((history[1] == history_row{1, "claim", to_string(c.id), "", "CLAIMED", noon}));
    CAF_CHECK((history[2] == history_row{2, "claim", to_string(c.id), "CLAIMED", "CONFIRMED", noon}));
  });
}

CAF_TEST(a claim is refused with an id that is taken or items that cannot be) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({claim_opened{sample_claim(1, 1)}}));
    FQ_CONFLICTS(w.put({claim_opened{sample_claim(1, 2)}}));
    FQ_CONFLICTS(w.put({claim_opened{sample_claim(2, 2, {{9, 1, 0, 0}})}})); // unknown ticket type
    FQ_CONFLICTS(w.put({claim_opened{sample_claim(2, 2, {{0, 0, 0, 0}})}}));
    FQ_CONFLICTS(w.put({claim_opened{sample_claim(2, 2, {{0, 1, -1, 0}})}}));
    FQ_CONFLICTS(w.put({claim_opened{sample_claim(2, 2, {{0, 1, 0, 2}})}}));
    auto negative = sample_claim(2, 2);
    negative.amount = -1;
    FQ_CONFLICTS(w.put({claim_opened{negative}}));
    CAF_CHECK_EQUAL(w.image().claims.size(), 1u);
    FQ_COMMITS(w.put({claim_opened{sample_claim(2, 2, {})}}));
  });
}

CAF_TEST(a customer has one live or bought claim a slot: I2) {
  in_every_world([](world& w) {
    auto first = sample_claim(1, 1);
    FQ_COMMITS(w.put({claim_opened{first}}));
    for (const auto status : {claim_status::claimed, claim_status::expiring, claim_status::confirmed}) {
      auto second = sample_claim(2, 1);
      second.status = status;
      FQ_CONFLICTS(w.put({claim_opened{second}}));
    }
    auto ended = sample_claim(3, 1);
    ended.status = claim_status::released;
    FQ_COMMITS(w.put({claim_opened{ended}}));
    FQ_CONFLICTS(w.put({claim_moved{claim_status::released, [&] {
                                      auto c = ended;
                                      c.status = claim_status::claimed;
                                      return c;
                                    }()}}));
    auto elsewhere = sample_claim(4, 1);
    elsewhere.live_slot = 1;
    FQ_COMMITS(w.put({claim_opened{elsewhere}}));
    auto moved = elsewhere;
    moved.live_slot = 0;
    FQ_CONFLICTS(w.put({claim_moved{claim_status::claimed, moved}}));
    first.status = claim_status::released;
    FQ_COMMITS(w.put({claim_moved{claim_status::claimed, first}, claim_moved{claim_status::claimed, moved}}));
    FQ_COMMITS(w.put({claim_opened{sample_claim(5, 2)}}));
  });
}

CAF_TEST(a payment keeps its quote and moves with what the gateway says) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    const auto again = sample_claim(2, 2);
    auto p = sample_payment(1, claim);
    FQ_COMMITS(w.put({claim_opened{claim}, claim_opened{again}, payment_opened{p}}));
    CAF_CHECK((w.image().payments == std::vector{p}));
    auto next = p;
    next.status = payment_status::confirmed;
    next.claim = again.id;
    next.authorization_url = "http://127.0.0.1/sandbox/pay/fq-1";
    next.captured = 5'000;
    next.refunded = 4'000;
    next.updated_at = noon + seconds{1};
    next.customer = id_of(2, accounts_aggregate); // as of claims
    auto disguised = next;
    disguised.amount = 1;
    disguised.reference = "other";
    disguised.gateway = "other";
    disguised.created_at = never;
    FQ_CONFLICTS(w.put({payment_moved{payment_status::pending, disguised}}));
    FQ_COMMITS(w.put({payment_moved{payment_status::initializing, disguised}}));
    CAF_CHECK((w.image().payments == std::vector{next}));
    auto wrong = next;
    wrong.refunded = 5'001; // more than was captured
    FQ_CONFLICTS(w.put({payment_moved{payment_status::confirmed, wrong}}));
    wrong.refunded = -1;
    FQ_CONFLICTS(w.put({payment_moved{payment_status::confirmed, wrong}}));
    wrong = next;
    wrong.claim = id_of(3);
    FQ_CONFLICTS(w.put({payment_moved{payment_status::confirmed, wrong}}));
    CAF_CHECK((w.image().payments == std::vector{next}));
    const auto history = w.store.history(sale);
    CAF_REQUIRE_EQUAL(history.size(), 5u);
    CAF_CHECK((history[3] == history_row{1, "payment", to_string(p.id), "", "INITIALIZING", noon}));
    CAF_CHECK((history[4] == history_row{2, "payment", to_string(p.id), "INITIALIZING", "CONFIRMED", noon}));
  });
}

CAF_TEST(references are unique everywhere and a claim has one open attempt) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    auto p = sample_payment(1, claim);
    FQ_CONFLICTS(w.put({payment_opened{p}})); // unknown claim
    FQ_COMMITS(w.put({claim_opened{claim}, payment_opened{p}}));
    FQ_CONFLICTS(w.put({payment_opened{sample_payment(2, claim)}})); // one is open already
    auto failed = p;
    failed.status = payment_status::failed;
    auto same_reference = sample_payment(2, claim);
    same_reference.reference = p.reference;
    const payment_moved declined{payment_status::initializing, failed};
    FQ_CONFLICTS(w.put({declined, payment_opened{same_reference}}));
    auto same_id = sample_payment(2, claim);
    same_id.id = p.id;
    FQ_CONFLICTS(w.put({declined, payment_opened{same_id}}));
    FQ_COMMITS(w.put({declined, payment_opened{sample_payment(2, claim)}}));
    auto reopened = p;
    reopened.status = payment_status::pending;
    FQ_CONFLICTS(w.put({payment_moved{payment_status::failed, reopened}}));
    auto negative = sample_payment(3, claim);
    negative.status = payment_status::failed;
    negative.amount = -1;
    FQ_CONFLICTS(w.put({payment_opened{negative}}));

    // The reference is unique over all events.
    FQ_COMMITS(w.me.put(catalog_aggregate, {event_created{sample_event(other_sale), {sample_type(0, 5)}}}));
    w.me.take(other_sale);
    FQ_CONFLICTS(w.me.put(other_sale, {claim_opened{claim}, payment_opened{p}}));
    p.reference = "unheard of";
    // ids are unique per aggregate only
    FQ_COMMITS(w.me.put(other_sale, {claim_opened{claim}, payment_opened{p}}));
  });
}

CAF_TEST(refunds belong to a payment and move from the status they have) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    const auto p = sample_payment(1, claim);
    auto r = sample_refund(1, p);
    FQ_COMMITS(w.put({claim_opened{claim}}));
    FQ_CONFLICTS(w.put({refund_opened{r}}));
    FQ_COMMITS(w.put({payment_opened{p}, refund_opened{r}}));
    FQ_CONFLICTS(w.put({refund_opened{r}}));
    auto negative = sample_refund(2, p);
    negative.amount = -1;
    FQ_CONFLICTS(w.put({refund_opened{negative}}));
    auto next = r;
    next.status = refund_status::failed;
    next.attempts = 3;
    next.next_attempt_at = noon + seconds{1};
    next.updated_at = noon + seconds{2};
    auto disguised = next;
    disguised.amount = 1;
    disguised.payment = id_of(77);
    disguised.created_at = never;
    FQ_CONFLICTS(w.put({refund_moved{refund_status::failed, disguised}}));
    FQ_COMMITS(w.put({refund_moved{refund_status::requested, disguised}}));
    CAF_CHECK((w.image().refunds == std::vector{next}));
    FQ_COMMITS(w.put({refund_moved{refund_status::failed, r}}));
    const auto history = w.store.history(sale);
    CAF_REQUIRE_EQUAL(history.size(), 6u);
    CAF_CHECK((history[3] == history_row{2, "refund", to_string(r.id), "", "REQUESTED", noon}));
    CAF_CHECK((history[4] == history_row{3, "refund", to_string(r.id), "REQUESTED", "FAILED", noon}));
  });
}

CAF_TEST(a webhook has one receipt) {
  in_every_world([](world& w) {
    const receipt_row first{"sandbox", "evt_1", noon};
    const receipt_row other{"stripe", "evt_1", noon - seconds{5}};
    FQ_COMMITS(w.put({receipt_stored{first}}));
    FQ_CONFLICTS(w.put({receipt_stored{first}}));
    FQ_CONFLICTS(w.me.put(accounts_aggregate, {receipt_stored{first}}));
    FQ_COMMITS(w.put({receipt_stored{other}}));
    CAF_CHECK((w.image().receipts == std::vector{first, other})); // in insertion order
  });
}

CAF_TEST(idempotency answers are kept in order and survive with every byte) {
  in_every_world([](world& w) {
    std::vector<idempotency_row> expected;
    for (std::uint64_t n = 0; n < 6; n += 2) {
      expected.push_back(sample_key(n, noon + seconds{static_cast<std::int64_t>(n)}));
      expected.push_back(sample_key(n + 1, noon + seconds{static_cast<std::int64_t>(n)}));
      expected.back().answer.clear();
      FQ_COMMITS(w.put({idempotency_stored{expected[n]}, idempotency_stored{expected[n + 1]}}));
    }
    CAF_CHECK(w.image().idempotency == expected);
    const auto since = w.store.acquire_unleased(sale, noon + seconds{2});
    CAF_CHECK((since->image.idempotency == std::vector(expected.begin() + 2, expected.end())));
  });
}

} // namespace sale_rows_test
