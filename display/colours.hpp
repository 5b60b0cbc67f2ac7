// SPDX-License-Identifier: Apache-2.0
// Colours of pages and mails.
#pragma once
#include "domain/base/colour.hpp"

#include <string_view>

namespace fq {

/// Black or white, whichever has more contrast on "#rrggbb". At least 4.5 : 1 for every colour (WCAG 2.2,
/// 1.4.3).
[[nodiscard]] std::string_view ink_on(std::string_view colour);

} // namespace fq
