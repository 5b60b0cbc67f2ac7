// SPDX-License-Identifier: Apache-2.0
// Values of a query that need percent-encoding. Called by the routes that have such parameters.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

/// Valid UTF-8 without control characters; nothing for any other text.
[[nodiscard]] std::optional<std::string> decoded(std::string_view encoded);

} // namespace fq::net
