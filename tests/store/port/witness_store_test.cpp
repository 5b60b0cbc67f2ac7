// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: logs that this installation cosigns.
#define CAF_SUITE store_witness
#include "tests/store/port/engines.hpp"

namespace witness_store_test {

using namespace fq;
using namespace fq::test;

namespace {

std::string hash_of(std::uint64_t n) {
  const auto digits = std::to_string(n);
  return std::string(64 - digits.size(), '0') + digits;
}

witnessed_row row(std::uint64_t log, std::uint64_t size, std::uint64_t root, const std::string& key = "ab") {
  return {hash_of(log),  "log " + std::to_string(log),      key, size,
          hash_of(root), "note of " + std::to_string(size), noon};
}

} // namespace

CAF_TEST(a witnessed log advances only from the state that it has) {
  on_every_engine([](ledger& store) {
    CAF_CHECK(!store.find_witnessed(hash_of(1)));
    CAF_CHECK(!store.store_witnessed(row(1, 9, 9), {5, hash_of(5)})); // was never at 5
    CAF_CHECK(store.store_witnessed(row(1, 5, 5), {0, hash_of(0)}));
    CAF_CHECK(!store.store_witnessed(row(1, 7, 7), {0, hash_of(0)})); // another request was first
    CAF_CHECK(!store.store_witnessed(row(1, 7, 7), {5, hash_of(6)}));
    CAF_CHECK(store.find_witnessed(hash_of(1)) == row(1, 5, 5));
    CAF_CHECK(store.store_witnessed(row(1, 7, 7), {5, hash_of(5)}));
    CAF_CHECK(store.store_witnessed(row(1, 7, 7), {7, hash_of(7)})); // the same again
    CAF_CHECK(store.find_witnessed(hash_of(1)) == row(1, 7, 7));
    CAF_CHECK(!store.find_witnessed(hash_of(2)));
  });
}

CAF_TEST(each log key has a limited number of witnessed logs) {
  on_every_engine([](ledger& store) {
    for (std::uint64_t log = 1; log <= witnessed_logs_per_key_max; ++log)
      CAF_REQUIRE(store.store_witnessed(row(log, 1, 1), {}));
    CAF_CHECK(!store.store_witnessed(row(20'000, 1, 1), {}));
    CAF_CHECK(store.store_witnessed(row(3, 2, 2), {1, hash_of(1)})); // has its place
    CAF_CHECK(store.store_witnessed(row(20'000, 1, 1, "cd"), {}));
  });
}

} // namespace witness_store_test
