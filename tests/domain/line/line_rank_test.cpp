// SPDX-License-Identifier: Apache-2.0
// The order of a line against a naive model: a map from number to "is away".
#define CAF_SUITE domain_order
#include "domain/line/line_rank.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <map>

namespace line_rank_test {

using namespace fq;
using namespace fq::test;

namespace {

struct model {
  std::map<std::uint64_t, bool> away;
  std::uint64_t last = 0;

  std::uint64_t rank(std::uint64_t n) const {
    return 1 + static_cast<std::uint64_t>(std::distance(away.begin(), away.find(n)));
  }
  std::optional<queue_number> first() const {
    for (const auto& [n, is_away] : away)
      if (!is_away) return queue_number{n};
    return std::nullopt;
  }
  std::optional<queue_number> first_in_line() const {
    return away.empty() ? std::nullopt : std::optional{queue_number{away.begin()->first}};
  }
  std::uint64_t some(dice& d) const {
    auto i = away.lower_bound(d.below(last) + 1);
    return i == away.end() ? away.rbegin()->first : i->first;
  }
};

void random_walk(std::uint64_t seed, std::uint64_t size, int steps) {
  dice d{seed};
  model m;
  line_rank line;
  const auto append = [&](std::uint64_t gap) {
    m.last += gap;
    m.away[m.last] = false;
    line.append(queue_number{m.last});
  };
  while (m.last < size) append(d.chance(5) ? 1 + d.below(1500) : 1);
  for (int step = 0; step < steps; ++step) {
    const auto what = d.below(100);
    if (m.away.empty() || what < 25) {
      append(d.chance(2) ? 1 + d.below(700) : 1);
    } else if (what < 45) {
      const auto n = m.some(d);
      m.away.erase(n);
      line.remove(queue_number{n});
    } else if (what < 60) {
      if (const auto n = m.first()) { // as admission does
        m.away.erase(value_of(*n));
        line.remove(*n);
      }
    } else {
      const auto n = m.some(d);
      m.away[n] = what < 82;
      line.set_away(queue_number{n}, what < 82); // also repeated: no effect
    }
    FQ_HOLDS(seed, line.size() == m.away.size());
    FQ_HOLDS(seed, line.first() == m.first());
    FQ_HOLDS(seed, line.first_in_line() == m.first_in_line());
    if (m.away.empty()) continue;
    const auto n = m.some(d);
    FQ_HOLDS(seed, line.rank(queue_number{n}) == m.rank(n));
  }
  std::uint64_t place = 0;
  for (const auto& [n, away] : m.away) FQ_HOLDS(seed, line.rank(queue_number{n}) == ++place);
}

} // namespace

CAF_TEST(an empty line has nobody first) {
  line_rank line;
  CAF_CHECK(!line.first());
  CAF_CHECK(!line.first_in_line());
  CAF_CHECK_EQUAL(line.size(), 0u);
}

CAF_TEST(small lines behave like the model) {
  for_seeds(200, [](std::uint64_t seed) { random_walk(seed, seed % 70, 150); });
}

CAF_TEST(lines around the block borders behave like the model) {
  const std::array<std::uint64_t, 10> sizes{511, 512, 513, 1023, 1024, 1025, 1536, 4096, 4097, 9000};
  for_seeds(200, [&](std::uint64_t seed) { random_walk(seed, sizes[seed % sizes.size()], 120); });
}

CAF_TEST(a line drained from the front answers in order across many blocks) {
  line_rank line;
  for (std::uint64_t n = 1; n <= 5000; ++n) line.append(queue_number{n});
  for (std::uint64_t n = 1; n <= 5000; ++n) {
    FQ_HOLDS(0, line.first() == queue_number{n});
    FQ_HOLDS(0, line.rank(queue_number{5000}) == 5001 - n);
    line.remove(queue_number{n});
  }
  CAF_CHECK(!line.first());
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

} // namespace line_rank_test
