// SPDX-License-Identifier: Apache-2.0
// What the tests of the cluster port share: processes by number, and values as CAF writes them.
#pragma once
#include "caf/test/unit_test.hpp"

#include <caf/binary_serializer.hpp>
#include <caf/node_id.hpp>

#include <cstdint>
#include <vector>

namespace fq::test {

inline caf::node_id process(std::uint32_t number) {
  return caf::make_node_id(number, "0011223344556677889900112233445566778899").value_or(caf::node_id{});
}

template <class... Ts>
std::vector<char> wire_bytes(Ts... values) {
  std::vector<char> bytes;
  caf::binary_serializer sink{nullptr, bytes};
  CAF_REQUIRE(!sink(values...));
  return bytes;
}

} // namespace fq::test
