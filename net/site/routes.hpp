// SPDX-License-Identifier: Apache-2.0
// All routes in two tables, of the public and of the admin listener, with their hooks. Made once by the
// composition. A test compares docs/openapi.yaml with the public table in both directions.
#pragma once
#include "net/http/http.hpp"

#include <cstddef>
#include <vector>

namespace fq::net {

/// `webhook_body_limit`: http.webhook_body_limit, in bytes.
[[nodiscard]] std::vector<route> public_routes(std::size_t webhook_body_limit);
[[nodiscard]] std::vector<route> admin_routes();

/// The table must outlive the site.
[[nodiscard]] site public_site(std::span<const route> routes);
[[nodiscard]] site admin_site(std::span<const route> routes);

} // namespace fq::net
