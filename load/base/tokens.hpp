// SPDX-License-Identifier: Apache-2.0
// Customer tokens: read from a file, or minted from the key in the server's data folder. Called once, before
// the run's clock starts. A token is never printed.
#pragma once

#include "load/base/uuid.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq::load {

struct token_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One token a line, as `fairqueue token --count N` prints them. Throws token_error when unreadable or when
// there are fewer than `count`.
std::vector<std::string> read_tokens(const std::string& path, std::size_t count);

// HS256 with <data_dir>/keys/customer.jwk, a fresh random subject each. Throws token_error.
std::vector<std::string> mint_tokens(const std::string& data_dir, std::size_t count, std::int64_t now_unix_s,
                                     std::int64_t ttl_s);

// One organizer's token, HS256 with <data_dir>/keys/organizer.jwk. Throws token_error.
std::string mint_organizer_token(const std::string& data_dir, const uuid& organizer, std::int64_t now_unix_s,
                                 std::int64_t ttl_s);

// A random number from the operating system, for seeds and names that must not repeat between runs.
std::uint64_t system_random();

} // namespace fq::load
