// SPDX-License-Identifier: Apache-2.0
// Big-endian numbers, ids and digests in byte strings.
#pragma once
#include "domain/base/ids.hpp"

#include <boost/endian/buffers.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace fq {

/// The low `bytes` bytes of `value`.
inline void append_number(std::string& to, std::uint64_t value, int bytes) {
  const boost::endian::big_uint64_buf_t big{value};
  const auto size = static_cast<std::size_t>(bytes);
  to.append(reinterpret_cast<const char*>(big.data()) + 8 - size, size);
}

/// Big-endian; 0 if `from` ends before it.
[[nodiscard]] inline std::uint64_t read_number(std::string_view from, std::size_t at, std::size_t bytes) {
  if (from.size() < at + bytes) return 0;
  std::uint64_t value = 0;
  for (const unsigned char c : from.substr(at, bytes)) value = value << 8 | c;
  return value;
}

inline void append_id(std::string& to, const uuid& id) {
  append_number(to, id.hi, 8);
  append_number(to, id.lo, 8);
}

void append_bytes(std::string& to, const auto& bytes) {
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

} // namespace fq
