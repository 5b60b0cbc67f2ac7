// SPDX-License-Identifier: Apache-2.0
// Organizers' passwords: argon2id with libsodium's interactive limits (64 MiB and about 0.1 s each). Called
// from a detached worker only: never on an io thread and never inside a scheduled actor.
#pragma once

#include <string>
#include <string_view>

namespace fq {

/// Longest password accepted; longer ones are refused before any work (bytes).
inline constexpr std::size_t password_bytes_max = 1024;

/// A self-describing argon2id text with a fresh salt. Throws std::bad_alloc when 64 MiB are not to be had,
/// and std::invalid_argument beyond password_bytes_max.
[[nodiscard]] std::string hash_password(std::string_view password);

/// Whether `password` is the one that `stored` was made from.
[[nodiscard]] bool verify_password(const std::string& stored, std::string_view password);

/// Takes as long as `verify_password` and says no: called for an unknown user, so that time does not tell who
/// exists.
bool verify_absent_user(std::string_view password);

/// Whether the work for an unknown user has the limits in force: for the test that keeps the two in step.
[[nodiscard]] bool absent_user_costs_the_same();

} // namespace fq
