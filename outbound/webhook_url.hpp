// SPDX-License-Identifier: Apache-2.0
// Which urls webhooks may be sent to. Asked when an endpoint is created or changed, and again before every
// try. What a name resolves to is not known here: http_client's `public_addresses_only` decides that at every
// connect.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace fq {

struct webhook_url_rules {
  bool allow_private = false; ///< this machine and its network too: development and tests
  bool allow_http = false; ///< without TLS too
  std::vector<std::uint16_t> ports{443, 8443}; ///< that may be named; a url without a port has its scheme's
};

/// Longest url taken (bytes).
inline constexpr std::size_t webhook_url_bytes_max = 2048;

/// One stable word for what is wrong, empty if nothing is:
/// too_long | malformed (no absolute url of printable ASCII, or a host in no ordinary form: a name of
/// letters, digits and hyphens, or an address in full: 2130706433, 0x7f.1, 127.1 and ::ffff:1.2.3.4 are
/// neither) | not_https | userinfo | fragment | private_name (localhost, *.local, *.internal, a name of one
/// word, ...) | private_address | port.
[[nodiscard]] std::string_view wrong_with_url(std::string_view url, const webhook_url_rules& rules = {});

} // namespace fq
