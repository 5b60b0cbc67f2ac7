// SPDX-License-Identifier: Apache-2.0
// Decides which URLs may receive webhooks. Checked when an endpoint is created or changed and before every
// attempt. Does not resolve names: http_client's `public_addresses_only` checks addresses at every connect.
#pragma once
#include "outbound/limits.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace fq {

struct webhook_url_rules {
  bool allow_private = false; ///< allow this machine and its network: development and tests
  bool allow_http = false; ///< allow plain HTTP
  std::vector<std::uint16_t> ports{443,
                                   8443}; ///< allowed explicit ports; a URL without a port uses its scheme's
};

/// Returns one stable word for the problem, empty if there is none:
/// - too_long
/// - malformed: not an absolute URL of printable ASCII, or an unusual host. Hosts are names of
///   letters, digits and hyphens, or full addresses. 2130706433, 0x7f.1, 127.1 and ::ffff:1.2.3.4 are refused
/// - not_https, userinfo, fragment, private_address, port
/// - private_name: localhost, *.local, *.internal, a name of one word, ...
[[nodiscard]] std::string_view wrong_with_url(std::string_view url, const webhook_url_rules& rules = {});

} // namespace fq
