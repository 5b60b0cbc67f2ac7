// SPDX-License-Identifier: Apache-2.0
// The node's id: `node.id`, else a random name that is stored, so that a restart is the same node. Called
// once by the composition in app/, after the data folder exists.
#pragma once

#include "config/options.hpp"

#include <string>

namespace fq::config {

/// Returns `node.id`, else the content of <data_dir>/node-id, which is created with `new_name` if missing
/// (durably, never over an existing file). Throws std::runtime_error if the file cannot be read or written,
/// or is invalid.
[[nodiscard]] std::string node_id(const options& o, const std::string& new_name);

} // namespace fq::config
