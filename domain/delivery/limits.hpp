// SPDX-License-Identifier: Apache-2.0
// The limits of domain/delivery, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>

namespace fq {

// -- delivery
/// Rows per transaction for reads and writes. On an embedded ledger a transaction delays owners' commits by
/// about 1 ms.
inline constexpr std::size_t deliveries_per_transaction = 32;
/// Beyond it, the oldest is removed.
inline constexpr std::size_t devices_per_holder_max = 10;
/// Longer than any push service's token.
inline constexpr std::size_t device_token_bytes_max = 1'024;
/// Each domain event is stored once per endpoint.
inline constexpr std::size_t endpoints_per_tenant_max = 50;
/// An endpoint has one test in flight; after this time another may start all the same.
inline constexpr milliseconds test_pause{60'000};
/// Bounds one organizer's share of endpoints_per_tenant_max.
inline constexpr std::size_t endpoints_per_organizer_max = 10;
/// Time for which the previous secret also signs, so that both sides need not switch at the same moment.
inline constexpr milliseconds secret_overlap{24 * 60 * 60 * 1000};
/// Hexadecimal digits of an APNs token: Apple's have 64 today and may grow.
inline constexpr std::size_t apns_digits_min = 64, apns_digits_max = 200;
/// Limit of ntfy.
inline constexpr std::size_t ntfy_topic_chars_max = 64;

} // namespace fq
