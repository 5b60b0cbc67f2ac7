// SPDX-License-Identifier: Apache-2.0
#define CAF_SUITE push_window
#include "actors/sale/push_window.hpp"

#include "caf/test/unit_test.hpp"

namespace push_window_test {

using namespace fq;

CAF_TEST(a mark follows every so many changes and reading it makes room) {
  push_window w;
  CAF_CHECK(!w.pushed(push_mark_every - 1));
  const auto mark = w.pushed(1);
  CAF_REQUIRE(mark);
  CAF_CHECK_EQUAL(*mark, push_mark_every);
  for (std::uint64_t i = 0; i < 100 * push_window_max / push_mark_every; ++i) {
    const auto next = w.pushed(push_mark_every);
    CAF_REQUIRE(next);
    CAF_CHECK(!w.is_closed());
    CAF_CHECK(!w.read(*next)); // it has missed no push
  }
}

CAF_TEST(who reads nothing is told no more and begins anew when it has missed something and read the rest) {
  push_window w;
  std::optional<std::uint64_t> first, last;
  while (!w.is_closed()) {
    const auto mark = w.pushed(push_mark_every - 1);
    if (!mark) continue;
    if (!first) first = mark;
    last = mark;
  }
  CAF_REQUIRE(first && last && *first != *last);
  w.miss();
  CAF_CHECK(!w.read(*first));
  CAF_CHECK(w.is_closed()); // some pushes are still in flight
  CAF_CHECK(w.read(*last));
  CAF_CHECK(!w.is_closed());
}

CAF_TEST(who was slow for a moment and missed nothing goes on) {
  push_window w;
  std::optional<std::uint64_t> first;
  while (!w.is_closed())
    if (const auto mark = w.pushed(push_mark_every); mark && !first) first = mark;
  CAF_CHECK(!w.read(*first));
  CAF_CHECK(!w.is_closed());
}

CAF_TEST(one large push does not close the window) {
  push_window w;
  const auto mark = w.pushed(10 * push_window_max);
  CAF_CHECK(mark);
  CAF_CHECK(!w.is_closed());
}

CAF_TEST(two large pushes that nobody reads close it) {
  push_window w;
  w.pushed(10 * push_window_max);
  w.pushed(push_counts_at_most);
  CAF_CHECK(w.is_closed());
}

CAF_TEST(marks of nobody or of long ago change nothing) {
  push_window w;
  std::uint64_t last = 0;
  while (!w.is_closed()) last = w.pushed(push_mark_every).value_or(last);
  w.miss();
  CAF_CHECK(!w.read(last + 1));
  CAF_CHECK(w.read(last));
  CAF_CHECK(!w.read(last - 1));
}

} // namespace push_window_test
