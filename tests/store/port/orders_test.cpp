// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: promo codes, orders, their data in tickets, and refused constraint
// violations.
#define CAF_SUITE store_orders
#include "tests/store/port/engines.hpp"

namespace orders_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(what tickets carry for orders is kept) {
  in_every_world([](world& w) {
    auto type = sample_type(2, 7);
    type.hidden = true;
    type.sale_from = noon + seconds{1};
    type.sale_until = noon + seconds{2};
    FQ_COMMITS(w.put({ticket_type_added{type}}));
    CAF_CHECK((w.image().ticket_types.back() == type));
    type.hidden = false;
    type.sale_from = never;
    FQ_COMMITS(w.put({ticket_type_changed{type}}));
    CAF_CHECK((w.image().ticket_types.back() == type));
    auto event = *w.image().event;
    event.async_percent = 37;
    FQ_COMMITS(w.put({event_changed{event.status, event}}));
    CAF_CHECK((w.image().event->async_percent == 37));
    auto claim = sample_claim(1, 1, {{0, 2, 5'000, 0, 700, 1'250}});
    claim.promo = 3;
    FQ_COMMITS(w.put({claim_opened{claim}}));
    CAF_CHECK((w.image().claims == std::vector{claim}));
    for (const auto& wrong :
         {claim_item{0, 1, 10, 0, -1, 0}, claim_item{0, 1, 10, 0, 0, -1}, claim_item{0, 1, 10, 0, 0, 11}})
      FQ_CONFLICTS(w.put({claim_opened{sample_claim(2, 2, {wrong})}}));
  });
}

CAF_TEST(a promo code is kept and changed but for what it is) {
  in_every_world([](world& w) {
    auto code = sample_promo_code(0, 5);
    code.valid_from = noon;
    code.valid_until = noon + seconds{60};
    code.reduction.ticket_types = 1ull << 49;
    FQ_COMMITS(w.put({promo_code_added{code}}));
    CAF_CHECK((w.image().promo_codes == std::vector{code}));
    auto next = code;
    next.code = "LATE";
    next.reduction = {discount_kind::amount, 300, 0};
    next.is_active = false;
    next.uses_max = 0;
    next.updated_at = noon + seconds{1};
    auto sent = next;
    sent.id = id_of(1); // the id and the uses do not change
    sent.uses = 3;
    sent.created_at = never;
    FQ_COMMITS(w.put({promo_code_changed{sent}}));
    CAF_CHECK((w.image().promo_codes == std::vector{next}));
    FQ_CONFLICTS(w.put({promo_code_changed{sample_promo_code(1)}})); // unknown code
    FQ_CONFLICTS(w.put({promo_code_added{sample_promo_code(0)}})); // the ordinal is in use
    auto same_word = sample_promo_code(1);
    same_word.code = next.code;
    FQ_CONFLICTS(w.put({promo_code_added{same_word}}));
    auto used = sample_promo_code(1);
    used.uses = 1;
    FQ_CONFLICTS(w.put({promo_code_added{used}}));
  });
}

CAF_TEST(a promo code is never used more often than it may) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({promo_code_added{sample_promo_code(0, 3)}, promo_code_added{sample_promo_code(1)}}));
    FQ_COMMITS(w.put({promo_uses_moved{0, 1}, promo_uses_moved{0, 1}, promo_uses_moved{1, 400}}));
    FQ_CONFLICTS(w.put({promo_uses_moved{0, 2}}));
    FQ_CONFLICTS(w.put({promo_uses_moved{0, 2}, promo_uses_moved{0, -1}})); // not even temporarily
    FQ_CONFLICTS(w.put({promo_uses_moved{0, -3}}));
    FQ_CONFLICTS(w.put({promo_uses_moved{7, 1}}));
    FQ_COMMITS(w.put({promo_uses_moved{0, -1}, promo_uses_moved{0, 2}}));
    const auto codes = w.image().promo_codes;
    CAF_CHECK_EQUAL(codes[0].uses, 3u);
    CAF_CHECK_EQUAL(codes[1].uses, 400u);
    auto fewer = sample_promo_code(0, 2);
    FQ_CONFLICTS(w.put({promo_code_changed{fewer}}));
    fewer.uses_max = 3;
    FQ_COMMITS(w.put({promo_code_changed{fewer}}));
  });
}

CAF_TEST(an order belongs to a claim and moves from the status it has) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1), other = sample_claim(2, 2);
    auto order = sample_order(1, claim);
    FQ_CONFLICTS(w.put({order_placed{order}})); // unknown claim
    FQ_COMMITS(w.put({claim_opened{claim}, claim_opened{other}, order_placed{order}}));
    CAF_CHECK((w.image().orders == std::vector{order}));
    FQ_CONFLICTS(w.put({order_placed{sample_order(2, claim)}})); // one order per claim
    auto next = order;
    next.status = order_status::failed;
    next.claim = other.id; // claimed again for late money
    next.failure = "payment_timeout";
    next.updated_at = noon + seconds{9};
    auto sent = next;
    sent.contact.email = "somebody@else.example"; // the buyer does not change
    FQ_CONFLICTS(w.put({order_moved{order_status::success, sent}}));
    FQ_COMMITS(w.put({order_moved{order_status::pending, sent}}));
    CAF_CHECK((w.image().orders == std::vector{next}));
    FQ_COMMITS(w.put({order_placed{sample_order(3, claim)}})); // that claim has no order now
    auto taken = next;
    taken.claim = claim.id;
    FQ_CONFLICTS(w.put({order_moved{order_status::failed, taken}}));
    const auto told = w.store.history(sale);
    const auto of_orders =
      std::ranges::count_if(told, [](const history_row& h) { return h.kind == "order"; });
    CAF_CHECK_EQUAL(of_orders, 3);
  });
}

CAF_TEST(the parts of an order make its total) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    FQ_COMMITS(w.put({claim_opened{claim}}));
    for (const auto& change : std::initializer_list<std::function<void(order_row&)>>{
           [](order_row& o) { ++o.total; }, [](order_row& o) { o.discount = 1; },
           [](order_row& o) { o.donations = -1, o.total -= 1; },
           [](order_row& o) { o.platform_fee = -1, o.total -= 151; }}) {
      auto wrong = sample_order(1, claim);
      change(wrong);
      FQ_CONFLICTS(w.put({order_placed{wrong}}));
    }
  });
}

} // namespace orders_test
