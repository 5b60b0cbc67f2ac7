// SPDX-License-Identifier: Apache-2.0
// The limits of actors/directory, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- accounts
/// Max concurrent password checks and hashes (I14); beyond it 503. The worker does about ten per second.
inline constexpr std::uint32_t password_calls_max = 32;
/// Max valid API keys per tenant (I14).
inline constexpr std::size_t api_keys_per_tenant_max = 100;
/// Max pending codes (I14); beyond it the one that expires first is dropped.
inline constexpr std::size_t otps_max = 100'000;
/// Max blocked customers per organizer (or per tenant's operators), per tenant and per installation (I14):
/// every node has all of them in memory.
inline constexpr std::size_t blocks_per_owner_max = 10'000;
/// See blocks_per_owner_max.
inline constexpr std::size_t blocks_per_tenant_max = 20'000;
/// See blocks_per_owner_max.
inline constexpr std::size_t blocks_max = 200'000;
/// Max wait for the password worker, which takes about 0.1 s per login; then 503.
inline constexpr milliseconds password_timeout{5'000};
/// For the mailer, which takes the mail at once; then 503.
inline constexpr milliseconds code_mail_timeout{5'000};

// -- catalog
/// For the ledger's answer about an external id.
inline constexpr milliseconds external_id_timeout{5'000};

// -- directory
/// Max age of a change by another node (I15 allows 5 s).
inline constexpr milliseconds directory_interval{2'000};
/// Retry interval until the first read succeeds; owners of events wait for it.
inline constexpr milliseconds first_reading_retry{200};

} // namespace fq
