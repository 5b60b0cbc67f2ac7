// SPDX-License-Identifier: Apache-2.0
// The routes for operators, of the public and of the admin listener.
#pragma once
#include "net/http/http.hpp"

#include <span>

namespace fq::net {

[[nodiscard]] std::span<const route> ops_routes();
[[nodiscard]] std::span<const route> admin_routes();

} // namespace fq::net
