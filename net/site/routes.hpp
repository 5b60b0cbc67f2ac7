// SPDX-License-Identifier: Apache-2.0
// The routes of the public listener and the hooks of both listeners. Made once by the composition. A test
// compares docs/openapi.yaml with the public table in both directions.
#pragma once
#include "net/http/http.hpp"
#include "net/ops/routes.hpp"

#include <cstddef>
#include <vector>

namespace fq::net {

/// `webhook_body_limit`: http.webhook_body_limit, in bytes.
[[nodiscard]] std::vector<route> public_routes(std::size_t webhook_body_limit);

/// The table must outlive the site.
[[nodiscard]] site public_site(std::span<const route> routes);
[[nodiscard]] site admin_site(std::span<const route> routes);

} // namespace fq::net
