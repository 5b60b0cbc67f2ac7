// SPDX-License-Identifier: Apache-2.0
#include "store/postgres/postgres_tasks.hpp"

#include "store/postgres/postgres_rows.hpp"
#include "store/postgres/postgres_unsynced.hpp"

#include <array>

namespace fq {
namespace {

static_assert(finished_tasks_max == 1'000, "a statement says so");

// One node after the other, so that ids are committed in their order.
const postgres_statement lock_tasks{"lock_tasks", "LOCK TABLE task IN SHARE ROW EXCLUSIVE MODE"};

std::string store_tasks_sql() {
  const auto t = table_of<task_row>();
  return "INSERT INTO task (" + names_of(t.inserted) + ") SELECT * FROM " + postgres_given(t.inserted);
}
const postgres_statement store_tasks{"store_tasks", store_tasks_sql()};

const postgres_statement prune_tasks{
  "prune_tasks", "DELETE FROM task WHERE id <= (SELECT id FROM task ORDER BY id DESC LIMIT 1 OFFSET 1000)"};

const postgres_statement tasks_after{"tasks_after",
                                     select_rows<task_row>() + "WHERE id > $1::bigint ORDER BY id"};

} // namespace

postgres_tasks::postgres_tasks(postgres_connection& db) : db_(db) {
  db.prepare(std::array{lock_tasks, store_tasks, prune_tasks, tasks_after});
}

std::vector<task_row> postgres_tasks::keep(std::span<const task_row> finished, std::uint64_t after) {
  const auto rows_of = [](const postgres_result& result) {
    std::vector<task_row> rows;
    for (int i = 0; i < result.size(); ++i) rows.push_back(read_row<task_row>(result[i]));
    return rows;
  };
  if (finished.empty()) return rows_of(db_.run(tasks_after, postgres_parameters::of(after)));
  postgres_columns rows;
  for (const auto& task : finished) add_inserted(rows, task, {});
  postgres_unsynced transaction(db_);
  transaction.send(lock_tasks, {});
  transaction.send(store_tasks, std::move(rows).parameters());
  transaction.send(prune_tasks, {});
  transaction.send(tasks_after, postgres_parameters::of(after));
  return rows_of(transaction.run());
}

} // namespace fq
