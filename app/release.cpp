// SPDX-License-Identifier: Apache-2.0
#include "app/release.hpp"

#include "actors/cluster/cluster.hpp"

namespace fq {

const std::uint32_t program_wire_version = wire_version;

} // namespace fq
