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

// Reads one token per line, as printed by `fairqueue token --count N`. Throws token_error if the file is
// unreadable or has fewer than `count` tokens.
std::vector<std::string> read_tokens(const std::string& path, std::size_t count);

// Signs with HS256 and <data_dir>/keys/customer.jwk, each token with a new random subject. Throws
// token_error.
std::vector<std::string> mint_tokens(const std::string& data_dir, std::size_t count, std::int64_t now_unix_s,
                                     std::int64_t ttl_s);

// Signs one organizer token with HS256 and <data_dir>/keys/organizer.jwk. Throws token_error.
std::string mint_organizer_token(const std::string& data_dir, const uuid& organizer, std::int64_t now_unix_s,
                                 std::int64_t ttl_s);

// From the operating system: for seeds and names that must differ between runs.
std::uint64_t system_random();

} // namespace fq::load
