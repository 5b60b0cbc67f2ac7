// SPDX-License-Identifier: Apache-2.0
// The ids of customers: keyed hashes of their mail addresses. Tenants see them: an id tells neither whether
// nor when the address was registered.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"

#include <cstdint>
#include <string_view>

namespace fq {

/// The key of customers' ids and of the hashes of one-time codes.
[[nodiscard]] secret_key otp_key_of(const secret_key& stored);

/// `email`: in lower case. `erasures`: how often the address was erased; it begins anew each time.
[[nodiscard]] customer_id customer_id_of(const secret_key& otp_key, std::string_view email,
                                         std::uint32_t erasures);

} // namespace fq
