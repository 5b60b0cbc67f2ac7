// SPDX-License-Identifier: Apache-2.0
// A sample sale with two ticket types, for the tests of orders and of their refunds.
#pragma once
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

namespace fq::test {

/// 10 Standard at 10.00 (at most 4), 5 Seats at 25.00; the fees of the second reference.
struct orders_fixture {
  explicit orders_fixture(event_row event = sample_event(),
                          std::vector<ticket_type_row> types = two_types()) :
      s(std::move(event), std::move(types)) {}

  static std::vector<ticket_type_row> two_types() {
    auto types = sample_types(10, 1'000);
    types.push_back(
      {.ordinal = 1, .id = {0x77, 2}, .name = "Seat", .price = 2'500, .total = 5, .max_per_order = 4});
    return types;
  }
  item_wish standard(std::uint32_t quantity = 1, money donation = 0) const {
    return {s.type(0).id, quantity, donation};
  }
  item_wish seat(std::uint32_t quantity = 1) const { return {s.type(1).id, quantity, 0}; }

  /// Fan `n` is admitted and has placed an order.
  const order_row& ordered(std::uint64_t n, std::vector<item_wish> items, std::string code = {}) {
    s.join(n);
    const auto done = s.order(n, std::move(items), std::move(code));
    CAF_CHECK(!done.no);
    return s.order_of(n);
  }
  /// The same, and has paid.
  const order_row& bought(std::uint64_t n, std::vector<item_wish> items, std::string code = {}) {
    const auto payment = s.payment_of(ordered(n, std::move(items), std::move(code))).id;
    if (is_open(s.payment(payment).status)) {
      s.initialized(payment);
      s.captured(payment);
    }
    return s.order_of(n);
  }
  void code(std::string word, discount reduction, std::uint32_t uses_max = 0,
            std::uint32_t per_customer = 0) {
    promo_code_patch p;
    p.code = {true, std::move(word)};
    p.reduction = {true, reduction};
    p.uses_max = {true, uses_max};
    p.uses_per_customer = {true, per_customer};
    CAF_CHECK(!s.promo(p));
  }
  void sound() const {
    const auto wrong = what_is_wrong(s);
    if (!wrong.empty()) CAF_FAIL(wrong);
  }
  sample_sale s;
};

inline discount percent(std::int64_t basis_points, std::uint64_t types = 0) {
  return {discount_kind::percent, basis_points, types};
}

inline event_row open_event() {
  auto e = sample_event();
  e.queue.policy = admission_policy::open;
  return e;
}

} // namespace fq::test
