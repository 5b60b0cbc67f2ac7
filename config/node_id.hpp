// SPDX-License-Identifier: Apache-2.0
// Who this node is among those that share a ledger: what `node.id` says, else a random name of its own that
// it keeps, so that a restart is the same node. Called once by the composition in app/, after the data folder
// exists.
#pragma once

#include "config/options.hpp"

#include <string>

namespace fq::config {

/// `node.id`, else the content of <data_dir>/node-id, which is made (durably, never over an existing one)
/// when there is none. Throws std::runtime_error when the file cannot be read or written, or holds no such
/// name.
[[nodiscard]] std::string node_id(const options& o);

} // namespace fq::config
