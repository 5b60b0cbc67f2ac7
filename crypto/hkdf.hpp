// SPDX-License-Identifier: Apache-2.0
// HKDF with SHA-256 (RFC 5869): keys that follow from another key and reveal nothing about it.
#pragma once
#include "crypto/digest.hpp"

#include <string_view>

namespace fq {

/// The first 32 bytes. `salt` names the purpose, `info` the single key.
[[nodiscard]] secret_key hkdf_sha256(byte_view key, std::string_view salt, std::string_view info) noexcept;

} // namespace fq
