// SPDX-License-Identifier: Apache-2.0
// Hidden types and admission: invitations and access codes open stock that others cannot buy (C4).
#define CAF_SUITE domain_sale_access
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

namespace sale_access_test {

using namespace fq;
using namespace fq::test;

namespace {

/// Types 0 (public), 1 and 2 (hidden); no pace of admission.
struct fixture {
  explicit fixture(std::vector<std::int64_t> totals, admission_policy policy = admission_policy::capacity) :
      s(event(policy), types(totals)) {}

  static event_row event(admission_policy policy) {
    auto e = sample_event();
    e.queue.policy = policy;
    return e;
  }
  static std::vector<ticket_type_row> types(const std::vector<std::int64_t>& totals) {
    std::vector<ticket_type_row> all;
    for (std::uint32_t i = 0; i < totals.size(); ++i)
      all.push_back({.ordinal = i,
                     .id = {0x77, i + 1},
                     .name = "Type",
                     .price = 500,
                     .total = std::max<std::int64_t>(totals[i], 1),
                     .max_per_order = 4,
                     .on_sale = totals[i] > 0,
                     .hidden = i > 0});
    return all;
  }
  item_wish item(std::uint32_t type, std::uint32_t quantity = 1) const {
    return {s.type(type).id, quantity, 0};
  }
  void code(const std::string& text, std::uint64_t opened, std::uint32_t uses_max = 0,
            bool is_active = true) {
    promo_code_patch p;
    if (const auto* old = s.it->promo_codes().find(std::string_view{text})) p.id = old->id;
    p.code = {true, text};
    p.reduction = {true, {discount_kind::none, 0, opened}};
    p.uses_max = {true, uses_max};
    p.is_active = {true, is_active};
    CAF_REQUIRE(!s.promo(p));
  }
  void invite(std::uint64_t n, std::uint32_t type = 1, timestamp until = never) {
    CAF_REQUIRE(!s.invite({n}, {s.type(type).id, 1, until}));
  }
  bool is_in(std::uint64_t n) const { return s.entry(n).status == entry_status::admitted; }
  void concurrency(std::uint32_t n) {
    event_patch p;
    p.set(&queue_settings::concurrency, n);
    CAF_REQUIRE(!s.patch(p));
  }
  void buy(std::uint64_t n, std::vector<item_wish> items = {}) {
    CAF_REQUIRE(!s.order(n, std::move(items)).no);
    CAF_REQUIRE(!s.captured(s.payment_of(s.order_of(n)).id));
  }
  void sound() const {
    CAF_CHECK_EQUAL(what_is_wrong(s), "");
    CAF_CHECK_EQUAL(how_a_reload_differs(s), "");
  }
  sample_sale s;
};

} // namespace

CAF_TEST(an invited customer is admitted to a quota though all public stock is sold) {
  fixture f{{1, 50}};
  f.s.join_all(1, 40);
  f.buy(1);
  f.s.join(50);
  f.invite(50);
  CAF_CHECK(f.is_in(50)); // 38 others wait before it, for stock that may come back
  CAF_CHECK(!f.is_in(2));
  CAF_CHECK_EQUAL(f.s.it->view_of(*f.s.it->queue().find(fan(2)), f.s.now).position, 1u);
  CAF_CHECK(!f.s.claim(50)); // the sale chooses the quota
  CAF_CHECK_EQUAL(f.s.type(1).held, 1);
  f.sound();
}

CAF_TEST(an invitation made before joining opens the quota too) {
  fixture f{{1, 50}};
  f.invite(50);
  f.s.join_all(1, 3);
  f.s.join(50);
  CAF_CHECK(f.is_in(1));
  CAF_CHECK(f.is_in(50));
  CAF_CHECK(!f.is_in(2));
  f.s.reload();
  f.s.pass(milliseconds{1});
  CAF_CHECK(!f.is_in(2));
  f.sound();
}

CAF_TEST(stock that only others may buy admits no one) {
  fixture f{{0, 50}};
  f.s.join_all(1, 3);
  CAF_CHECK_EQUAL(f.s.it->queue().counts().waiting, 3u);
  f.s.join(1, 0, "");
  CAF_CHECK(!f.is_in(1));
  f.sound();
}

CAF_TEST(an access code opens its types when joining and later) {
  fixture f{{0, 2, 2}};
  f.code("FANCLUB", 0b10);
  f.code("PRESS", 0b100);
  f.s.join(1);
  CAF_CHECK(!f.s.join(2, 0, " fanclub ").no);
  CAF_CHECK(f.is_in(2));
  CAF_CHECK(!f.is_in(1));
  CAF_CHECK(!f.s.join(1, 0, "PRESS").no);
  CAF_CHECK(f.is_in(1));
  CAF_CHECK(f.s.it->opens_hidden(f.s.type(2), fan(1), f.s.now));
  CAF_CHECK(!f.s.it->opens_hidden(f.s.type(1), fan(1), f.s.now));
  CAF_CHECK(f.s.order(1, {f.item(1)}).no.why == reason::invalid_field);
  CAF_CHECK(!f.s.order(1, {f.item(2)}).no); // without the code: it was given
  CAF_CHECK_EQUAL(f.s.order_of(1).promo_code, "PRESS");
  const auto names = f.s.it->view_of(f.s.order_of(1)).claim.item_names;
  CAF_CHECK(names == std::vector<std::string>{"Type"}); // the order names it for ever
  CAF_CHECK_EQUAL(f.s.it->promo_codes().all()[1].uses, 1u);
  CAF_CHECK(!f.s.claim(2));
  CAF_CHECK_EQUAL(f.s.it->promo_codes().all()[0].uses, 1u);
  f.sound();
}

CAF_TEST(a wrong access code makes no place) {
  fixture f{{5, 5}};
  f.code("OFF", 0b10, 0, false);
  f.code("PUBLIC", 0b1);
  for (const auto* typed : {"NOPE", "OFF", "PUBLIC", "?"})
    CAF_CHECK(f.s.join(1, 0, typed).no.why == reason::access_code_invalid);
  CAF_CHECK(f.s.it->queue().find(fan(1)) == nullptr);
}

CAF_TEST(who gave a code still buys public tickets without using it) {
  fixture f{{5, 5}};
  f.code("FANCLUB", 0b10, 1);
  f.s.join(1, 0, "FANCLUB");
  CAF_CHECK(!f.s.claim(1));
  CAF_CHECK_EQUAL(f.s.type(0).held, 1);
  CAF_CHECK_EQUAL(f.s.it->promo_codes().all()[0].uses, 0u);
  f.sound();
}

CAF_TEST(a code that is used up opens nothing until a use comes back) {
  fixture f{{0, 3}};
  f.code("ONCE", 0b10, 1);
  f.s.join(1, 0, "ONCE");
  f.s.join(2); // waits between
  CAF_REQUIRE(!f.s.order(1).no);
  f.s.pass(milliseconds{1});
  CAF_CHECK(f.s.join(3, 0, "ONCE").no.why == reason::promo_code_exhausted);
  fixture g{{0, 3}};
  g.concurrency(1);
  g.code("ONCE", 0b10, 1);
  g.s.join(1, 0, "ONCE");
  g.s.join(2, 0, "ONCE"); // it is not used yet
  CAF_REQUIRE(!g.s.order(1).no);
  CAF_CHECK(!g.is_in(2));
  g.concurrency(5);
  CAF_CHECK(!g.is_in(2));
  g.s.closed(g.s.payment_of(g.s.order_of(1)).id);
  CAF_REQUIRE(!g.s.cancel_order(1, g.s.order_of(1).id));
  CAF_CHECK(g.is_in(2));
  g.sound();
}

CAF_TEST(an invitation that has ended no longer admits) {
  fixture f{{1, 5}};
  f.s.join(1);
  f.s.join(2);
  f.s.join(3);
  f.concurrency(1);
  f.invite(2, 1, f.s.now + seconds{2});
  f.invite(3, 1);
  CAF_CHECK(!f.is_in(2));
  f.s.pass(seconds{2});
  f.concurrency(9);
  CAF_CHECK(!f.is_in(2));
  CAF_CHECK(f.is_in(3));
  f.sound();
}

CAF_TEST(a hidden window that is ahead holds only who waits for it) {
  auto types = fixture::types({1, 5});
  types[1].sale_from = opening + seconds{30};
  sample_sale s{fixture::event(admission_policy::capacity), types};
  CAF_REQUIRE(!s.invite({2}, {types[1].id, 1, never}));
  s.join_all(1, 3);
  CAF_CHECK(s.entry(1).status == entry_status::admitted);
  CAF_CHECK(s.entry(2).status == entry_status::waiting);
  CAF_REQUIRE(!s.claim(1));
  while (s.now < opening + seconds{30}) s.pass(seconds{1});
  CAF_CHECK(s.entry(2).status == entry_status::admitted
            || s.entry(2).status == entry_status::session_expired);
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
}

CAF_TEST(an open event admits who may buy what is open) {
  fixture f{{3, 5}, admission_policy::open};
  ticket_type_patch off;
  off.values.id = f.s.type(0).id;
  off.set(&ticket_type_row::on_sale, false);
  event_patch p;
  p.ticket_types.push_back(off);
  CAF_REQUIRE(!f.s.patch(p));
  f.code("FANCLUB", 0b10);
  f.s.join(1);
  CAF_CHECK(!f.is_in(1));
  CAF_CHECK(!f.s.order(2, {f.item(1)}, "FANCLUB").no); // joins with the code of the order
  CAF_CHECK(f.is_in(2));
  f.sound();
}

CAF_TEST(a refunded ticket opens the hidden type again for its waiting customer) {
  fixture f{{0, 3}};
  event_patch twice;
  twice.set(&queue_settings::concurrency, 9u);
  twice.set(&event_row::claims_per_customer, 2u);
  CAF_REQUIRE(!f.s.patch(twice));
  f.invite(1);
  f.s.join(1);
  f.buy(1, {f.item(1)});
  const auto bought = f.s.order_of(1).id;
  f.s.join(1);
  CAF_CHECK(!f.is_in(1));
  CAF_REQUIRE(!f.s.refund_order(bought));
  CAF_REQUIRE(!f.s.refunded(*f.s.refund_asked()));
  CAF_CHECK(f.is_in(1));
  f.sound();
}

CAF_TEST(a code whose time comes admits its holder) {
  fixture f{{0, 3}};
  f.code("LATER", 0b10);
  f.concurrency(1);
  f.invite(1);
  f.s.join(1); // takes the only session
  f.s.join(2, 0, "LATER");
  promo_code_patch later;
  later.id = f.s.it->promo_codes().all()[0].id;
  later.valid_from = {true, f.s.now + seconds{5}};
  CAF_REQUIRE(!f.s.promo(later));
  f.concurrency(9);
  CAF_CHECK(!f.is_in(2));
  f.s.pass(seconds{5});
  CAF_CHECK(f.is_in(2));
  f.sound();
}

CAF_TEST(a discount for some types needs no hidden type in an open event) {
  fixture f{{3, 5}, admission_policy::open};
  f.code("LESS", 0b1);
  CAF_CHECK(!f.s.order(1, {f.item(0)}, "LESS").no);
  CAF_CHECK_EQUAL(f.s.it->promo_codes().all()[0].uses, 1u);
  f.sound();
}

} // namespace sale_access_test
