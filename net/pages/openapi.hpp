// SPDX-License-Identifier: Apache-2.0
// docs/openapi.yaml as the server gives it away: JSON, made at build time (net/tool/openapi_tool.cpp), and a
// readable page made from it.
#pragma once
#include <string>
#include <string_view>

namespace fq::net {

/// The whole description as JSON. Defined in the generated file.
[[nodiscard]] std::string_view openapi_json();

/// Every operation with its summary, parameters and answers, as the inside of an HTML page. Made once, at the
/// first call.
[[nodiscard]] const std::string& api_listing();

} // namespace fq::net
