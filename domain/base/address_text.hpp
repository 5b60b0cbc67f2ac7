// SPDX-License-Identifier: Apache-2.0
// Finds a mail address in a text. Pure.
#pragma once
#include <string_view>

namespace fq {

/// Whether the text holds the address, and not only as a part of a longer one.
[[nodiscard]] bool names_address(std::string_view text, std::string_view address);

/// The same for what CAF serialized, where the length of a text stands before it.
[[nodiscard]] bool names_address_serialized(std::string_view bytes, std::string_view address);

} // namespace fq
