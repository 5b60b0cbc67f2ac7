// SPDX-License-Identifier: Apache-2.0
// The memory ledger's history of tasks.
#include "store/memory/memory_ledger.hpp"

namespace fq {

std::vector<task_row> memory_ledger::keep_tasks(std::span<const task_row> finished, std::uint64_t after) {
  pass_a_call({});
  auto& tasks = state_.tasks;
  for (auto task : finished) {
    task.id = tasks.empty() ? 1 : tasks.back().id + 1;
    tasks.push_back(std::move(task));
    if (tasks.size() > finished_tasks_max) tasks.pop_front();
  }
  std::vector<task_row> later;
  for (const auto& task : tasks)
    if (task.id > after) later.push_back(task);
  return later;
}

} // namespace fq
