// SPDX-License-Identifier: Apache-2.0
// The filter of an organizer's order search; the route: orders_test.cpp.
#define CAF_SUITE order_search
#include "net/api/order_search.hpp"

#include "caf/test/unit_test.hpp"

namespace order_search_test {

using namespace fq;
using namespace fq::net;

CAF_TEST(orders are found without case and accents) {
  order_view german, croatian;
  german.order.contact = {"Jürgen", "Müller", "jm@example.org", ""};
  german.order.promo_code = "STRAßE";
  croatian.order.contact = {"Cafe", "Đorđić", "cd@example.org", ""};
  const auto found = [&](std::string text) {
    const order_wanted wanted{std::move(text)};
    return std::string{is_wanted(german, wanted) ? "Müller " : ""}
           + (is_wanted(croatian, wanted) ? "Đorđić" : "");
  };
  CAF_CHECK_EQUAL(found("muller"), "Müller ");
  CAF_CHECK_EQUAL(found("JÜRGEN MÜ"), "Müller ");
  CAF_CHECK_EQUAL(found("strasse"), "Müller ");
  CAF_CHECK_EQUAL(found("CAFÉ"), "Đorđić");
  CAF_CHECK_EQUAL(found("dorđic"), "Đorđić");
  CAF_CHECK_EQUAL(found("mueller"), "");
  CAF_CHECK_EQUAL(found("EXAMPLE"), "Müller Đorđić");
  CAF_CHECK_EQUAL(found("\u0301"), ""); // an accent without a letter
}

} // namespace order_search_test
