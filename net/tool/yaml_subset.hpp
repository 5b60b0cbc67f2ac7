// SPDX-License-Identifier: Apache-2.0
// Converts the YAML subset of docs/openapi.yaml to JSON: block mappings and sequences, flow collections,
// quoted and plain scalars, `>-` folded text, comment lines. Anything else is an error with its line. Used
// by the build and by tests.
#pragma once
#include <string>
#include <string_view>

namespace fq::net {

/// Throws std::runtime_error("line N: problem").
[[nodiscard]] std::string yaml_to_json(std::string_view yaml);

} // namespace fq::net
