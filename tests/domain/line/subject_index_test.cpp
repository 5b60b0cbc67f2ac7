// SPDX-License-Identifier: Apache-2.0
// The index of subjects against std::map.
#define CAF_SUITE domain_subject_index
#include "domain/line/subject_index.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <map>

namespace subject_index_test {

using namespace fq;
using namespace fq::test;

namespace {

/// `first`: where numbers start.
void random_walk(std::uint64_t seed, std::uint64_t first) {
  dice d{seed};
  std::map<std::uint64_t, uuid> subjects; // by number, as long as the index may ask for it
  std::map<uuid, std::uint64_t> newest;
  subject_index index;
  const auto subject_of = [&](queue_number n) { return subjects.at(value_of(n)); };
  std::uint64_t last = first;
  for (int step = 0; step < 400; ++step) {
    const uuid subject{d.below(60), 7};
    if (d.chance(60)) {
      subjects[++last] = subject;
      index.put(subject, queue_number{last}, subject_of);
      newest[subject] = last;
    } else if (!subjects.empty()) {
      const auto n = std::next(subjects.begin(), static_cast<std::ptrdiff_t>(d.below(subjects.size())));
      index.erase(queue_number{n->first}, subject_of);
      if (const auto known = newest.find(n->second); known != newest.end() && known->second == n->first)
        newest.erase(known);
      subjects.erase(n);
    }
    FQ_HOLDS(seed, index.size() == newest.size());
    for (std::uint64_t i = 0; i < 60; ++i) {
      const auto known = newest.find({i, 7});
      const auto found = index.find({i, 7}, subject_of);
      FQ_HOLDS(seed, found.has_value() == (known != newest.end()));
      if (found) FQ_HOLDS(seed, value_of(*found) == known->second);
    }
  }
}

} // namespace

CAF_TEST(an index finds the newest number of each subject) {
  for_seeds(100, [](std::uint64_t seed) { random_walk(seed, seed % 50); });
}

CAF_TEST(numbers beyond 32 bits are found too) {
  for (const auto cycle : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{200}})
    for_seeds(20, [&](std::uint64_t seed) { random_walk(seed, cycle * 0xffff'ffff - seed * 10); });
}

} // namespace subject_index_test
