// SPDX-License-Identifier: Apache-2.0
// Pacing: an average rate with a burst of one second, and refund slots that all events share.
#define CAF_SUITE domain_pace
#include "domain/base/pace.hpp"
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

namespace pace_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(a bucket gives its rate on average and a second of it at once) {
  token_bucket bucket{10, milliseconds{0}};
  CAF_CHECK_EQUAL(bucket.take(5, milliseconds{0}), 0u);
  CAF_CHECK_EQUAL(bucket.take(5, milliseconds{300}), 3u);
  CAF_CHECK_EQUAL(bucket.take(100, milliseconds{60'000}), 10u);
  std::size_t all = 0;
  for (int t = 1; t <= 1'000; ++t) all += bucket.take(3, milliseconds{60'000 + 10 * t});
  CAF_CHECK(all >= 99 && all <= 100);
  token_bucket slow{0.5, milliseconds{0}};
  CAF_CHECK_EQUAL(slow.take(1, milliseconds{1'000}), 0u);
  CAF_CHECK_EQUAL(slow.take(1, milliseconds{2'000}), 1u);
  token_bucket unbounded;
  CAF_CHECK_EQUAL(unbounded.take(1'000, milliseconds{0}), 1'000u);
}

CAF_TEST(refunds of several cancelled events together keep one pace) {
  sale_rules rules;
  std::vector<std::unique_ptr<sample_sale>> sales;
  for (int i = 0; i < 3; ++i) {
    auto& s = *sales.emplace_back(std::make_unique<sample_sale>(sample_event(), sample_types(100), 1, rules));
    for (std::uint64_t n = 1; n <= 30; ++n) {
      s.join(n);
      s.claim(n);
      CAF_REQUIRE(!s.captured(s.pay(n).payment));
    }
  }
  const auto begun = [&] {
    std::size_t count = 0;
    for (const auto& s : sales) count += s->it->payments().unanswered_refunds();
    return count;
  };
  for (auto& s : sales) s->change_status(event_trigger::cancel);
  CAF_CHECK_EQUAL(begun(), refund_pace::per_slot);
  for (auto& s : sales) s->pass(refund_pace::slot);
  CAF_CHECK_EQUAL(begun(), 2 * refund_pace::per_slot);
  for (int i = 0; i < 10; ++i)
    for (auto& s : sales) s->pass(refund_pace::slot);
  CAF_CHECK_EQUAL(begun(), 90u);
}

CAF_TEST(an event whose clock is behind has its part of the pace) {
  milliseconds steady{0};
  sale_rules rules;
  rules.pace = std::make_shared<refund_pace>([&steady] { return steady; });
  sample_sale ahead(sample_event(), sample_types(100), 1, rules),
    behind(sample_event(), sample_types(100), 1, rules);
  for (auto* s : {&ahead, &behind})
    for (std::uint64_t n = 1; n <= 30; ++n) {
      s->join(n);
      s->claim(n);
      CAF_REQUIRE(!s->captured(s->pay(n).payment));
    }
  ahead.pass(milliseconds{600'000}); // as if the other had been inactive for that time
  steady += milliseconds{600'000};
  ahead.change_status(event_trigger::cancel);
  CAF_CHECK_EQUAL(ahead.it->payments().unanswered_refunds(), refund_pace::per_slot);
  behind.change_status(event_trigger::cancel);
  CAF_CHECK_EQUAL(behind.it->payments().unanswered_refunds(), 0u);
  CAF_CHECK(behind.wake.at <= behind.now + refund_pace::slot);
  for (int i = 0; i < 3; ++i) {
    steady += refund_pace::slot;
    behind.pass(refund_pace::slot);
    ahead.pass(refund_pace::slot);
  }
  CAF_CHECK_EQUAL(behind.it->payments().unanswered_refunds(), 30u);
  CAF_CHECK_EQUAL(ahead.it->payments().unanswered_refunds(), 30u);
}

} // namespace pace_test
