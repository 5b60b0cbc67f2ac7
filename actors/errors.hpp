// SPDX-License-Identifier: Apache-2.0
// The infrastructure "no": CAF errors of category "fq". A business "no" is a refusal inside a reply, never an error.
#pragma once
#include <caf/atom.hpp>
#include <caf/error.hpp>

#include <cstdint>

namespace fq {

enum class errc : std::uint8_t {
  absent = 1, ///< there is no such aggregate
  unavailable = 2, ///< its owner cannot serve now; try again
  not_owner = 3, ///< another node holds its lease; try there or later
};

inline caf::error make_error(errc code) {
  return caf::error{static_cast<std::uint8_t>(code), caf::atom("fq")};
}

inline bool is(const caf::error& e, errc code) {
  return e.category() == caf::atom("fq") && e.code() == static_cast<std::uint8_t>(code);
}

} // namespace fq
