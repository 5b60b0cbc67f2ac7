// SPDX-License-Identifier: Apache-2.0
// Base45 (RFC 9285): bytes as text of the 45 characters that a QR code stores in 5.5 bits each.
#pragma once
#include "crypto/digest.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fq {

[[nodiscard]] std::string to_base45(byte_view bytes);

/// Decodes into a caller's buffer; returns the number of bytes. Empty for another character, an impossible
/// length or value, and if `out` is too small. Every byte string has exactly one text.
[[nodiscard]] std::optional<std::size_t> from_base45(std::string_view text,
                                                     std::span<std::uint8_t> out) noexcept;

} // namespace fq
