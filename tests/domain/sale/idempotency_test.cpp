// SPDX-License-Identifier: Apache-2.0
// Stored answers: replayed for a day, refused for another body, bounded in number.
#define CAF_SUITE domain_idempotency
#include "domain/sale/idempotency.hpp"

#include "caf/test/unit_test.hpp"

namespace idempotency_test {

using namespace fq;

namespace {

const timestamp noon = from_unix_ms(1'795'000'000'000);
using v = idempotency_verdict;

idempotency_row row(std::uint64_t key, timestamp at, char answer = 'a') {
  return {{key, 1}, {7, 7}, at, {answer}};
}
v look(const idempotency_index& index, std::uint64_t key, timestamp now, std::uint64_t body = 7,
       char expected = 'a') {
  const std::vector<char>* answer = nullptr;
  const auto verdict = index.look_up({key, 1}, {body, 7}, now, &answer);
  CAF_CHECK_EQUAL(verdict == v::replay, answer != nullptr);
  if (answer != nullptr) CAF_CHECK(*answer == std::vector<char>{expected});
  return verdict;
}

} // namespace

CAF_TEST(the same key and body is a replay another body a conflict another key is fresh) {
  idempotency_index index;
  changes out;
  CAF_CHECK(look(index, 1, noon) == v::fresh);
  index.store(row(1, noon), out);
  CAF_CHECK(std::get<idempotency_stored>(out.at(0)).row == row(1, noon));
  CAF_CHECK(look(index, 1, noon) == v::replay);
  CAF_CHECK(look(index, 1, noon, 8) == v::other_body);
  CAF_CHECK(look(index, 2, noon) == v::fresh);
}

CAF_TEST(an answer lives 24 hours) {
  idempotency_index index;
  changes out;
  index.store(row(1, noon), out);
  CAF_CHECK(look(index, 1, noon + idempotency_life - milliseconds{1}) == v::replay);
  CAF_CHECK(look(index, 1, noon + idempotency_life) == v::fresh);
  CAF_CHECK(look(index, 1, noon + idempotency_life, 8) == v::fresh);
  index.store(row(2, noon + idempotency_life + milliseconds{1}), out);
  CAF_CHECK_EQUAL(index.size(), 1u); // deleted, not only hidden
}

CAF_TEST(a key used anew after its day lives another day) {
  idempotency_index index;
  changes out;
  index.store(row(1, noon), out);
  index.store(row(2, noon + seconds{10}), out);
  const auto later = noon + idempotency_life + seconds{5};
  index.store(row(1, later, 'b'), out);
  CAF_CHECK(look(index, 1, later + seconds{1}, 7, 'b') == v::replay);
  index.store(row(3, later + seconds{6}), out); // now 2 is too old; 1 is not
  CAF_CHECK_EQUAL(index.size(), 2u);
  CAF_CHECK(look(index, 2, later + seconds{6}) == v::fresh);
  CAF_CHECK(look(index, 1, later + seconds{6}, 7, 'b') == v::replay);
}

CAF_TEST(beyond the bound the oldest answer is forgotten after a load too) {
  idempotency_index index;
  changes out;
  for (std::uint64_t n = 0; n < idempotency_rows_max; ++n) index.load(row(n, noon + milliseconds{n / 1000}));
  CAF_CHECK_EQUAL(index.size(), idempotency_rows_max);
  index.store(row(idempotency_rows_max, noon + seconds{1}), out);
  CAF_CHECK_EQUAL(index.size(), idempotency_rows_max);
  CAF_CHECK(look(index, 0, noon + seconds{1}) == v::fresh);
  CAF_CHECK(look(index, 1, noon + seconds{1}) == v::replay);
  CAF_CHECK(look(index, idempotency_rows_max, noon + seconds{1}) == v::replay);
}

} // namespace idempotency_test
