// SPDX-License-Identifier: Apache-2.0
// Parses Accept-Language and Accept-Encoding (RFC 9110 section 12.4.2). Called by texts and encoding.
#pragma once
#include "domain/model/language.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace fq::net {

struct preference {
  std::string_view name; ///< as sent
  int weight; ///< in thousandths, default 1000; 0: refused, or malformed weight
};

/// The first `preferences_max`, in the field's order.
[[nodiscard]] std::vector<preference> read_preferences(std::string_view field);

/// The best match of an Accept-Language (RFC 9110 section 12.5.4).
[[nodiscard]] std::optional<language> preferred_language(std::string_view accept_language);

} // namespace fq::net
