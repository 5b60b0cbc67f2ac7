// SPDX-License-Identifier: Apache-2.0
// Chooses the content coding of an answer (RFC 9110 section 12.5.3). Called by asset_routes.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace fq::net {

enum class coding : std::uint8_t { identity, gzip, brotli };

/// "br", "gzip", "identity".
[[nodiscard]] std::string_view name_of(coding c);

/// Returns the coding of `ours` with the greatest weight in Accept-Encoding; the earlier one if equal.
/// identity if the client accepts none.
[[nodiscard]] coding choose_coding(std::string_view accept_encoding, std::span<const coding> ours);

} // namespace fq::net
