// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_tasks.hpp"

#include "store/sqlite/sqlite_rows.hpp"

namespace fq {
namespace {

static_assert(finished_tasks_max == 1'000, "a statement says so");

} // namespace

sqlite_tasks::sqlite_tasks(sqlite_db& db) :
    store_(db, insert_sql(table_of<task_row>())),
    prune_(db, "DELETE FROM task WHERE id <= (SELECT id FROM task ORDER BY id DESC LIMIT 1 OFFSET 1000)"),
    after_(db, select_rows<task_row>() + "WHERE id > ? ORDER BY id") {}

void sqlite_tasks::store(std::span<const task_row> finished) {
  for (const auto& task : finished) insert_row(store_, task, {});
  prune_.run();
}

std::vector<task_row> sqlite_tasks::after(std::uint64_t id) {
  std::vector<task_row> found;
  after_.bind(id);
  while (after_.step()) found.push_back(read_row<task_row>(after_));
  return found;
}

} // namespace fq
