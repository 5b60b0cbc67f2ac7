// SPDX-License-Identifier: Apache-2.0
// Which content coding a client gets (RFC 9110 section 12.5.3). Called by asset_routes.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace fq::net {

enum class coding : std::uint8_t { identity, gzip, brotli };

/// "br", "gzip", "identity".
[[nodiscard]] std::string_view name_of(coding c);

/// Of `ours`, which are in the order in which we would rather send them, the one to which Accept-Encoding
/// gives the greatest weight; identity if it takes none.
[[nodiscard]] coding choose_coding(std::string_view accept_encoding, std::span<const coding> ours);

} // namespace fq::net
