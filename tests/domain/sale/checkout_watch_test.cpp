// SPDX-License-Identifier: Apache-2.0
// The rollback triggers in virtual time: each at its threshold and time, not earlier, not after a break, and
// never while checkout is synchronous.
#define CAF_SUITE domain_checkout_watch
#include "domain/sale/checkout_watch.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <string>
#include <vector>

namespace checkout_watch_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr milliseconds step{5'000};
constexpr milliseconds minute{60'000};

/// A process with a steady rate of ended orders: `served` and `failed` per step.
struct world {
  checkout_watch watch;
  checkout_look now{.at = milliseconds{1'000'000}, .workers = 32};
  milliseconds began = now.at;

  explicit world(const rollback_rules& rules = {}) : watch(rules) {}

  std::optional<rollback_trigger> tick(std::uint64_t served, std::uint64_t failed,
                                       milliseconds after = step) {
    now.at += after;
    now.succeeded += served;
    now.failed += failed;
    return watch.look(now);
  }
  /// The time from the first tick to the first trigger, with `served` and `failed` orders per tick; negative
  /// if none fires within `at_most`.
  milliseconds until_trigger(std::uint64_t served, std::uint64_t failed, milliseconds at_most,
                             rollback_trigger what) {
    const auto from = now.at;
    while (now.at - from < at_most)
      if (const auto due = tick(served, failed)) {
        CAF_CHECK_EQUAL(std::string{name_of(*due)}, std::string{name_of(what)});
        return now.at - from;
      }
    return milliseconds{-1};
  }
};

struct row {
  const char* what;
  std::uint64_t served, failed; ///< per step of 5 s
  std::uint64_t workers, queue;
  milliseconds first, last; ///< bounds of the expected time; negative: no trigger within half an hour
  rollback_trigger trigger;
};

constexpr milliseconds no{-1};
using enum rollback_trigger;

const std::vector<row> rows{
  {"all is well", 20, 0, 32, 3, no, no, success},
  {"nothing happens", 0, 0, 32, 0, no, no, success},
  {"80 % is enough", 16, 4, 32, 0, no, no, success},
  {"less than 80 % for five minutes", 15, 5, 32, 0, 5 * minute, 5 * minute + 2 * step, success},
  {"nobody is served", 0, 20, 32, 0, 5 * minute, 5 * minute + 2 * step, success},
  {"one failure every five seconds is twelve a minute", 0, 1, 32, 0, 5 * minute, 6 * minute + step, success},
  {"no worker and nobody who waits", 0, 0, 0, 0, no, no, workers},
  {"no worker and one who waits for two minutes", 0, 0, 0, 1, 2 * minute, 2 * minute + step, workers},
  {"a gateway that is tried has no worker to offer but one would do", 0, 0, 1, 400, no, no, workers},
  {"500 wait", 20, 0, 32, 500, no, no, queue},
  {"501 wait for ten minutes", 20, 0, 32, 501, 10 * minute, 10 * minute + step, queue},
  {"the shortest patience ends first", 0, 20, 0, 9'000, 2 * minute, 2 * minute + step, workers},
};

} // namespace

CAF_TEST(each trigger is due at its threshold after its time) {
  for (const auto& r : rows) {
    world w;
    w.now.workers = r.workers;
    w.now.queue = r.queue;
    const auto due = w.until_trigger(r.served, r.failed, 30 * minute, r.trigger);
    CAF_MESSAGE(r.what << ": " << due.count() << " ms");
    CAF_CHECK(r.first == no ? due == no : due >= r.first && due <= r.last);
  }
}

CAF_TEST(too few orders say nothing) {
  world slow;
  for (int i = 0; i < 360; ++i) {
    CAF_CHECK(!slow.tick(0, i % 2 == 0 ? 1 : 0)); // six per minute, for half an hour
    CAF_CHECK(!slow.watch.since(success));
  }
  world nine;
  CAF_CHECK(!nine.tick(0, 0));
  CAF_CHECK(!nine.tick(0, 9));
  CAF_CHECK(!nine.watch.since(success));
  CAF_CHECK(!nine.tick(0, 1));
  CAF_CHECK(nine.watch.since(success));
}

CAF_TEST(a short failure is forgotten) {
  world w;
  for (int i = 0; i < 12 * 10; ++i) {
    const bool is_bad = i >= 24 && i < 24 + 12 * 3; // three minutes of failures only
    CAF_CHECK(!w.tick(is_bad ? 0 : 20, is_bad ? 20 : 0));
  }
  CAF_CHECK(!w.watch.since(success));
}

CAF_TEST(a break of one look begins the time anew) {
  for (const auto t : {workers, queue}) {
    world w;
    const auto bad = [&] {
      w.now.workers = t == workers ? 0 : 32;
      w.now.queue = t == queue ? 501 : 1;
    };
    bad();
    const auto almost = t == workers ? 2 * minute : 10 * minute;
    for (milliseconds waited{0}; waited < almost; waited += step) CAF_CHECK(!w.tick(0, 0));
    w.now.workers = 32;
    w.now.queue = 0;
    CAF_CHECK(!w.tick(0, 0));
    bad();
    const auto due = w.until_trigger(0, 0, 30 * minute, t);
    CAF_CHECK(due >= almost);
  }
}

CAF_TEST(what happened while nobody looked is not held against anybody) {
  world w;
  w.now.workers = 0;
  w.now.queue = 1;
  for (milliseconds waited{0}; waited < 2 * minute - step; waited += step) CAF_CHECK(!w.tick(0, 0));
  CAF_CHECK(!w.tick(0, 0, milliseconds{30'001}));
  CAF_CHECK(w.until_trigger(0, 0, 30 * minute, workers) >= 2 * minute);
  // Orders that failed during the sleep do not count as of the last minute.
  world asleep;
  CAF_CHECK(!asleep.tick(0, 0));
  CAF_CHECK(!asleep.tick(0, 5'000, 10 * minute));
  CAF_CHECK(!asleep.watch.since(success));
}

CAF_TEST(it says so until checkout is synchronous and begins anew when a person switches back) {
  world w;
  w.now.queue = 501;
  CAF_CHECK(w.until_trigger(20, 0, 30 * minute, queue) >= 10 * minute);
  for (int i = 0; i < 3; ++i) CAF_CHECK(w.tick(20, 0) == queue);
  w.now.is_async = false;
  for (int i = 0; i < 500; ++i) CAF_CHECK(!w.tick(20, 0));
  CAF_CHECK(!w.watch.since(queue));
  w.now.is_async = true;
  CAF_CHECK(w.until_trigger(20, 0, 30 * minute, queue) >= 10 * minute);
}

/// Compares with a second, slower implementation that keeps all steps and scans them from the end.
CAF_TEST(random walks agree with a reading of the whole history) {
  std::size_t triggers = 0;
  for_seeds(40, [&triggers](std::uint64_t seed) {
    dice d{seed};
    rollback_rules rules;
    rules.success_for = 40 * step;
    rules.workers_for = 10 * step;
    rules.queue_for = 60 * step;
    world w{rules};
    std::vector<checkout_look> all;
    std::size_t since_break = 0;
    std::uint64_t mood = 0;
    for (int i = 0; i < 2'000; ++i) {
      if (d.bits() % 60 == 0) mood = d.bits() % 5;
      w.now.workers = mood == 1 && d.bits() % 80 != 0 ? 0 : 32;
      w.now.queue = mood == 2 ? 400 + d.bits() % 2'000 : d.bits() % 3;
      w.now.is_async = d.bits() % 400 != 0;
      const auto gap = d.bits() % 200 == 0 ? 8 * step : step;
      const bool is_bad = mood == 3;
      const auto got = w.tick(is_bad ? d.bits() % 3 : 10, is_bad ? d.bits() % 6 : 0, gap);
      if (gap > rules.gap_max || !w.now.is_async) since_break = all.size();
      all.push_back(w.now);
      const auto holds = [&](std::size_t at, rollback_trigger t) {
        const auto& l = all[at];
        if (!l.is_async) return false;
        if (t == workers) return l.workers == 0 && l.queue > 0;
        if (t == queue) return l.queue > rules.queue_max;
        auto base = at;
        while (base > since_break && l.at - all[base].at < rules.success_span) --base;
        const auto served = l.succeeded - all[base].succeeded, ended = served + l.failed - all[base].failed;
        return ended >= rules.orders_min && served * 100 < ended * rules.success_percent_min;
      };
      const auto is_due = [&](rollback_trigger t, milliseconds patience) {
        auto from = all.size();
        while (from > since_break && holds(from - 1, t)) --from;
        return from < all.size() && w.now.at - all[from].at >= patience;
      };
      std::optional<rollback_trigger> expected;
      if (w.now.is_async)
        expected = is_due(success, rules.success_for)   ? std::optional{success}
                   : is_due(workers, rules.workers_for) ? std::optional{workers}
                   : is_due(queue, rules.queue_for)     ? std::optional{queue}
                                                        : std::nullopt;
      FQ_HOLDS(seed, got == expected);
      triggers += got ? 1 : 0;
    }
  });
  CAF_CHECK(triggers > 100); // the walks reached enough triggers
}

CAF_TEST(the setting is what was stored or else what is configured) {
  CAF_CHECK_EQUAL(async_percent_of("", 70), 70);
  CAF_CHECK_EQUAL(async_percent_of("0", 70), 0);
  CAF_CHECK_EQUAL(async_percent_of("35", 70), 35);
  CAF_CHECK_EQUAL(async_percent_of("x", 70), 70);
}

} // namespace checkout_watch_test
