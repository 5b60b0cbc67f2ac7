// SPDX-License-Identifier: Apache-2.0
// The history of tasks of all nodes. As notice_store, this part of the ledger port has no owners.
#pragma once
#include "domain/model/task_rows.hpp"
#include "store/port/limits.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace fq {

/// Throws ledger_unavailable or commit_unknown like the rest of the ledger.
class task_store {
public:
  virtual ~task_store() = default;

  /// Stores these, and forgets all but the newest finished_tasks_max. Returns those with greater ids than
  /// `after`, by id; no lesser id is stored later. A crash of the ledger's machine may undo it. With nothing
  /// finished it only reads.
  virtual std::vector<task_row> keep_tasks(std::span<const task_row> finished, std::uint64_t after) = 0;
};

} // namespace fq
