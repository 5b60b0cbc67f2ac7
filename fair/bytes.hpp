// SPDX-License-Identifier: Apache-2.0
// Big-endian numbers, ids and digests in byte strings.
#pragma once
#include "domain/base/ids.hpp"

#include <cstdint>
#include <string>

namespace fq {

/// The low `bytes` bytes of `value`.
inline void append_number(std::string& to, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) to += static_cast<char>(value >> shift & 0xff);
}

inline void append_id(std::string& to, const uuid& id) {
  append_number(to, id.hi, 8);
  append_number(to, id.lo, 8);
}

void append_bytes(std::string& to, const auto& bytes) { to.append(bytes.begin(), bytes.end()); }

} // namespace fq
