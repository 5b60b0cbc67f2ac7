// SPDX-License-Identifier: Apache-2.0
// Number of admissions by policy, and windows that survive restarts.
#define CAF_SUITE domain_admission
#include "domain/line/admission.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <map>
#include <string>
#include <vector>

namespace admission_test {

using namespace fq;
using namespace fq::test;

namespace {

const timestamp noon = from_unix_ms(1'795'000'000'000);

queue_settings with(admission_policy policy) {
  queue_settings q;
  q.policy = policy;
  q.batch_size = 50;
  q.admission_interval = seconds{5};
  return q;
}

struct example {
  std::string what;
  queue_settings settings;
  admission_state state;
  std::uint64_t expected;
};

admission_state crowd(std::uint64_t waiting, std::uint64_t active = 0) {
  return {.now = noon, .waiting = waiting, .active_sessions = active};
}
queue_settings concurrency(std::uint32_t n, admission_policy p = admission_policy::capacity) {
  auto q = with(p);
  q.concurrency = n;
  return q;
}
admission_state called(admission_state s, std::uint64_t n) {
  s.called = n;
  return s;
}

} // namespace

CAF_TEST(each policy alone) {
  const auto p_capacity = admission_policy::capacity;
  const std::vector<example> table{
    {"nobody waits", concurrency(10), crowd(0), 0},
    {"free slots", concurrency(10), crowd(100, 4), 6},
    {"fewer waiters than slots", concurrency(10), crowd(3, 4), 3},
    {"all slots taken", concurrency(10), crowd(100, 10), 0},
    {"concurrency lowered below the active ones", concurrency(10), crowd(100, 25), 0},
    {"unlimited concurrency", with(p_capacity), crowd(100, 25), 100},
    {"one decision is bounded", with(p_capacity), crowd(5000), admissions_per_decision_max},
    {"a batch", with(admission_policy::batch), crowd(500), 50},
    {"a batch within the concurrency", concurrency(60, admission_policy::batch), crowd(500, 30), 30},
    {"operated, nobody called", with(admission_policy::operated), crowd(100), 0},
    {"operated, seven called", with(admission_policy::operated), called(crowd(100), 7), 7},
    {"operated, never past the concurrency", concurrency(5, admission_policy::operated),
     called(crowd(100, 2), 7), 3},
    {"open admits at once", with(admission_policy::open), crowd(100, 1'000'000), 100},
    {"open whatever the concurrency", concurrency(1, admission_policy::open), crowd(100, 7), 100},
  };
  for (const auto& e : table) {
    const auto a = admissions_now(e.settings, {}, e.state);
    if (a.count != e.expected) CAF_ERROR(e.what << ": " << a.count << " instead of " << e.expected);
    CAF_CHECK(!is_set(a.retry_at)); // an empty window never blocks
  }
}

namespace {

unit_pools pools_of(std::uint64_t in_public, std::map<std::uint32_t, std::uint64_t> hidden = {}) {
  unit_pools pools;
  pools.add_public(in_public);
  for (const auto& [type, units] : hidden) pools.add_hidden(type, units);
  return pools;
}
entry_group waiting(hidden_types opens, std::uint64_t n) { return {opens, n, n, 0}; }
std::uint64_t room(const unit_pools& pools, std::vector<entry_group> groups) { return pools.room(groups); }

} // namespace

CAF_TEST(a booking takes a hidden unit first and never one of another) {
  auto pools = pools_of(2, {{0, 1}, {5, 1}});
  pools.book(0b1);
  CAF_CHECK(pools.serves(0)); // both public units are left
  pools.book(0b1);
  pools.book(0b1, 7); // more sessions than units: none of others are taken
  CAF_CHECK(!pools.serves(0));
  CAF_CHECK(!pools.serves(0b1));
  CAF_CHECK(pools.serves(0b100000));
  pools.book(0b100001);
  CAF_CHECK(!pools.serves(~hidden_types{}));
}

CAF_TEST(a type without a bit opens for none) {
  const auto pools = pools_of(0, {{hidden_types_max, 5}, {hidden_types_max + 1, 5}});
  CAF_CHECK(!pools.serves(~hidden_types{}));
}

CAF_TEST(only who could get a unit has room) {
  CAF_CHECK_EQUAL(room(pools_of(30), {waiting(0, 10)}), 10u);
  CAF_CHECK_EQUAL(room(pools_of(3), {waiting(0, 10)}), 3u);
  CAF_CHECK_EQUAL(room(pools_of(0, {{1, 5}}), {waiting(0, 10)}), 0u);
  CAF_CHECK_EQUAL(room(pools_of(0, {{1, 5}}), {waiting(0, 10), waiting(0b10, 2), waiting(0b1, 4)}), 2u);
  CAF_CHECK_EQUAL(room(pools_of(0, {{1, 5}, {0, 9}}), {waiting(0, 10), waiting(0b10, 8)}), 5u);
  CAF_CHECK_EQUAL(room(pools_of(unit_pools::unlimited), {waiting(0, 10), waiting(0b10, 8)}), 18u);
  CAF_CHECK_EQUAL(room(pools_of(1), {waiting(0, 0)}), 0u);
}

CAF_TEST(a batch is N per interval and says when the next one may come) {
  const auto q = with(admission_policy::batch);
  admission_window w;
  w.record(noon, 50);
  auto s = crowd(500);
  for (const auto& [later, count] :
       std::map<int, std::uint64_t>{{0, 0}, {1, 0}, {4999, 0}, {5000, 50}, {60'000, 50}}) {
    s.now = noon + milliseconds{later};
    const auto a = admissions_now(q, w, s);
    CAF_CHECK_EQUAL(a.count, count);
    CAF_CHECK(a.retry_at == (count == 0 ? noon + seconds{5} : never));
  }
  w = {};
  w.record(noon, 20); // a small first batch leaves room
  s.now = noon + seconds{1};
  const auto a = admissions_now(q, w, s);
  CAF_CHECK_EQUAL(a.count, 30u);
  CAF_CHECK(a.retry_at == noon + seconds{5});
}

CAF_TEST(a rate is N in any minute) {
  auto q = with(admission_policy::rate);
  q.rate_per_minute = 60;
  admission_window w;
  w.record(noon, 40);
  w.record(noon + seconds{30}, 15);
  auto s = crowd(500);
  s.now = noon + seconds{31};
  CAF_CHECK_EQUAL(admissions_now(q, w, s).count, 5u);
  CAF_CHECK(admissions_now(q, w, s).retry_at == noon + seconds{60});
  w.record(s.now, 5);
  CAF_CHECK_EQUAL(admissions_now(q, w, s).count, 0u);
  s.now = noon + seconds{60};
  CAF_CHECK_EQUAL(admissions_now(q, w, s).count, 40u);
  CAF_CHECK(admissions_now(q, w, s).retry_at == noon + seconds{90});
}

CAF_TEST(a rate limits batches and capacity too) {
  auto q = with(admission_policy::batch);
  q.rate_per_minute = 60;
  admission_window w;
  w.record(noon, 50);
  auto s = crowd(500);
  s.now = noon + seconds{5};
  const auto a = admissions_now(q, w, s);
  CAF_CHECK_EQUAL(a.count, 10u);
  CAF_CHECK(a.retry_at == noon + seconds{60});
}

CAF_TEST(no promise of time when time does not help) {
  admission_window w;
  w.record(noon, 50);
  auto q = with(admission_policy::batch);
  CAF_CHECK(!is_set(admissions_now(q, w, crowd(0)).retry_at));
  q.concurrency = 50;
  CAF_CHECK(!is_set(admissions_now(q, w, crowd(500, 50)).retry_at));
}

CAF_TEST(a window counts like a list in whatever order it was recorded) {
  for_seeds(200, [](std::uint64_t seed) {
    dice d{seed};
    std::vector<std::pair<timestamp, std::uint64_t>> list;
    admission_window in_order, shuffled;
    auto t = noon;
    for (int i = 0; i < 60; ++i) {
      t += milliseconds{d.below(3) * d.below(1000)}; // often the same time
      list.emplace_back(t, 1 + d.below(9));
      in_order.record(t, list.back().second);
    }
    auto mixed = list;
    for (std::size_t i = mixed.size(); i > 1; --i) std::swap(mixed[i - 1], mixed[d.below(i)]);
    for (const auto& [at, n] : mixed) shuffled.record(at, n); // as a load does
    const auto forgotten = noon + milliseconds{d.below(10'000)};
    in_order.forget_before(forgotten);
    in_order.record(t + seconds{1}, 7);
    shuffled.record(t + seconds{1}, 7);
    list.emplace_back(t + seconds{1}, 7);
    for (int i = 0; i < 40; ++i) {
      const milliseconds span{1 + d.below(30'000)};
      const auto now = list.back().first + milliseconds{d.below(5000)};
      std::uint64_t sum = 0;
      timestamp oldest = never;
      for (const auto& [at, n] : list) {
        if (at <= now - span) continue;
        sum += n;
        if (!is_set(oldest)) oldest = at + span;
      }
      FQ_HOLDS(seed, shuffled.count_within(span, now) == sum);
      FQ_HOLDS(seed, shuffled.oldest_leaves(span, now) == oldest);
      if (now - span < forgotten) continue;
      FQ_HOLDS(seed, in_order.count_within(span, now) == sum);
      FQ_HOLDS(seed, in_order.oldest_leaves(span, now) == oldest);
    }
  });
}

CAF_TEST(never more than a batch in any interval and never past the concurrency whatever happens between) {
  for_seeds(200, [](std::uint64_t seed) {
    dice d{seed};
    auto q = with(admission_policy::batch);
    q.batch_size = 1 + static_cast<std::uint32_t>(d.below(20));
    q.admission_interval = milliseconds{100 + d.below(3000)};
    q.concurrency = static_cast<std::uint32_t>(d.below(60));
    q.rate_per_minute = static_cast<std::uint32_t>(d.below(3) == 0 ? 1 + d.below(200) : 0);
    std::vector<std::pair<timestamp, std::uint64_t>> admitted;
    admission_window w;
    auto s = crowd(100'000);
    for (int step = 0; step < 200; ++step) {
      if (d.chance(5)) { // restart
        w = {};
        for (const auto& [at, n] : admitted) w.record(at, n);
      }
      const auto a = admissions_now(q, w, s);
      if (a.count > 0) {
        w.record(s.now, a.count);
        admitted.emplace_back(s.now, a.count);
        s.active_sessions += a.count;
        if (q.concurrency != 0) FQ_HOLDS(seed, s.active_sessions <= q.concurrency);
      } else if (is_set(a.retry_at)) {
        FQ_HOLDS(seed, a.retry_at > s.now);
      }
      std::uint64_t in_interval = 0, in_minute = 0;
      for (const auto& [at, n] : admitted) {
        in_interval += at > s.now - q.admission_interval ? n : 0;
        in_minute += at > s.now - rate_span ? n : 0;
      }
      FQ_HOLDS(seed, in_interval <= q.batch_size);
      FQ_HOLDS(seed, q.rate_per_minute == 0 || in_minute <= q.rate_per_minute);
      s.active_sessions -= std::min(s.active_sessions, d.below(6));
      s.now = d.chance(30) && is_set(a.retry_at) ? a.retry_at : s.now + milliseconds{d.below(900)};
      if (d.chance(20)) continue;
    }
  });
}

} // namespace admission_test
