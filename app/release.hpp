// SPDX-License-Identifier: Apache-2.0
// What this build of the program speaks. In a file of its own, so that a test can link a program of the
// release after it.
#pragma once
#include <cstdint>

namespace fq {

/// actors/cluster/cluster.hpp
extern const std::uint32_t program_wire_version;

extern const char* const program_version; ///< main.cpp

} // namespace fq
