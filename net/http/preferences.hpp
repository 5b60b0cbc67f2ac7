// SPDX-License-Identifier: Apache-2.0
// What a client would rather have, of Accept-Language and Accept-Encoding (RFC 9110 section 12.4.2). Called
// by texts and encoding.
#pragma once
#include <string_view>
#include <vector>

namespace fq::net {

struct preference {
  std::string_view name; ///< as sent
  int weight; ///< in thousandths, 1000 unless it says another; 0: refused, or its weight is none
};

/// In the field's order; as many as fit in a request's header.
[[nodiscard]] std::vector<preference> read_preferences(std::string_view field);

} // namespace fq::net
