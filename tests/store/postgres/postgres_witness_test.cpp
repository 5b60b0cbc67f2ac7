// SPDX-License-Identifier: Apache-2.0
// Specific to the Postgres engine: several nodes that are one witness.
#define CAF_SUITE store_postgres_witness
#include "tests/store/port/engines.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace postgres_witness_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(of many nodes that advance a witnessed log at once one does) {
  postgres_schema schema;
  const postgres_ledger_options options{
    .url = schema.url(), .patience = {.lock = seconds{30}, .write = seconds{30}}, .steady_now = steady_now};
  const std::string empty(64, '0');
  std::vector<std::unique_ptr<postgres_ledger>> nodes;
  for (int n = 0; n < 4; ++n) nodes.push_back(std::make_unique<postgres_ledger>(options));
  witnessed_before before{0, empty};
  for (std::uint64_t size = 1; size <= 20; ++size) {
    std::atomic<int> winners = 0;
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      threads.emplace_back([&, n] {
        const witnessed_row next{std::string(64, '1'),           "log", "ab", size,
                                 std::string(64, char('a' + n)), "",    noon};
        if (nodes[n]->store_witnessed(next, before)) ++winners;
      });
    for (auto& t : threads) t.join();
    CAF_REQUIRE_EQUAL(winners.load(), 1);
    const auto row = nodes[0]->find_witnessed(std::string(64, '1'));
    CAF_REQUIRE(row && row->size == size);
    before = {row->size, row->root};
  }
}

} // namespace postgres_witness_test
