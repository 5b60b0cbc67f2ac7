// SPDX-License-Identifier: Apache-2.0
// The history of tasks in SQL. Called by postgres_ledger.
#pragma once
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"

#include <span>
#include <vector>

namespace fq {

class postgres_tasks {
public:
  explicit postgres_tasks(postgres_connection& db);

  std::vector<task_row> keep(std::span<const task_row> finished, std::uint64_t after);

private:
  postgres_connection& db_;
};

} // namespace fq
