// SPDX-License-Identifier: Apache-2.0
// The release after this one, as a test imagines it: its messages differ, and it has a migration more.
#include "app/release.hpp"

#include "actors/cluster/cluster.hpp"

namespace fq {

const std::uint32_t program_wire_version = wire_version + 1;

} // namespace fq
