// SPDX-License-Identifier: Apache-2.0
#include "crypto/order_link.hpp"

namespace fq {

std::string order_link_secret(const secret_key& stored, const order_id& order) {
  return to_base64url(
    hmac_sha256(stored.bytes(), "fairqueue link to the tickets of order " + to_string(order)));
}

bool opens_order(const secret_key& stored, const order_id& order, std::string_view secret) {
  return constant_time_equal(order_link_secret(stored, order), secret);
}

} // namespace fq
