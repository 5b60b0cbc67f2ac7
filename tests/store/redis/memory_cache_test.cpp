// SPDX-License-Identifier: Apache-2.0
// The memory cache's injected faults: to an owner, each must look like the real fault.
#define CAF_SUITE cache_memory
#include "tests/store/redis/engines.hpp"

using namespace fq;
using namespace fq::test;

namespace {

using kind = cache_fault::kind;

/// A cache whose next call has the configured fault, and an owner with a mirror of 1 to 3.
struct faulty_world {
  faulty_world() { FQ_APPLIED(o.begin(delta{}.join(numbers(1, 3)))); }

  memory_cache_options options() {
    memory_cache_options result;
    result.on_call = [this](cache_call call, std::span<const mirror_step> steps) {
      last_call = call;
      last_steps = steps.size();
      return std::exchange(next, {});
    };
    result.chunk_size_max = 2;
    return result;
  }

  cache_fault next;
  cache_call last_call{};
  std::size_t last_steps = 0;
  skipping_environment env;
  memory_cache store{env, options()};
  owner o{store};
};

} // namespace

CAF_TEST(a cache that is away applies nothing and takes the step later) {
  faulty_world f;
  f.next = {kind::unavailable};
  CAF_CHECK(!unavailable([&] { f.o.put(delta{}.join(numbers(4, 4))); }).empty());
  CAF_CHECK(f.o.image().waiting == numbers(1, 3));
  FQ_APPLIED(f.o.put(delta{}.join(numbers(4, 4))));
}

CAF_TEST(a step without an answer was applied) {
  faulty_world f;
  f.next = {kind::unanswered};
  CAF_CHECK(!unavailable([&] { f.o.put(delta{}.join(numbers(4, 4))); }).empty());
  FQ_LOST(f.o.put(delta{}.join(numbers(4, 4))));
  f.o.steps = 2;
  CAF_CHECK(f.o.image().waiting == numbers(1, 4));
}

CAF_TEST(a torn step is lost to whatever follows) {
  for (std::size_t chunks = 0; chunks <= 4; ++chunks) {
    faulty_world f;
    f.next = {kind::torn, chunks};
    CAF_CHECK(!unavailable([&] { f.o.put(delta{}.join(numbers(4, 9))); }).empty());
    const bool untouched = chunks == 0, complete = chunks >= 3;
    CAF_CHECK_EQUAL(f.store.read(f.o.queue(), f.o.generation, 1).found, untouched);
    CAF_CHECK_EQUAL(f.store.read(f.o.queue(), f.o.generation, 2).found, complete);
    auto same = f.o.next(delta{}.join(numbers(4, 9)));
    auto following = same;
    ++following.number;
    if (!untouched) FQ_LOST(f.store.apply({&same, 1}).at(0));
    if (!complete) FQ_LOST(f.store.apply({&following, 1}).at(0));
    FQ_APPLIED(f.o.begin(delta{}.join(numbers(1, 9))));
    CAF_CHECK(f.o.image().waiting == numbers(1, 9));
  }
}

CAF_TEST(a tear falls between the steps of one call too) {
  faulty_world f;
  std::vector<mirror_step> steps;
  for (std::uint64_t n = 4; n <= 6; ++n) {
    steps.push_back(f.o.next(delta{}.join(numbers(n, n))));
    ++f.o.steps;
  }
  f.next = {kind::torn, 2};
  CAF_CHECK(!unavailable([&] { f.store.apply(steps); }).empty());
  f.o.steps = 3;
  CAF_CHECK(f.o.image().waiting == numbers(1, 5));
}

CAF_TEST(a flush is noticed at the next step) {
  faulty_world f;
  f.next = {kind::flush};
  FQ_LOST(f.o.put(delta{}.join(numbers(4, 4))));
  CAF_CHECK(!f.o.read().found);
}

CAF_TEST(a rollback is noticed at the next step) {
  faulty_world f;
  f.store.save();
  FQ_APPLIED(f.o.put(delta{}.join(numbers(4, 4))));
  f.next = {kind::rollback};
  FQ_LOST(f.o.put(delta{}.join(numbers(5, 5))));
  CAF_CHECK(!f.o.read().found);
  --f.o.steps;
  CAF_CHECK(f.o.image().waiting == numbers(1, 3));
}

CAF_TEST(a flush keeps what was saved and a session does not live twice) {
  faulty_world f;
  const auto s = sample_session(7, seconds{10});
  FQ_APPLIED(f.o.put(delta{}.admit({s})));
  f.store.save();
  f.store.flush();
  CAF_CHECK(!f.o.read().found);
  f.env.skip(seconds{11});
  f.store.restore();
  CAF_CHECK(f.o.read().found);
  CAF_CHECK(f.o.image().sessions.empty());
}

CAF_TEST(reads and pings fail as they are told) {
  for (const auto what : {kind::unavailable, kind::unanswered, kind::torn}) {
    faulty_world f;
    f.next = {what};
    CAF_CHECK(!unavailable([&] { static_cast<void>(f.o.read()); }).empty());
    CAF_CHECK(f.last_call == cache_call::read);
    CAF_CHECK(f.o.read().found);
    f.next = {what};
    CAF_CHECK(!unavailable([&] { f.store.ping(); }).empty());
    CAF_CHECK(f.last_call == cache_call::ping);
    f.store.ping();
  }
}

CAF_TEST(the fault function sees the steps) {
  faulty_world f;
  const std::vector<mirror_step> steps(3, f.o.next({}));
  f.store.apply(steps);
  CAF_CHECK(f.last_call == cache_call::apply);
  CAF_CHECK_EQUAL(f.last_steps, 3u);
}
