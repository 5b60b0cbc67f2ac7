// SPDX-License-Identifier: Apache-2.0
// What the installation decides for all of its sales.
#pragma once
#include "domain/base/pace.hpp"
#include "domain/base/retry.hpp"
#include "domain/money/pricing.hpp"
#include "domain/sale/limits.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace fq {

/// Installation-wide rules, the same for every event.
struct sale_rules {
  bool has_gateway = true; ///< false: nothing that costs money is sold
  std::uint32_t attempts_per_claim = 3;
  milliseconds stale_after{10 * 60 * 1000};
  milliseconds verdict_grace{2 * 60 * 1000};
  retry_policy refund_retry{8, milliseconds{500}, milliseconds{60'000}};
  milliseconds pending_max{5 * 60 * 1000}; ///< an order without a payment page fails after it
  milliseconds initialize_again{
    15'000}; ///< retry delay for the payment page after the gateway was unreachable
  /// Checks of a failed attempt: a page that could not be closed may have been paid.
  std::array<milliseconds, 2> recheck_after{milliseconds{15 * 60 * 1000}, milliseconds{24 * 60 * 60 * 1000}};
  milliseconds recheck_pause{2 * 60 * 1000}; ///< at least, until an unanswered check is repeated
  milliseconds memory_retention{60 * 60 * 1000}; ///< of ended entries of a standalone queue
  milliseconds payment_link_after{2'000}; ///< an unpaid order gets its page by mail after it
  sale_bounds bounds = {};
  std::map<std::string, fee_rules> fees = {}; ///< by currency
  fee_rules other_fees = {}; ///< of all other currencies
  /// What the clocks of an IANA zone are ahead of UTC; null: all are UTC.
  std::function<seconds(timestamp, const std::string& zone)> zone_offset = nullptr;
  std::shared_ptr<refund_pace> pace =
    std::make_shared<refund_pace>(); ///< shared by all copies of these rules
};

} // namespace fq
