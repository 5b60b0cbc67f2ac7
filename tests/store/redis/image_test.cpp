// SPDX-License-Identifier: Apache-2.0
// The cache's content after steps, on every engine.
#define CAF_SUITE cache_image
#include "tests/store/redis/engines.hpp"

#include <chrono>
#include <random>
#include <set>

using namespace fq;
using namespace fq::test;

namespace {

using steady = std::chrono::steady_clock;

/// The least that may be left of `life`, which began at `begin` or later; both clocks are rounded.
milliseconds left_of(milliseconds life, steady::time_point begin) {
  return life - std::chrono::duration_cast<milliseconds>(steady::now() - begin) - milliseconds{2};
}

} // namespace

CAF_TEST(a new generation begins with what its first step holds) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    CAF_CHECK(!o.read().found);
    FQ_APPLIED(
      o.begin(delta{}.join(numbers(1, 3)).admit({sample_session(4)}).count({sample_stock(1, 10, 2, 3)})));
    const auto r = o.read();
    CAF_CHECK(r.found);
    CAF_CHECK((r.image == mirror_image{numbers(1, 3), {sample_session(4)}, {sample_stock(1, 10, 2, 3)}}));
  });
}

CAF_TEST(an empty mirror is found empty) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_APPLIED(o.begin());
    FQ_APPLIED(o.put({}));
    CAF_CHECK(o.read().found);
    CAF_CHECK(o.image() == mirror_image{});
  });
}

CAF_TEST(steps follow the line from join to the end of a session) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_APPLIED(o.begin());
    FQ_APPLIED(o.put(delta{}.join(numbers(1, 5))));
    FQ_APPLIED(o.put(delta{}.join(numbers(6, 7)).leave({queue_number{4}}).admit({sample_session(1)})));
    const std::vector in_line{queue_number{2}, queue_number{3}, queue_number{5}, queue_number{6},
                              queue_number{7}};
    CAF_CHECK(o.image().waiting == in_line);
    CAF_CHECK((o.image().sessions == std::vector{sample_session(1)}));
    FQ_APPLIED(o.put(delta{}.admit({sample_session(3), sample_session(2)}).finish({sample_session(1)})));
    CAF_CHECK(o.image().waiting == numbers(5, 7));
    CAF_CHECK((o.image().sessions == std::vector{sample_session(2), sample_session(3)}));
    FQ_APPLIED(o.put(delta{}.leave(numbers(5, 7)).finish({sample_session(2), sample_session(3)})));
    CAF_CHECK(o.image() == mirror_image{});
  });
}

CAF_TEST(a drawn line is read by rank) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    o.ranks = line_ranks{{3, 1, 12, 4, 5, 6, 7, 8, 9, 10, 11, 2}};
    FQ_APPLIED(o.begin(delta{}.join(numbers(1, 14))));
    FQ_APPLIED(o.put(delta{}.leave(numbers(4, 11)).admit({sample_session(1)})));
    const std::vector in_line{queue_number{3}, queue_number{12}, queue_number{2}, queue_number{13},
                              queue_number{14}};
    CAF_CHECK(o.image().waiting == in_line);
  });
}

CAF_TEST(a session that changes overwrites the former one) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    auto s = sample_session(1, seconds{60});
    FQ_APPLIED(o.begin(delta{}.admit({s})));
    s.expires_at += seconds{300};
    ++s.admission_no;
    const auto begin = steady::now();
    FQ_APPLIED(o.put(delta{}.admit({s})));
    CAF_CHECK((o.image().sessions == std::vector{s}));
    const auto life = e.session_life(o, s);
    CAF_REQUIRE(life.has_value());
    CAF_CHECK(*life >= left_of(seconds{360}, begin));
  });
}

CAF_TEST(a session lives in the cache for what is left of it) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    const auto s = sample_session(1, seconds{600});
    o.now = noon + seconds{550};
    const auto begin = steady::now();
    FQ_APPLIED(o.begin(delta{}.admit({s})));
    const auto life = e.session_life(o, s);
    CAF_REQUIRE(life.has_value());
    CAF_CHECK(*life <= seconds{50});
    CAF_CHECK(*life >= left_of(seconds{50}, begin));
  });
}

