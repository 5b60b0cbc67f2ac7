// SPDX-License-Identifier: Apache-2.0
// Reads the public log of a sale as others do, from its bundles, and holds it against the order rules, its
// root and the ledger's rows.
#pragma once
#include "store/memory/memory_ledger.hpp"

#include <map>
#include <string>

namespace fq::sim {

/// Empty, or what is wrong. `is_draining`: records may still wait for their turn.
[[nodiscard]] std::string what_is_wrong_in_log(memory_ledger& store, aggregate_id aggregate,
                                               bool is_draining);

/// What a checker reads of a log, as a server would serve it under a fixed key: path -> bytes. Nothing if
/// there is no log.
[[nodiscard]] std::map<std::string, std::string> log_files(memory_ledger& store, aggregate_id aggregate);

} // namespace fq::sim
