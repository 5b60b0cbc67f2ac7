// SPDX-License-Identifier: Apache-2.0
// The book of parties against plain maps.
#define CAF_SUITE domain_party_book
#include "domain/line/party_book.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace party_book_test {

using namespace fq;
using namespace fq::test;

namespace {

using numbers = std::set<std::uint64_t>;

struct model {
  std::map<std::uint64_t, std::uint64_t> party_of;
  numbers in_line;

  [[nodiscard]] std::map<std::uint64_t, numbers> parties() const {
    std::map<std::uint64_t, numbers> all;
    for (const auto& [n, party] : party_of) all[party].insert(n);
    return all;
  }
};

/// Whether the book has what the model has.
bool agrees(const party_book& book, const model& truth) {
  std::map<std::uint64_t, numbers> seen;
  std::size_t entries = 0;
  book.each([&](queue_number party, std::span<const queue_number> all) {
    for (const auto n : all) seen[value_of(party)].insert(value_of(n));
    entries += all.size();
  });
  bool same = seen == truth.parties() && entries == truth.party_of.size();
  for (const auto& [party, all] : truth.parties()) {
    std::vector<queue_number> members;
    for (const auto n : all)
      if (truth.in_line.contains(n)) members.push_back(queue_number{n});
    same &= std::ranges::equal(members, book.members(queue_number{party}));
  }
  for (const auto& [n, party] : truth.party_of) same &= book.party_of(queue_number{n}) == queue_number{party};
  return same;
}

} // namespace

CAF_TEST(members come and change and leave and are forgotten) {
  for_seeds(20, [](std::uint64_t seed) {
    dice d{seed};
    party_book book;
    model truth;
    for (int step = 0; step < 300; ++step) {
      const auto n = 1 + d.below(30);
      const queue_number number{n};
      if (d.chance(60)) {
        const auto party = 100 + d.below(5);
        const bool is_in_line = d.chance(80);
        book.forget(number);
        book.enter(number, queue_number{party}, is_in_line);
        truth.party_of[n] = party;
        truth.in_line.erase(n);
        if (is_in_line) truth.in_line.insert(n);
      } else if (d.chance(50)) {
        book.left_line(number);
        truth.in_line.erase(n);
      } else {
        book.forget(number);
        truth.party_of.erase(n);
        truth.in_line.erase(n);
      }
      FQ_HOLDS(seed, agrees(book, truth));
    }
  });
}

} // namespace party_book_test
