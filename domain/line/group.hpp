// SPDX-License-Identifier: Apache-2.0
// Groups of entries that may buy the same hidden ticket types.
#pragma once
#include <cstdint>

namespace fq {

/// Bit i: the hidden type with ordinal i, which an entry may buy. 0: public types only.
using hidden_types = std::uint64_t;

/// The live entries with the same hidden types. Admission decides by group.
struct entry_group {
  hidden_types opens = 0;
  std::uint64_t members = 0; ///< live entries
  std::uint64_t waiting = 0; ///< in line and not AWAY
  std::uint64_t unclaimed = 0; ///< admitted, without a live claim: each may still take a unit
};

} // namespace fq
