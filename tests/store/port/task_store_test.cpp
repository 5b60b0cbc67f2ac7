// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: the history of tasks.
#define CAF_SUITE store_tasks
#include "tests/store/port/engines.hpp"

namespace task_store_test {

using namespace fq;
using namespace fq::test;

namespace {

task_row task(std::uint64_t n) {
  return {0, noon + milliseconds{n}, "stripe refund", "refunded", "no. " + std::to_string(n),
          3, milliseconds{n}};
}

std::vector<task_row> tasks(std::uint64_t first, std::uint64_t last) {
  std::vector<task_row> some;
  for (auto n = first; n <= last; ++n) some.push_back(task(n));
  return some;
}

/// As they were given to the ledger.
std::vector<task_row> without_ids(std::vector<task_row> rows) {
  for (auto& r : rows) r.id = 0;
  return rows;
}

} // namespace

CAF_TEST(each reader of the history gets what others have stored since) {
  on_every_engine([](ledger& store) {
    CAF_CHECK(store.keep_tasks({}, 0).empty());
    const auto mine = store.keep_tasks(tasks(1, 2), 0);
    CAF_CHECK(without_ids(mine) == tasks(1, 2));
    CAF_CHECK(without_ids(store.keep_tasks(tasks(3, 3), 0)) == tasks(1, 3)); // another node
    const auto later = store.keep_tasks({}, mine.back().id);
    CAF_CHECK(without_ids(later) == tasks(3, 3));
    CAF_CHECK(store.keep_tasks({}, later.back().id).empty());
  });
}

CAF_TEST(the history has the newest of all nodes) {
  on_every_engine([](ledger& store) {
    store.keep_tasks(tasks(1, finished_tasks_max), 0);
    store.keep_tasks(tasks(finished_tasks_max + 1, finished_tasks_max + 5), 0);
    CAF_CHECK(without_ids(store.keep_tasks({}, 0)) == tasks(6, finished_tasks_max + 5));
  });
}

} // namespace task_store_test
