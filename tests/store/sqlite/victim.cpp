// SPDX-License-Identifier: Apache-2.0
// Commits the planned batches to the ledger file of its argument until it is killed. Writes a byte to
// standard output after each acknowledged batch. Run by sqlite_kill_test.
#include "store/sqlite/sqlite_ledger.hpp"
#include "tests/store/sqlite/victim_plan.hpp"

#include <unistd.h>

using namespace fq;
using namespace fq::test;

namespace {

void create_sale(ledger& store) {
  const auto catalog = store.acquire_unleased(catalog_aggregate, never);
  ticket_type_row type;
  type.total = 1'000'000;
  const changes creation{event_created{victim_event(), {type}}};
  const batch b{catalog_aggregate, catalog->epoch, 0, 1, victim_start, creation};
  store.commit({&b, 1});
}

int commit_until_killed(ledger& store) {
  if (store.last_aggregate() < victim_sale) create_sale(store);
  const auto taken = store.acquire_unleased(victim_sale, never);
  auto entries = planned_after(taken->applied_seq).entries;
  for (auto s = taken->applied_seq + 1;; ++s) {
    const batch b{victim_sale, taken->epoch, s - 1, s, victim_start, planned_changes(s, entries)};
    if (store.commit({&b, 1}).at(0) != commit_outcome::committed) return 1;
    entries += joins_in(s);
    const char acknowledged = '.';
    if (::write(STDOUT_FILENO, &acknowledged, 1) != 1) return 2;
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  // A small checkpoint limit, so that kills also hit checkpoints.
  sqlite_ledger store({.file = argv[1], .checkpoint_pages = 60});
  return commit_until_killed(store);
}
