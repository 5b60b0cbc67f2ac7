// SPDX-License-Identifier: Apache-2.0
// The versions of this build. In a separate file, so that a test can link a program with another version.
#pragma once
#include <cstdint>

namespace fq {

/// wire_version of actors/cluster/cluster.hpp
extern const std::uint32_t program_wire_version;

extern const char* const program_version; ///< defined in main.cpp

} // namespace fq
