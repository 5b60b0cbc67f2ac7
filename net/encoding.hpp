// SPDX-License-Identifier: Apache-2.0
// Which content coding a client takes (RFC 9110 section 12.5.3). Called by asset_routes.
#pragma once
#include <string_view>

namespace fq::net {

/// Whether Accept-Encoding names gzip (or *) with a weight that is not zero.
[[nodiscard]] bool accepts_gzip(std::string_view accept_encoding);

} // namespace fq::net
