// SPDX-License-Identifier: Apache-2.0
// The events with named metrics: a bounded number, the fullest, and stable while the choice is still useful.
#define CAF_SUITE domain_busiest
#include "domain/base/busiest.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <algorithm>
#include <set>

namespace busiest_test {

using namespace fq;
using namespace fq::test;

namespace {

event_id event(std::uint64_t n) { return uuid{7, n}; }

std::vector<event_load> loads(std::vector<std::uint64_t> waiting) {
  std::vector<event_load> all;
  for (std::size_t i = 0; i < waiting.size(); ++i) all.push_back({event(i), waiting[i]});
  return all;
}

} // namespace

CAF_TEST(few are all shown and of many the fullest) {
  CAF_CHECK(busiest({}, {}, 3).empty());
  CAF_CHECK((busiest(loads({0, 0}), {}, 3) == std::vector{event(0), event(1)}));
  CAF_CHECK((busiest(loads({5, 1, 9, 7}), {}, 2) == std::vector{event(2), event(3)}));
  CAF_CHECK(busiest(loads({5, 1}), {}, 0).empty());
}

CAF_TEST(who is shown stays until somebody has more than twice as many) {
  const std::vector before{event(0), event(1)};
  CAF_CHECK((busiest(loads({50, 40, 80}), before, 2) == before));
  CAF_CHECK((busiest(loads({50, 40, 81}), before, 2) == std::vector{event(0), event(2)}));
  CAF_CHECK((busiest(loads({0, 0, 0, 0}), before, 2) == before));
  CAF_CHECK((busiest(loads({0, 0, 1, 2}), before, 2) == std::vector{event(3), event(2)}));
}

CAF_TEST(who has gone makes room) {
  const std::vector before{event(9), event(1)};
  CAF_CHECK((busiest(loads({5, 1, 2}), before, 2) == std::vector{event(1), event(0)}));
}

CAF_TEST(whatever happens they are few and different and nobody is left out who is much fuller) {
  for_seeds(50, [](std::uint64_t seed) {
    dice d{seed};
    std::vector<event_id> shown;
    for (int round = 0; round < 100; ++round) {
      std::vector<event_load> all;
      for (std::uint64_t i = 0; i < 60; ++i)
        if (d.bits() % 5 != 0)
          all.push_back({event(i), d.bits() % 4 == 0 ? d.bits() % 10'000 : d.bits() % 10});
      shown = busiest(all, shown, 8);
      FQ_HOLDS(seed, shown.size() == std::min<std::size_t>(8, all.size()));
      FQ_HOLDS(seed, std::set(shown.begin(), shown.end()).size() == shown.size());
      std::uint64_t least = ~std::uint64_t{0};
      for (const auto& id : shown) {
        const auto known = std::ranges::find(all, id, &event_load::event);
        FQ_HOLDS(seed, known != all.end());
        least = std::min(least, known->waiting);
      }
      for (const auto& one : all)
        FQ_HOLDS(seed, std::ranges::find(shown, one.event) != shown.end() || one.waiting <= 2 * least);
    }
  });
}

} // namespace busiest_test
