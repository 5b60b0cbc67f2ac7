// SPDX-License-Identifier: Apache-2.0
// A set of ranks against std::set.
#define CAF_SUITE domain_rank_set
#include "domain/line/rank_set.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <set>

namespace rank_set_test {

using namespace fq;
using namespace fq::test;

namespace {

using model = std::set<std::uint64_t>;

std::uint64_t some(const model& m, std::uint64_t last, dice& d) {
  const auto i = m.lower_bound(d.below(last) + 1);
  return i == m.end() ? *m.rbegin() : *i;
}

void random_walk(std::uint64_t seed, std::uint64_t size, int steps) {
  dice d{seed};
  model m;
  rank_set numbers;
  std::uint64_t last = 0;
  const auto insert = [&](std::uint64_t n) {
    last = std::max(last, n);
    if (m.insert(n).second) numbers.insert(line_rank{n});
  };
  const auto erase = [&](std::uint64_t n) {
    m.erase(n);
    numbers.erase(line_rank{n});
  };
  while (last < size) insert(last + (d.chance(5) ? 1 + d.below(1500) : 1));
  for (int step = 0; step < steps; ++step) {
    const auto what = d.below(100);
    if (m.empty() || what < 30)
      insert(last + (d.chance(2) ? 1 + d.below(700) : 1));
    else if (what < 50)
      insert(d.below(last) + 1); // who comes back, or changes its group
    else
      erase(what < 75 ? *m.begin() : some(m, last, d));
    FQ_HOLDS(seed, numbers.size() == m.size() && numbers.empty() == m.empty());
    FQ_HOLDS(seed, numbers.first() == (m.empty() ? std::nullopt : std::optional{line_rank{*m.begin()}}));
    const auto n = d.below(last + 600) + 1; // whether it is in the set or not
    FQ_HOLDS(seed, numbers.place(line_rank{n})
                     == 1 + static_cast<std::uint64_t>(std::distance(m.begin(), m.lower_bound(n))));
  }
  std::uint64_t place = 0;
  for (const auto n : m) FQ_HOLDS(seed, numbers.place(line_rank{n}) == ++place);
}

} // namespace

CAF_TEST(an empty set has no first) {
  rank_set numbers;
  CAF_CHECK(!numbers.first());
  CAF_CHECK(numbers.empty());
  CAF_CHECK_EQUAL(numbers.place(line_rank{7}), 1u);
}

CAF_TEST(small sets behave like the model) {
  for_seeds(200, [](std::uint64_t seed) { random_walk(seed, seed % 70, 150); });
}

CAF_TEST(sets around the block borders behave like the model) {
  const std::array<std::uint64_t, 10> sizes{511, 512, 513, 1023, 1024, 1025, 1536, 4096, 4097, 9000};
  for_seeds(200, [&](std::uint64_t seed) { random_walk(seed, sizes[seed % sizes.size()], 120); });
}

CAF_TEST(a set drained from the front answers in order across many blocks) {
  rank_set numbers;
  for (std::uint64_t n = 1; n <= 5000; ++n) numbers.insert(line_rank{n});
  for (std::uint64_t n = 1; n <= 5000; ++n) {
    FQ_HOLDS(0, numbers.first() == line_rank{n});
    FQ_HOLDS(0, numbers.place(line_rank{5000}) == 5001 - n);
    numbers.erase(line_rank{n});
  }
  CAF_CHECK(!numbers.first());
}

CAF_TEST(prefix counts grow and sum like a list) {
  for_seeds(200, [](std::uint64_t seed) {
    dice d{seed};
    prefix_counts counts;
    std::vector<std::int32_t> list;
    for (int step = 0; step < 200; ++step) {
      if (list.empty() || d.chance(30)) {
        counts.append();
        list.push_back(0);
      } else {
        const auto i = d.below(list.size());
        const std::int32_t delta =
          list[i] > 0 && d.chance(60) ? -list[i] : static_cast<std::int32_t>(d.below(5));
        counts.add(i, delta);
        list[i] += delta;
      }
      std::uint64_t sum = 0;
      std::size_t first = list.size();
      for (std::size_t i = 0; i < list.size(); ++i) {
        FQ_HOLDS(seed, counts.before(i) == sum);
        if (list[i] != 0 && first == list.size()) first = i;
        sum += static_cast<std::uint64_t>(list[i]);
      }
      FQ_HOLDS(seed, counts.before(list.size()) == sum);
      FQ_HOLDS(seed, counts.first_nonzero() == first);
      FQ_HOLDS(seed, counts.size() == list.size());
    }
  });
}

} // namespace rank_set_test
