// SPDX-License-Identifier: Apache-2.0
// The part of YAML that docs/openapi.yaml is written in, to JSON: block mappings and sequences, flow
// collections, quoted and plain scalars, `>-` folded text, comment lines. Anything else is an error with its
// line. Used at build time and by tests.
#pragma once
#include <string>
#include <string_view>

namespace fq::net {

/// Throws std::runtime_error("line N: what is wrong").
[[nodiscard]] std::string yaml_to_json(std::string_view yaml);

} // namespace fq::net
