// SPDX-License-Identifier: Apache-2.0
// Limits of keys, tokens and secrets.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>

namespace fq {

/// Passwords are hashed: a longer one is refused before it costs time.
inline constexpr std::size_t password_bytes_max = 1024;
/// FairQueue's tokens have about 300. A longer token is malformed.
inline constexpr std::size_t token_bytes_max = 4096;
/// FairQueue's claims have about 130.
constexpr std::size_t claims_bytes_max = 512;
/// Max clock difference before a token counts as expired.
inline constexpr seconds token_clock_skew{60};
/// A rotating code of an event ticket is shown for so long (RFC 6238 advises 30 s).
inline constexpr seconds event_ticket_code_step{30};
/// Other systems sign them, with claims of their own.
inline constexpr std::size_t subject_token_bytes_max = 4096;
/// Max time from now to `exp`.
inline constexpr seconds subject_token_life_max{24 * 60 * 60};
/// Of an RSA key: 2,048 bits, the least that is allowed until 2030 (NIST SP 800-57).
constexpr int rsa_bits_min = 2048;
constexpr std::size_t rsa_bytes_min = 256; ///< the same of its modulus
/// A JWK of an EC or RSA key has less than 2 KiB.
constexpr std::size_t key_file_bytes_max = 4096;
/// A new key only verifies for so long, so that the operator can give it to all nodes. At least the time for
/// which origins cache the keys of passes.
constexpr milliseconds key_delay{5 * 60 * 1000};
/// Added to the life of what a key has signed: clocks differ, and a node may have read its keys late.
constexpr milliseconds key_end_slack{60 * 60 * 1000};
/// Tokens of operators.
constexpr milliseconds operator_key_life{60 * 60 * 1000};
/// Sessions last 24 h unless the options say otherwise, and origins cache a key set for a while.
constexpr milliseconds session_keys_life{48 * 60 * 60 * 1000};
/// Signed at each try of a delivery.
constexpr milliseconds sandbox_key_life{60 * 60 * 1000};
/// Every token is compared with the ids of all, and the published key set stays below 4 KiB.
constexpr std::size_t keys_of_kind_max = 16;
/// A new certificate's start, because clocks of other hosts may be behind.
constexpr seconds certificate_backdating{300};
/// From the specification of Standard Webhooks.
constexpr std::size_t webhook_secret_bytes_min = 24, webhook_secret_bytes_max = 64;

} // namespace fq
