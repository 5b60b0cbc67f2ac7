// SPDX-License-Identifier: Apache-2.0
// The history of tasks in SQL. Called by sqlite_ledger.
#pragma once
#include "store/port/ledger.hpp"
#include "store/sqlite/sqlite.hpp"

#include <span>
#include <vector>

namespace fq {

class sqlite_tasks {
public:
  explicit sqlite_tasks(sqlite_db& db);

  /// Within a transaction.
  void store(std::span<const task_row> finished);
  std::vector<task_row> after(std::uint64_t id);

private:
  sqlite_statement store_, prune_, after_;
};

} // namespace fq
