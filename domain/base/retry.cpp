// SPDX-License-Identifier: Apache-2.0
#include "domain/base/retry.hpp"

#include <algorithm>

namespace fq {

milliseconds retry_delay(const retry_policy& policy, std::uint32_t attempt, std::uint64_t random) {
  const auto doublings = std::min<std::uint32_t>(attempt > 0 ? attempt - 1 : 0, 32);
  const auto ceiling = doublings > 30 || policy.base.count() > (policy.cap.count() >> doublings)
                         ? policy.cap.count()
                         : policy.base.count() << doublings;
  return milliseconds{
    static_cast<std::int64_t>(random % static_cast<std::uint64_t>(std::max<std::int64_t>(ceiling, 0) + 1))};
}

} // namespace fq
