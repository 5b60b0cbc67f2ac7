// SPDX-License-Identifier: Apache-2.0
// Splitting of a step: complete, without duplicates, no part too large.
#define CAF_SUITE cache_chunks
#include "tests/store/redis/engines.hpp"

using namespace fq;
using namespace fq::test;

namespace {

std::size_t size_of(const mirror_chunk& c) {
  return c.joined.size() + c.left.size() + c.sessions.size() + c.ended.size() + c.stock.size();
}

} // namespace

CAF_TEST(an empty delta is one empty chunk) {
  const mirror_delta nothing;
  const auto chunks = chunks_of(nothing);
  CAF_REQUIRE_EQUAL(chunks.size(), 1u);
  CAF_CHECK_EQUAL(size_of(chunks[0]), 0u);
  CAF_CHECK(chunks[0].last);
}

CAF_TEST(chunks carry every element once and in order) {
  mirror_delta d;
  d.joined = numbers(1, 7);
  d.left = numbers(8, 9);
  d.sessions = {sample_session(10), sample_session(11)};
  d.ended = {sample_session(12)};
  d.stock = {sample_stock(1, 5), sample_stock(2, 6)};
  for (std::size_t size_max = 1; size_max <= 15; ++size_max) {
    const auto chunks = chunks_of(d, size_max);
    CAF_CHECK_EQUAL(chunks.size(), (14 + size_max - 1) / size_max);
    mirror_delta together;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const auto& c = chunks[i];
      CAF_CHECK_EQUAL(c.part, i);
      CAF_CHECK_EQUAL(c.last, i + 1 == chunks.size());
      CAF_CHECK(size_of(c) <= size_max);
      together.joined.insert(together.joined.end(), c.joined.begin(), c.joined.end());
      together.left.insert(together.left.end(), c.left.begin(), c.left.end());
      together.sessions.insert(together.sessions.end(), c.sessions.begin(), c.sessions.end());
      together.ended.insert(together.ended.end(), c.ended.begin(), c.ended.end());
      together.stock.insert(together.stock.end(), c.stock.begin(), c.stock.end());
    }
    CAF_CHECK(together.joined == d.joined);
    CAF_CHECK(together.left == d.left);
    CAF_CHECK(together.sessions == d.sessions);
    CAF_CHECK(together.ended == d.ended);
    CAF_CHECK(together.stock == d.stock);
  }
}
