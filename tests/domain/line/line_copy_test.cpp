// SPDX-License-Identifier: Apache-2.0
// The copy of a line, which hears only of moves, against the line itself.
#define CAF_SUITE domain_line_copy
#include "domain/line/limits.hpp"
#include "domain/line/line_copy.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <map>
#include <set>

namespace line_copy_test {

using namespace fq;
using namespace fq::test;
using news = line_copy::news;

namespace {

constexpr line_spot spot(std::uint64_t rank, std::uint8_t priority_class = 1) {
  return {priority_class, line_rank{rank}};
}

/// The naive line: places in order, some of them AWAY. Tells the copy of each change.
class walk {
public:
  explicit walk(std::uint64_t seed) : seed_(seed), d_(seed) {}

  void go(int steps) {
    for (std::uint64_t n = d_.below(2'000); n > 0; --n) join(); // before the copy begins
    copy_.begin(version_ = 1 + d_.below(1'000));
    for (int i = 0; i < steps; ++i) {
      const auto what = d_.below(100);
      if (what < 2) restart();
      if (what < 30) join();
      if (what >= 30 && what < 60) admit();
      if (what >= 60 && what < 70) end_some(entry_status::cancelled);
      if (what >= 70 && what < 75) end_some(entry_status::expired);
      if (what >= 75 && what < 85) turn_away();
      if (what >= 85) note();
      if (i % 8 == 0) check();
    }
  }

private:
  struct noted {
    std::int64_t base;
    std::uint32_t generation;
  };

  void tell(const std::set<line_spot>& arrived, const std::map<line_spot, entry_status>& changed) {
    const auto before = version_;
    version_ += 1 + d_.below(3); // other decisions are not told
    FQ_HOLDS(seed_, copy_.advance(before, version_) == news::next);
    for (const auto& s : arrived) copy_.arrived(s);
    for (const auto& [s, to] : changed) copy_.changed(s, to);
    FQ_HOLDS(seed_, copy_.advance(before, version_) == news::known);
  }
  void join() {
    const line_spot s{static_cast<std::uint8_t>(d_.chance(70) ? 1 : d_.below(priority_classes)),
                      line_rank{last_ += d_.chance(1) ? 700 : 1}};
    const bool overtakes = line_.upper_bound(s) != line_.end();
    line_[s] = false;
    if (overtakes && version_ > 0) tell({s}, {});
  }
  void admit() {
    std::map<line_spot, entry_status> changed;
    for (auto i = line_.begin(); i != line_.end() && changed.size() < 1 + d_.below(40);)
      if (i->second) {
        ++i;
      } else {
        changed[i->first] = entry_status::admitted;
        i = line_.erase(i);
      }
    if (!changed.empty()) tell({}, changed);
  }
  [[nodiscard]] std::map<line_spot, bool>::iterator some() {
    return std::next(line_.begin(), static_cast<std::ptrdiff_t>(d_.below(line_.size())));
  }
  void end_some(entry_status to) {
    if (line_.empty()) return;
    const auto i = some();
    const auto s = i->first;
    line_.erase(i);
    tell({}, {{s, to}});
  }
  void turn_away() {
    if (line_.empty()) return;
    const auto i = some();
    i->second = !i->second;
    tell({}, {{i->first, i->second ? entry_status::away : entry_status::waiting}});
  }
  void note() {
    if (line_.empty()) return;
    const auto i = some();
    if (!i->second) noted_[i->first] = {copy_.base_of(i->first, place_of(i->first)), generation_};
  }
  void restart() {
    copy_.begin(version_);
    ++generation_;
  }
  [[nodiscard]] std::uint64_t place_of(line_spot s) const {
    return 1 + static_cast<std::uint64_t>(std::distance(line_.begin(), line_.find(s)));
  }
  void check() {
    for (const auto& [s, n] : noted_) {
      if (n.generation != generation_) continue;
      const auto position = copy_.position(s, n.base);
      const auto own = line_.find(s);
      FQ_HOLDS(seed_, position.has_value() == (own != line_.end()));
      FQ_HOLDS(seed_, !position || *position == place_of(s));
      FQ_HOLDS(seed_, copy_.is_away(s) == (own != line_.end() && own->second));
    }
  }

  std::uint64_t seed_;
  dice d_;
  line_copy copy_;
  std::uint64_t version_ = 0, last_ = 0; ///< version 0: the copy has not begun
  std::uint32_t generation_ = 0;
  std::map<line_spot, bool> line_; ///< value: AWAY
  std::map<line_spot, noted> noted_;
};

} // namespace

CAF_TEST(random lines have the positions of the copy) {
  for_seeds(120, [](std::uint64_t seed) { walk{seed}.go(400); });
}

CAF_TEST(a copy notices that changes are missing) {
  line_copy c;
  c.begin(7);
  CAF_CHECK(c.advance(5, 6) == news::known);
  CAF_CHECK(c.advance(7, 7) == news::known);
  CAF_CHECK(c.advance(7, 9) == news::next);
  CAF_CHECK(c.advance(10, 11) == news::missed);
  CAF_CHECK(c.advance(7, 10) == news::missed);
  CAF_CHECK_EQUAL(c.version(), 9u);
}

CAF_TEST(ends of admitted entries move nobody) {
  line_copy c;
  c.begin(1);
  const auto base = c.base_of(spot(9), 5);
  for (const auto end : {entry_status::completed, entry_status::session_expired, entry_status::revoked})
    c.changed(spot(3), end);
  CAF_CHECK_EQUAL(c.moves(), 0u);
  c.changed(spot(3), entry_status::admitted);
  CAF_CHECK_EQUAL(*c.position(spot(9), base), 4u);
}

CAF_TEST(a copy has bounds and is full at them) {
  line_copy many;
  many.begin(1);
  for (std::uint64_t n = 1; n <= copied_moves_max; ++n) many.changed(spot(n), entry_status::admitted);
  CAF_CHECK(!many.is_full());
  many.changed(spot(copied_moves_max + 1), entry_status::admitted);
  CAF_CHECK(many.is_full());
  CAF_CHECK(many.advance(1, 2) == news::missed);
  many.begin(2);
  CAF_CHECK(!many.is_full() && many.moves() == 0);

  for (const auto wrong : {spot(0), spot(1, priority_classes), spot(10 + copied_ranks_max)}) {
    line_copy c;
    c.begin(1);
    c.arrived(spot(10));
    c.changed(wrong, entry_status::cancelled);
    CAF_CHECK(c.is_full());
  }
}

} // namespace line_copy_test
