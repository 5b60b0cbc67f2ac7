// SPDX-License-Identifier: Apache-2.0
// A step is applied in order or not at all: lost steps, of the cache or of the owner, are detected at the
// next step.
#define CAF_SUITE cache_sequence
#include "tests/store/redis/engines.hpp"

using namespace fq;
using namespace fq::test;

namespace {

mirror_delta joins(std::uint64_t from, std::uint64_t to) { return delta{}.join(numbers(from, to)); }

step_outcome put(cache& store, const mirror_step& step) { return store.apply({&step, 1}).at(0); }

} // namespace

CAF_TEST(a step that does not continue is lost and changes nothing) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_APPLIED(o.begin(joins(1, 1)));
    FQ_APPLIED(o.put(joins(2, 2)));
    auto step = o.next(joins(3, 3));
    for (const std::uint64_t wrong : {1, 3, 1'000'000}) {
      step.number = wrong;
      FQ_LOST(put(e.store(), step));
    }
    CAF_CHECK(o.image().waiting == numbers(1, 2));
    FQ_APPLIED(o.put(joins(3, 3)));
  });
}

CAF_TEST(a step of another generation is lost and changes nothing) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_APPLIED(o.begin(joins(1, 1)));
    auto step = o.next(joins(2, 2));
    for (const auto wrong : {o.generation - 1, o.generation + 1}) {
      step.generation = wrong;
      FQ_LOST(put(e.store(), step));
    }
    CAF_CHECK(o.image().waiting == numbers(1, 1));
  });
}

CAF_TEST(a mirror is found only where its head is) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_APPLIED(o.begin(joins(1, 1)));
    CAF_CHECK(e.store().read(o.queue(), o.generation, 1).found);
    CAF_CHECK(!e.store().read(o.queue(), o.generation, 0).found);
    CAF_CHECK(!e.store().read(o.queue(), o.generation, 2).found);
    CAF_CHECK(!e.store().read(o.queue(), o.generation + 1, 1).found);
  });
}

CAF_TEST(a mirror is not found until it is complete) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_APPLIED(o.begin(joins(1, 1), false));
    CAF_CHECK(!o.read().found);
    FQ_APPLIED(o.put(joins(2, 2), false));
    CAF_CHECK(!o.read().found);
    FQ_APPLIED(o.put(joins(3, 3), true));
    CAF_CHECK(o.image().waiting == numbers(1, 3));
  });
}

CAF_TEST(a step before the first is lost) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    o.steps = 1;
    FQ_LOST(o.put(joins(1, 1)));
  });
}

CAF_TEST(a cache that has forgotten everything shows it at the next step) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_APPLIED(o.begin(joins(1, 5)));
    e.forget(o.queue());
    CAF_CHECK(!o.read().found);
    FQ_LOST(o.put(joins(6, 6)));
    FQ_APPLIED(o.begin(joins(1, 6)));
    CAF_CHECK(o.image().waiting == numbers(1, 6));
  });
}

CAF_TEST(a new generation leaves nothing of the former one) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    auto old = joins(1, 5);
    for (std::uint64_t n = 11; n <= 2'500; ++n) old.sessions.push_back(sample_session(n));
    old.stock = {sample_stock(1, 10)};
    FQ_APPLIED(o.begin(old));
    FQ_APPLIED(o.begin(joins(4, 4)));
    CAF_CHECK((o.image() == mirror_image{numbers(4, 4), {}, {}}));
    // Also with a smaller generation (the ledger was restored) or the same one.
    o.generation -= 3;
    FQ_APPLIED(o.begin(old));
    --o.generation;
    FQ_APPLIED(o.begin(joins(5, 5)));
    CAF_CHECK((o.image() == mirror_image{numbers(5, 5), {}, {}}));
  });
}

CAF_TEST(a pipeline answers for every step) {
  on_every_engine([](engine& e) {
    owner one{e.store()}, other{e.store()};
    std::vector<mirror_step> steps;
    for (std::uint64_t n = 0; n < 40; ++n) {
      steps.push_back(one.next(joins(10 * n + 1, 10 * n + 10)));
      ++one.steps;
      steps.push_back(other.next(joins(n + 1, n + 1)));
      // The other owner's 20th step is missing.
      other.steps += n == 18 ? 2 : 1;
    }
    const auto outcomes = e.store().apply(steps);
    CAF_REQUIRE_EQUAL(outcomes.size(), 80u);
    for (std::size_t i = 0; i < outcomes.size(); i += 2) {
      FQ_APPLIED(outcomes[i]);
      CAF_CHECK((outcomes[i + 1] == (i / 2 <= 18 ? step_outcome::applied : step_outcome::lost)));
    }
    CAF_CHECK(one.image().waiting == numbers(1, 400));
    CAF_CHECK(e.store().read(other.queue(), other.generation, 19).image.waiting == numbers(1, 19));
    CAF_CHECK(e.store().apply({}).empty());
  });
}

CAF_TEST(generations may begin in the middle of a pipeline) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    std::vector<mirror_step> steps{o.next(joins(1, 1))};
    o.steps = 1;
    steps.push_back(o.next(joins(2, 2)));
    const auto late = o.next(joins(99, 99));
    ++o.generation;
    o.steps = 0;
    steps.push_back(o.next(joins(7, 7)));
    steps.push_back(late);
    o.steps = 1;
    steps.push_back(o.next(joins(8, 8)));
    o.steps = 2;
    const auto outcomes = e.store().apply(steps);
    CAF_REQUIRE_EQUAL(outcomes.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i)
      CAF_CHECK((outcomes[i] == (i == 3 ? step_outcome::lost : step_outcome::applied)));
    CAF_CHECK(o.image().waiting == numbers(7, 8));
  });
}