CAF_TEST(a session ends by itself) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    const auto brief = sample_session(1, milliseconds{150});
    const auto lasting = sample_session(2);
    FQ_APPLIED(o.begin(delta{}.admit({brief, lasting})));
    e.pass(milliseconds{200});
    CAF_CHECK(!e.session_life(o, brief));
    CAF_CHECK((o.image().sessions == std::vector{lasting}));
    FQ_APPLIED(o.put(delta{}.finish({brief})));
    CAF_CHECK((o.image().sessions == std::vector{lasting}));
  });
}

CAF_TEST(a session that is already over is removed and leaves the line) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    auto s = sample_session(1);
    FQ_APPLIED(o.begin(delta{}.join(numbers(2, 3)).admit({s})));
    s.expires_at = o.now;
    auto other = sample_session(2);
    other.expires_at = o.now - seconds{1};
    FQ_APPLIED(o.put(delta{}.admit({s, other})));
    CAF_CHECK(!e.session_life(o, s));
    CAF_CHECK((o.image() == mirror_image{{queue_number{3}}, {}, {}}));
  });
}

CAF_TEST(stock is overwritten and never added up) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_APPLIED(o.begin(delta{}.count({sample_stock(2, 10), sample_stock(1, 7, 1, 1)})));
    FQ_APPLIED(o.put(delta{}.count({sample_stock(2, 10, 4, 6)})));
    FQ_APPLIED(o.put(delta{}.count({sample_stock(2, 12, 0, 6), sample_stock(3, 1)})));
    CAF_CHECK((o.image().stock
               == std::vector{sample_stock(1, 7, 1, 1), sample_stock(2, 12, 0, 6), sample_stock(3, 1)}));
  });
}

CAF_TEST(the order read is the order of numbers) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    std::mt19937_64 dice{1};
    std::set<queue_number> all{queue_number{1}, queue_number{queue_number_max}};
    while (all.size() < 10'000) all.insert(queue_number{1 + dice() % queue_number_max});
    std::vector<queue_number> joining(all.begin(), all.end());
    std::ranges::shuffle(joining, dice);
    FQ_APPLIED(o.begin(delta{}.join(joining)));
    CAF_CHECK(std::ranges::equal(o.image().waiting, all));
  });
}

CAF_TEST(a step may be as large as a crowd) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    mirror_delta d;
    d.joined = numbers(1, 21'500);
    for (std::uint64_t n = 30'001; n <= 33'490; ++n) d.sessions.push_back(sample_session(n));
    for (std::uint64_t n = 1; n <= 10; ++n) d.stock.push_back(sample_stock(n, 100));
    CAF_CHECK_EQUAL(d.size(), 25'000u);
    FQ_APPLIED(o.begin(d));
    CAF_CHECK((o.image() == mirror_image{d.joined, d.sessions, d.stock}));
    FQ_APPLIED(o.put(delta{}.join(numbers(40'000, 40'000)).leave(d.joined).finish(d.sessions)));
    CAF_CHECK((o.image() == mirror_image{numbers(40'000, 40'000), {}, d.stock}));
  });
}

CAF_TEST(queues do not see each other) {
  on_every_engine([](engine& e) {
    owner one{e.store()}, other{e.store()};
    FQ_APPLIED(one.begin(delta{}.join(numbers(1, 2))));
    FQ_APPLIED(other.begin(delta{}.join(numbers(2, 3))));
    FQ_APPLIED(one.begin(delta{}.join(numbers(9, 9))));
    CAF_CHECK(one.image().waiting == numbers(9, 9));
    CAF_CHECK(other.image().waiting == numbers(2, 3));
  });
}

CAF_TEST(a cache that takes writes answers a ping) {
  on_every_engine([](engine& e) { CAF_CHECK_EQUAL(unavailable([&] { e.store().ping(); }), ""); });
}
