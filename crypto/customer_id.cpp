// SPDX-License-Identifier: Apache-2.0
#include "crypto/customer_id.hpp"

#include <string>

namespace fq {

secret_key otp_key_of(const secret_key& stored) {
  return secret_key{hmac_sha256(stored.bytes(), "fairqueue one-time passwords")};
}

customer_id customer_id_of(const secret_key& otp_key, std::string_view email, std::uint32_t erasures) {
  const auto hash =
    keyed_hash_128(otp_key.bytes(), "customer\n" + std::string{email} + '\n' + std::to_string(erasures));
  const auto when = from_unix_ms(static_cast<std::int64_t>(hash[0] >> 16));
  return make_uuid(when, accounts_aggregate, hash[1]);
}

} // namespace fq
