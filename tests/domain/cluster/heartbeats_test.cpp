// SPDX-License-Identifier: Apache-2.0
// Which nodes count as silent: only after several readings that are a heartbeat interval apart.
#define CAF_SUITE heartbeats
#include "domain/cluster/heartbeats.hpp"

#include <caf/test/unit_test.hpp>

#include <vector>

namespace heartbeats_test {

using namespace fq;

namespace {

constexpr milliseconds interval{1'000};

struct reader {
  /// Reads the heartbeats of this node and of "b" after `pause`; `beat`: the time in b's heartbeat, 0: no
  /// row.
  void read(milliseconds pause, std::int64_t beat, bool was_missing = false) {
    now += pause;
    std::vector<node_row> rows{{"a", "", 1, 0, true, false, from_unix_ms(now.count()), true}};
    if (beat != 0) rows.push_back({"b", "", 1, 0, true, false, from_unix_ms(beat), true});
    watch.read("a", rows, now, interval, was_missing);
  }
  [[nodiscard]] bool is_silent() const {
    const auto found = watch.others().find("b");
    return found != watch.others().end() && found->second.is_silent();
  }
  heartbeat_watch watch;
  milliseconds now{10'000};
};

} // namespace

CAF_TEST(a node that beats is not silent) {
  reader r;
  for (int beat = 1; beat <= 10; ++beat) {
    r.read(interval, beat);
    CAF_CHECK(!r.is_silent());
  }
  CAF_CHECK(!r.watch.others().contains("a"));
}

CAF_TEST(three readings without a new heartbeat are silence with the row or without it) {
  for (const std::int64_t later : {1, 0}) {
    reader r;
    r.read(interval, 1);
    for (int i = 0; i < 2; ++i) r.read(interval, later);
    CAF_CHECK(!r.is_silent());
    r.read(interval, later);
    CAF_CHECK(r.is_silent());
    CAF_CHECK(r.watch.others().at("b").row.seen_at == from_unix_ms(1));
    r.read(interval, 2);
    CAF_CHECK(!r.is_silent());
  }
}

CAF_TEST(readings that come together count as one) {
  reader r;
  r.read(interval, 1);
  r.read(10 * interval, 1); // the ledger was away
  for (int i = 0; i < 9; ++i) r.read(milliseconds{1}, 1);
  CAF_CHECK(!r.is_silent());
  CAF_CHECK_EQUAL(r.watch.others().at("b").unchanged, 1u);
}

CAF_TEST(a node knows this one when it beats after this one) {
  reader r;
  const auto knows_us = [&] { return r.watch.others().at("b").knows_us; };
  r.read(interval, 1, true); // the first reading
  CAF_CHECK(!knows_us());
  r.read(interval, 1);
  CAF_CHECK(!knows_us());
  r.read(interval, 2);
  CAF_CHECK(knows_us());
  r.read(10 * interval, 3, true); // this node's row had ended meanwhile
  CAF_CHECK(!knows_us());
  r.read(interval, 4);
  CAF_CHECK(knows_us());
}

CAF_TEST(a silent node is forgotten in time) {
  reader r;
  r.read(interval, 1);
  for (std::uint32_t i = 0; i < watched_readings_max; ++i) r.read(interval, 0);
  CAF_CHECK(r.is_silent());
  r.read(interval, 0);
  CAF_CHECK(r.watch.others().empty());
}

} // namespace heartbeats_test
