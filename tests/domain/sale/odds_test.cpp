// SPDX-License-Identifier: Apache-2.0
// The odds of a place in line: what they are in plain cases, and whether they come true. For that, sales of
// different shapes are simulated by the sale itself, and some fans note their odds. They stay in line, and
// want one ticket.
#define CAF_SUITE domain_sale_odds
#include "domain/line/outlook.hpp"
#include "domain/sale/waiting_list.hpp"
#include "tests/domain/sale/sample_sale.hpp"

#include "caf/test/unit_test.hpp"

#include <array>
#include <iomanip>
#include <iostream>
#include <queue>

namespace odds_test {

using namespace fq;
using namespace fq::test;

namespace {

/// 800 of 2,500 people admitted bought one ticket each; 800 are left.
sale_evidence seen() {
  sale_evidence e;
  e.sells = true;
  e.free = 800;
  e.decided = e.admitted = 2'500;
  e.buyers = e.bought = e.squares = 800;
  e.claimed = 900;
  e.joined = 6'000;
  e.waiting = 3'500;
  return e;
}

/// A sale of a random shape.
class shaped_sale {
public:
  struct note {
    likelihood told;
    std::uint64_t fan;
  };

  explicit shaped_sale(std::uint64_t seed) : dice_(seed) {
    people_ = 80 + dice_.below(420);
    show_ = part(50, 100);
    pay_ = part(30, 100);
    most_ = std::array{1u, 1u, 2u, 4u}[dice_.below(4)];
    drift_ = dice_.chance(30) ? part(0, 30) - 0.15 : 0;
    leaves_after_ = dice_.chance(40) ? 200 + dice_.below(3'000) : 0; // seconds
    arrives_within_ = std::array{1ull, 30ull, 900ull}[dice_.below(3)];
    const auto wanted = static_cast<double>(people_) * show_ * pay_ * (1 + most_) / 2;
    stock_ = std::max<std::int64_t>(static_cast<std::int64_t>(wanted * part(20, 95)), 10);
    auto event = sample_event();
    event.queue.policy =
      std::array{admission_policy::batch, admission_policy::capacity, admission_policy::rate}[dice_.below(3)];
    event.queue.batch_size = 2 + static_cast<std::uint32_t>(dice_.below(10));
    event.queue.concurrency = 5 + static_cast<std::uint32_t>(dice_.below(40));
    event.queue.rate_per_minute = 20 + static_cast<std::uint32_t>(dice_.below(100));
    event.queue.claim_window = seconds{60};
    event.queue.session_ttl = seconds{300};
    event.claim_ttl = seconds{120};
    event.sale_end = opening + seconds{48 * 3'600};
    sale_.load(
      event, {{.ordinal = 0, .id = {0x77, 1}, .name = "Standard", .total = stock_, .max_per_order = most_}});
    sale_.loaded();
    got_.resize(people_);
  }

  void run() {
    for (std::uint64_t n = 0; n < people_; ++n) {
      const bool is_first = dice_.chance(20);
      after(is_first ? 1'000 * arrives_within_ : 0, [this, n] { join(n); });
    }
    for (int i = 1; i <= 12; ++i) at(opening + seconds{20 * i * i}, [this] { note_odds(); });
    settle(decision{});
    while (!due_.empty() && steps_ < 200'000) {
      auto step = due_.top();
      due_.pop();
      now_ = std::max(now_, step.when);
      step.what();
      ++steps_;
    }
  }

  [[nodiscard]] const std::vector<note>& notes() const { return notes_; }
  [[nodiscard]] bool got(std::uint64_t fan) const { return got_[fan]; }

private:
  struct step {
    timestamp when;
    std::uint64_t order;
    std::function<void()> what;
    friend bool operator<(const step& a, const step& b) {
      return std::pair{a.when, a.order} > std::pair{b.when, b.order};
    }
  };

  double part(std::uint64_t low, std::uint64_t high) {
    return static_cast<double>(low + dice_.below(high - low + 1)) / 100;
  }
  bool chance(double p) { return static_cast<double>(dice_.below(1'000'000)) < p * 1'000'000; }
  /// Exponential, in milliseconds.
  std::uint64_t some_time(double mean_ms) {
    return static_cast<std::uint64_t>(-std::log1p(-static_cast<double>(dice_.below(1'000'000)) / 1e6)
                                      * mean_ms);
  }
  void at(timestamp when, std::function<void()> what) { due_.push({when, ++order_, std::move(what)}); }
  /// Within a random part of `spread_ms`.
  void after(std::uint64_t spread_ms, std::function<void()> what) {
    at(now_ + milliseconds{spread_ms == 0 ? 0 : dice_.below(spread_ms)}, std::move(what));
  }

  static bool is_watcher(std::uint64_t fan) { return fan % 8 == 3; }

  void settle(decision d) {
    const auto wake = sale_.run(now_, d);
    for (const auto& c : d.entry_changes)
      if (c.status == entry_status::admitted) admitted(fan_at_[value_of(c.number)]);
    const auto next = wake.again ? now_ : wake.at;
    if (is_set(next) && (!is_set(wakes_at_) || next < wakes_at_ || wakes_at_ <= now_)) {
      wakes_at_ = std::max(next, now_ + milliseconds{1});
      at(wakes_at_, [this] { settle({}); });
    }
  }

  void join(std::uint64_t n) {
    decision d;
    const auto done = sale_.join(fan(n), 0, now_, d);
    if (!done.no) fan_at_[value_of(done.number)] = n;
    settle(std::move(d));
    if (leaves_after_ == 0 || is_watcher(n)) return;
    at(now_ + milliseconds{some_time(1'000.0 * static_cast<double>(leaves_after_))}, [this, n] {
      const auto* e = sale_.queue().find(fan(n));
      if (e == nullptr || !is_in_line(e->status)) return;
      decision left;
      static_cast<void>(sale_.leave(fan(n), now_, left));
      settle(std::move(left));
    });
  }

  void admitted(std::uint64_t n) {
    const auto shift = drift_ * (static_cast<double>(n) / static_cast<double>(people_) - 0.5);
    if (is_watcher(n))
      return at(now_ + milliseconds{100 + dice_.below(5'000)}, [this, n] { claim(n, 1, true); });
    if (!chance(show_ + shift)) return;
    const auto wanted = 1 + static_cast<std::uint32_t>(dice_.below(most_));
    const bool pays = chance(pay_ + shift);
    at(now_ + milliseconds{500 + some_time(15'000)}, [=, this] { claim(n, wanted, pays); });
  }

  void claim(std::uint64_t n, std::uint32_t wanted, bool pays) {
    const auto* e = sale_.queue().find(fan(n));
    if (e == nullptr || e->status != entry_status::admitted) return;
    decision d;
    claim_id opened;
    const auto no = sale_.open_claim(fan(n), e, {{{0x77, 1}, wanted}}, now_, d, opened);
    if (no.why == reason::none_free)
      at(now_ + milliseconds{2'000}, [=, this] { claim(n, wanted > 1 ? wanted - 1 : 1, pays); });
    if (no) return;
    settle(std::move(d));
    if (is_watcher(n)) got_[n] = true;
    at(now_ + milliseconds{3'000 + some_time(20'000)}, [=, this] { finish(n, opened, pays); });
  }

  void finish(std::uint64_t n, const claim_id& id, bool pays) {
    if (sale_.claims().find(id)->status != claim_status::claimed) return;
    decision d;
    if (pays)
      static_cast<void>(sale_.open_payment(fan(n), id, "sandbox", now_, d));
    else if (dice_.chance(50))
      static_cast<void>(sale_.release_claim(fan(n), id, now_, d, true));
    settle(std::move(d));
  }

  void note_odds() {
    for (std::uint64_t n = 0; n < people_; ++n) {
      if (!is_watcher(n)) continue;
      const auto* e = sale_.queue().find(fan(n));
      if (e == nullptr) continue;
      const auto odds = outlook_of(sale_, *e, now_);
      if (odds.chance != likelihood::unknown) notes_.push_back({odds.chance, n});
    }
  }

  dice dice_;
  sale sale_{sale_rules{}, [this] { return dice_.bits(); }};
  timestamp now_ = opening, wakes_at_ = never;
  std::priority_queue<step> due_;
  std::uint64_t order_ = 0, steps_ = 0;
  std::uint64_t people_ = 0, leaves_after_ = 0, arrives_within_ = 0;
  std::uint32_t most_ = 1;
  std::int64_t stock_ = 0;
  double show_ = 1, pay_ = 1, drift_ = 0;
  std::map<std::uint64_t, std::uint64_t> fan_at_; ///< by queue number
  std::vector<bool> got_;
  std::vector<note> notes_;
};

struct told_count {
  std::uint64_t told = 0, got = 0;
};

} // namespace

CAF_TEST(the odds name the people before a place and the tickets that they will buy) {
  const auto o = outlook_of(seen(), 2'001);
  CAF_CHECK(o.is_known && o.has_share && !o.waiting_list);
  CAF_CHECK_EQUAL(o.ahead, 2'000u);
  CAF_CHECK_EQUAL(o.buyers, 640u);
  CAF_CHECK_EQUAL(o.wanted, 640u);
  CAF_CHECK(o.share == (percent_range{30, 34}));
  CAF_CHECK(o.chance == likelihood::almost_certain);
}

CAF_TEST(the chance falls with the place and with the stock) {
  auto before = likelihood::almost_certain;
  for (std::uint64_t position = 1; position < 5'000; position += 50) {
    const auto chance = outlook_of(seen(), position).chance;
    CAF_CHECK(chance <= before);
    before = chance;
  }
  CAF_CHECK(before == likelihood::very_unlikely);
  auto fewer = seen();
  fewer.free = 640;
  CAF_CHECK(outlook_of(fewer, 2'001).chance == likelihood::even);
}

CAF_TEST(a chance is unknown before enough was seen but where stock suffices for all) {
  sale_evidence e;
  e.sells = true;
  e.free = 100;
  e.most = 4;
  CAF_CHECK(outlook_of(e, 25).chance == likelihood::almost_certain);
  const auto o = outlook_of(e, 26);
  CAF_CHECK(o.is_known && !o.has_share && o.chance == likelihood::unknown);
  CAF_CHECK(!outlook_of({}, 1).is_known);
}

CAF_TEST(a waiting list has no chance) {
  auto e = seen();
  e.waiting_list = true;
  const auto o = outlook_of(e, 1);
  CAF_CHECK(o.waiting_list && o.chance == likelihood::unknown);
}

CAF_TEST(in each range the promised share gets a ticket within five points) {
  std::array<told_count, 8> counts{};
  for_seeds(500, [&](std::uint64_t seed) {
    shaped_sale s(seed);
    s.run();
    for (const auto& n : s.notes()) {
      auto& c = counts[static_cast<std::size_t>(n.told)];
      ++c.told;
      if (s.got(n.fan)) ++c.got;
    }
  });
  for (std::size_t i = 1; i < counts.size(); ++i) {
    const auto chance = static_cast<likelihood>(i);
    const auto [told, got] = counts[i];
    const auto percent =
      100.0 * static_cast<double>(got) / static_cast<double>(std::max<std::uint64_t>(told, 1));
    const auto range = range_of(chance);
    std::cout << std::setw(15) << name_of(chance) << std::setw(4) << range.low << "-" << std::setw(3)
              << range.high << " %: told " << std::setw(6) << told << ", got one " << std::fixed
              << std::setprecision(1) << percent << " %\n";
    CAF_CHECK(told >= 200);
    CAF_CHECK(percent >= range.low - 5.0 && percent <= range.high + 5.0);
  }
}

} // namespace odds_test
