// SPDX-License-Identifier: Apache-2.0
// For `fairqueue admin verify`: reads an event's public log and holds it against the rows of its line.
#pragma once
#include "store/port/ledger.hpp"

#include <string>
#include <vector>

namespace fq {

/// Empty: the log has its root, and each entry the state that the log tells. What was committed after the
/// snapshot does not count. Throws as the ledger does.
[[nodiscard]] std::vector<std::string> contradictions_of_log(ledger& store, aggregate_id aggregate,
                                                             const aggregate_snapshot& rows);

} // namespace fq
