// SPDX-License-Identifier: Apache-2.0
// The secret of the link to the tickets of a guest's order.
#define CAF_SUITE order_link
#include "caf/test/unit_test.hpp"

#include "crypto/order_link.hpp"

namespace order_link_test {

using namespace fq;

CAF_TEST(a link opens its own order under its own key) {
  const secret_key stored{sha256("one installation")}, other{sha256("another")};
  const order_id order{1, 2};
  const auto secret = order_link_secret(stored, order);
  CAF_CHECK_EQUAL(secret.size(), 43u);
  CAF_CHECK(opens_order(stored, order, secret));
  CAF_CHECK(!opens_order(stored, {1, 3}, secret));
  CAF_CHECK(!opens_order(other, order, secret));
  CAF_CHECK(!opens_order(stored, order, ""));
  CAF_CHECK(!opens_order(stored, order, secret + "A"));
}

} // namespace order_link_test
