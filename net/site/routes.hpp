// SPDX-License-Identifier: Apache-2.0
// Every route of this server, in two tables: the public listener's and the admin listener's; and the words
// and checks around them. Made once by the composition. docs/openapi.yaml is compared with the public table
// by a test, both ways.
#pragma once
#include "net/http/http.hpp"

#include <cstddef>
#include <vector>

namespace fq::net {

/// `webhook_body_limit` in bytes: http.webhook_body_limit.
[[nodiscard]] std::vector<route> public_routes(std::size_t webhook_body_limit);
[[nodiscard]] std::vector<route> admin_routes();

/// The table must outlive the site.
[[nodiscard]] site public_site(std::span<const route> routes);
[[nodiscard]] site admin_site(std::span<const route> routes);

} // namespace fq::net
