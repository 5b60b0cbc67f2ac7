// SPDX-License-Identifier: Apache-2.0
// Rules, event and ticket types of the random sales of sale_walk_test, and what they covered.
#pragma once
#include "tests/domain/sale/sample_sale.hpp"

#include <vector>

namespace sale_walk_test {

using namespace fq;
using namespace fq::test;

/// Coverage of the walks: a property that no walk exercised proves nothing.
struct coverage {
  std::uint64_t steps = 0, reloads = 0, admitted = 0, session_expired = 0, expired = 0;
  std::map<claim_status, std::uint64_t> claims;
  std::map<payment_status, std::uint64_t> payments;
  std::map<order_status, std::uint64_t> orders;
  /// steps with a blocked fan; invitations; units of quotas sold or held at the end
  std::uint64_t blocked = 0, invited = 0, of_quota = 0;
  std::uint64_t with_promo = 0, promo_refused = 0, preferred = 0;
  std::uint64_t claimed_again = 0, expiring_seen = 0, cancelled = 0, waiting_seen = 0,
                refusals_of_refunds = 0;
};

inline sale_rules quick_rules() {
  sale_rules r;
  r.stale_after = seconds{20};
  r.verdict_grace = seconds{4};
  r.refund_retry = {3, milliseconds{100}, milliseconds{3000}};
  r.pending_max = seconds{6};
  r.initialize_again = milliseconds{700};
  r.fees["NGN"] = {.platform_per_ticket = 7, .processing_basis_points = 290, .processing_fixed = 3};
  return r;
}

inline event_row random_event(dice& d) {
  auto e = sample_event();
  e.queue_opens_at = opening;
  e.sale_start = opening + seconds{d.below(3)};
  e.sale_end = opening + seconds{60 + d.below(400)};
  const admission_policy policies[] = {admission_policy::batch, admission_policy::batch,
                                       admission_policy::capacity, admission_policy::rate,
                                       admission_policy::open};
  e.queue.policy = policies[d.below(5)];
  e.queue.batch_size = 1 + static_cast<std::uint32_t>(d.below(5));
  e.queue.admission_interval = milliseconds{250 + d.below(4000)};
  const bool capped = e.queue.policy == admission_policy::capacity || d.chance(40);
  e.queue.concurrency = capped ? 1 + static_cast<std::uint32_t>(d.below(6)) : 0;
  e.queue.rate_per_minute =
    e.queue.policy == admission_policy::rate ? 5 + static_cast<std::uint32_t>(d.below(60)) : 0;
  e.queue.over_admission_percent = 100 + static_cast<std::uint32_t>(d.below(3)) * 50;
  e.queue.claim_window = seconds{2 + d.below(5)};
  e.claim_ttl = seconds{2 + d.below(8)};
  e.queue.session_ttl = e.queue.claim_window + e.claim_ttl + seconds{d.below(10)};
  e.queue.ticket_ttl = d.chance(20) ? seconds{10 + d.below(30)} : seconds{0};
  e.claims_per_customer = 1 + static_cast<std::uint32_t>(d.below(2));
  return e;
}

inline std::vector<ticket_type_row> random_types(dice& d) {
  auto types = sample_types(1 + static_cast<std::int64_t>(d.below(10)), d.chance(15) ? 0 : 500);
  types[0].max_per_order = 2;
  if (d.chance(50))
    types.push_back({.ordinal = 1,
                     .id = {0x77, 2},
                     .name = "Seat",
                     .price = 900,
                     .total = 1 + static_cast<std::int64_t>(d.below(5)),
                     .max_per_order = 3});
  if (d.chance(70))
    types.push_back({.ordinal = static_cast<std::uint32_t>(types.size()),
                     .id = {0x77, 3},
                     .name = "Quota",
                     .price = 100,
                     .total = 1 + static_cast<std::int64_t>(d.below(6)),
                     .max_per_order = 3,
                     .hidden = true});
  return types;
}

} // namespace sale_walk_test
