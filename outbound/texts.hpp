// SPDX-License-Identifier: Apache-2.0
// The words of mails and pushes: outbound/templates/texts.<language>.json. Immutable; thread-safe.
#pragma once
#include "domain/model/language.hpp"

#include <string_view>

namespace fq {

/// Throws std::logic_error for an unknown key, which is a defect.
[[nodiscard]] std::string_view translated(language in, std::string_view key);
[[nodiscard]] bool has_text(std::string_view key);

} // namespace fq
