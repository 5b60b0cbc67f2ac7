// SPDX-License-Identifier: Apache-2.0
// Ed25519 (RFC 8032) from a seed, for codes of event tickets and for the public log.
#pragma once
#include "crypto/digest.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace fq {

using ed25519_public_key = std::array<std::uint8_t, 32>;
using ed25519_signature = std::array<std::uint8_t, 64>;

[[nodiscard]] ed25519_public_key ed25519_public_key_of(const secret_key& seed);

/// Takes about 25 us.
[[nodiscard]] ed25519_signature ed25519_sign(const secret_key& seed, std::string_view message);

[[nodiscard]] bool is_ed25519_signature(const ed25519_signature& signature, std::string_view message,
                                        const ed25519_public_key& key) noexcept;

} // namespace fq
