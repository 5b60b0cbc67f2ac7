// SPDX-License-Identifier: Apache-2.0
// Reads by nodes that do not own a queue: only from a mirror that its owner vouches for, and only while that
// holds.
#define CAF_SUITE cache_vouch
#include "tests/store/redis/engines.hpp"

#include <chrono>

using namespace fq;
using namespace fq::test;

CAF_TEST(others find a session of a mirror that is vouched for) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    auto inside = sample_session(1);
    inside.subject_name = "Zoë 足球";
    FQ_APPLIED(o.begin(delta{}.join(numbers(1, 2))));
    CAF_CHECK(!o.vouched());
    FQ_APPLIED(o.vouch());
    CAF_REQUIRE(o.vouched());
    const auto first = *o.vouched();
    CAF_CHECK(first == (vouched_mirror{sale, o.queue(), tenant_id{7}, o.generation, 0, first.word}));
    FQ_APPLIED(o.vouch());
    CAF_CHECK(o.vouched()->word > first.word);
    CAF_CHECK(!o.session(inside));
    FQ_APPLIED(o.put(delta{}.admit({inside})));
    CAF_CHECK(o.session(inside) == inside); // an earlier vouch also covers later steps
    CAF_CHECK(!o.session(sample_session(2)));
    FQ_APPLIED(o.put(delta{}.finish({inside})));
    CAF_CHECK(!o.session(inside));
  });
}

CAF_TEST(what nobody vouches for any more is not gone by) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_APPLIED(o.begin(delta{}.admit({sample_session(1)})));
    bool is_found = false;
    for (int attempt = 0; attempt < 5; ++attempt) {
      FQ_APPLIED(o.vouch());
      e.pass(vouch_life * 4 / 5);
      const auto begin = std::chrono::steady_clock::now();
      FQ_APPLIED(o.vouch());
      e.pass(vouch_life / 5 + milliseconds{100});
      is_found = o.session(sample_session(1)).has_value();
      if (is_found || std::chrono::steady_clock::now() - begin < vouch_life) break; // else we stood still
    }
    CAF_CHECK(is_found);
    e.pass(vouch_life * 4 / 5);
    CAF_CHECK(!o.vouched());
  });
}

CAF_TEST(a mirror that is not there cannot be vouched for) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_LOST(o.vouch());
    FQ_APPLIED(o.begin(delta{}.join(numbers(1, 3)), false));
    FQ_LOST(o.vouch()); // not complete
    FQ_APPLIED(o.put({}));
    FQ_APPLIED(o.vouch());
    --o.steps;
    FQ_APPLIED(o.vouch()); // sent before the last step, processed after it
    o.steps += 2;
    FQ_LOST(o.vouch());
    e.forget(o.queue());
    FQ_LOST(o.vouch());
  });
}

CAF_TEST(a mirror that is built anew takes back what was vouched for) {
  on_every_engine([](engine& e) {
    owner o{e.store()};
    FQ_APPLIED(o.begin(delta{}.admit({sample_session(1)})));
    FQ_APPLIED(o.vouch());
    const auto late = o;
    FQ_APPLIED(o.begin(delta{}.admit({sample_session(2)})));
    CAF_CHECK(!o.vouched());
    FQ_LOST(late.vouch()); // an owner that does not know its successor
    FQ_APPLIED(o.vouch());
    CAF_CHECK(!o.session(sample_session(1)));
    CAF_CHECK(o.session(sample_session(2)));
  });
}

CAF_TEST(many are vouched for and found at once) {
  on_every_engine([](engine& e) {
    std::vector<vouched_mirror> all;
    std::vector<aggregate_id> aggregates;
    for (std::uint32_t i = 0; i < 600; ++i) {
      owner o{e.store()};
      auto first = o.next({});
      first.aggregate = aggregate_id{100 + i};
      first.generation = 1;
      FQ_APPLIED(e.store().apply({&first, 1}).at(0));
      all.push_back({first.aggregate, o.queue(), tenant_id{1}, 1, i % 3 == 0 ? 9u : 1u, 0});
      aggregates.push_back(first.aggregate);
    }
    const auto outcomes = e.store().vouch(all);
    const auto found = e.store().find_mirrors(aggregates);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAF_CHECK_EQUAL(outcomes[i] == step_outcome::applied, i % 3 != 0);
      CAF_CHECK_EQUAL(found[i].has_value(), i % 3 != 0);
      if (found[i]) CAF_CHECK_EQUAL(found[i]->queue, all[i].queue);
    }
  });
}
