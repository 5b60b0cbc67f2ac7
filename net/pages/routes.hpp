// SPDX-License-Identifier: Apache-2.0
// One table of routes per file of this folder, at its end, beside the handlers.
#pragma once
#include "net/http/http.hpp"

#include <span>

namespace fq::net {

[[nodiscard]] std::span<const route> asset_routes();
[[nodiscard]] std::span<const route> demo_routes();
[[nodiscard]] std::span<const route> fairness_routes();
[[nodiscard]] std::span<const route> my_tickets_routes();
[[nodiscard]] std::span<const route> root_routes();
[[nodiscard]] std::span<const route> sandbox_routes();
[[nodiscard]] std::span<const route> scan_routes();
[[nodiscard]] std::span<const route> shop_routes();
[[nodiscard]] std::span<const route> wait_routes();

} // namespace fq::net
