// SPDX-License-Identifier: Apache-2.0
// docs/openapi.yaml as JSON, converted at build time (web/openapi.mjs), and as a readable page.
#pragma once
#include "net/http/http.hpp"

#include <string_view>

namespace fq::net {

/// The whole description as JSON.
[[nodiscard]] std::string_view openapi_json();

/// Every operation with its summary, parameters and answers. Made once, at the first call.
[[nodiscard]] response docs_page();

} // namespace fq::net
