// SPDX-License-Identifier: Apache-2.0
// Specific to the Postgres engine: pictures that several programs write at once.
#define CAF_SUITE store_postgres_pictures
#include "tests/store/port/engines.hpp"

#include <thread>

namespace postgres_pictures_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(a picture that is stored again while it is pruned stays) {
  postgres_schema schema;
  postgres_ledger store(
    {.url = schema.url(), .patience = {.lock = seconds{30}, .write = seconds{30}}, .steady_now = steady_now});
  const picture_row row{std::string(64, '0'), default_tenant, {}, noon, {'s'}, {'m'}, {'l'}};
  CAF_REQUIRE(store.store_picture(row));
  prune_bounds bounds{};
  bounds.limit = 10;
  bounds.pictures_before = noon + seconds{1};
  while (pictures_to_prune(bounds.pictures_before).first != "00")
    bounds.pictures_before += picture_slice_time;
  schema.execute("BEGIN; UPDATE picture SET stored_at = stored_at + 86400000");
  std::thread pruning([&] { store.prune(bounds); });
  while (schema.integer("SELECT count(*) FROM pg_locks"
                        " WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))")
         == 0)
    std::this_thread::yield();
  schema.execute("COMMIT");
  pruning.join();
  CAF_CHECK(!store.find_picture(row.id, picture_size::small).empty());
  bounds.pictures_before += seconds{2 * 86'400};
  while (pictures_to_prune(bounds.pictures_before).first != "00")
    bounds.pictures_before += picture_slice_time;
  CAF_CHECK_EQUAL(store.prune(bounds), 1u);
}

} // namespace postgres_pictures_test
