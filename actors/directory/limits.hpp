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
/// Of a tenant's metadata of payments. Stripe allows 50 entries, keys of 40 and values of 500 characters;
/// ours, the order's and the event's are among them.
inline constexpr std::size_t metadata_lines_max = 20;
inline constexpr std::size_t metadata_key_bytes_max = 40;
inline constexpr std::size_t metadata_value_bytes_max = 200;
/// A quarter is for organizers whose client has signed in before: a crowd of strangers cannot keep them out.
inline constexpr std::uint32_t password_reserve_part = 4;
/// Max pending codes (I14); beyond it the one that expires first is dropped.
inline constexpr std::size_t otps_max = 100'000;
/// Max pending codes per address; beyond it the client with most loses its oldest. stranger_mails allows
/// about as many within a code's life.
inline constexpr std::size_t otps_per_address_max = 16;
/// Clients in memory with wrong guesses, and addresses that got mail (I14): about 12 MB each.
inline constexpr std::size_t clients_in_memory_max = 100'000;
/// Turns of a network's known browsers in the queue of mails: a network with a thousand marks does not have a
/// thousand turns.
inline constexpr std::uint64_t known_turns = 4;
/// Organizers' clients in memory that have signed in (I14).
inline constexpr std::size_t known_desks_max = 10'000;
/// Max listed sign-ins per organizer (I14); beyond it the list forgets the oldest.
inline constexpr std::size_t organizer_sessions_max = 100;
/// Max customers erased within the life of their tokens (I14): every node has all of them in memory.
inline constexpr std::size_t erased_customers_max = 10'000;
/// A quarter is for the operator's command: customers who fill the list cannot keep it out.
inline constexpr std::size_t erased_reserve_part = 4;
/// Retry-After when that many have been ended: their rows leave when their tokens expire.
inline constexpr milliseconds sessions_full_pause{60 * 60 * 1000};
/// Bytes of a User-Agent that are kept: enough for browser and system.
inline constexpr std::size_t agent_bytes_max = 200;
/// Max blocked customers per organizer (or per tenant's operators), per tenant and per installation (I14):
/// every node has all of them in memory.
inline constexpr std::size_t blocks_per_owner_max = 10'000;
/// See blocks_per_owner_max.
inline constexpr std::size_t blocks_per_tenant_max = 20'000;
/// See blocks_per_owner_max.
inline constexpr std::size_t blocks_max = 200'000;
/// Max wait for the password worker, which takes about 0.1 s per login; then 503.
inline constexpr milliseconds password_timeout{5'000};
/// For the ledger's answer about open purchases; then 503.
inline constexpr milliseconds open_purchase_timeout{5'000};
/// For the mailer, which only queues the mail; then 503.
inline constexpr milliseconds code_mail_timeout{5'000};

// -- catalog
/// For the ledger's answer about an external id, or a tenant's seat plans.
inline constexpr milliseconds external_id_timeout{5'000};
/// Seat plans of an organizer, or of a tenant's operators (I14): one of 50,000 seats has about 1.5 MB.
inline constexpr std::uint32_t seat_plans_per_owner_max = 50;

// -- directory
/// Max age of a change by another node (I15 allows 5 s).
inline constexpr milliseconds directory_interval{2'000};
/// Retry interval until the first read succeeds; owners of events wait for it.
inline constexpr milliseconds first_reading_retry{200};

} // namespace fq
