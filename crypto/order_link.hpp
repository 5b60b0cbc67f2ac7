// SPDX-License-Identifier: Apache-2.0
// The secret in the link that opens the tickets of a guest's order, which only the mail to its address has.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"

#include <string>
#include <string_view>

namespace fq {

/// 43 characters of base64url. `stored`: key_store::stored.
[[nodiscard]] std::string order_link_secret(const secret_key& stored, const order_id& order);
/// Constant time in the secret.
[[nodiscard]] bool opens_order(const secret_key& stored, const order_id& order, std::string_view secret);

} // namespace fq
