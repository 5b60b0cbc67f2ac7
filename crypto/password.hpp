// SPDX-License-Identifier: Apache-2.0
// Organizers' passwords: argon2id with libsodium's interactive limits (64 MiB and about 0.1 s each). Call
// from a detached worker only, never on an io thread or in a scheduled actor.
#pragma once
#include "crypto/limits.hpp"

#include <string>
#include <string_view>

namespace fq {

/// Returns a self-describing argon2id text with a fresh salt. Throws std::bad_alloc without 64 MiB of
/// memory, and std::invalid_argument beyond password_bytes_max.
[[nodiscard]] std::string hash_password(std::string_view password);

/// Whether `stored` was made from `password`.
[[nodiscard]] bool verify_password(const std::string& stored, std::string_view password);

/// Takes as long as `verify_password` and returns false. Called for an unknown user, so that the response
/// time does not reveal which users exist.
bool verify_absent_user(std::string_view password);

/// Whether the dummy hash of verify_absent_user uses the current limits; for a test.
[[nodiscard]] bool absent_user_costs_the_same();

} // namespace fq
