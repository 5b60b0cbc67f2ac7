// SPDX-License-Identifier: Apache-2.0
// Authenticates a request: the bearer token's kind and subject, or 401/403. Called by the request guards
// and ws_routes.
#pragma once
#include "crypto/tokens.hpp"
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

#include <optional>
#include <string_view>

namespace fq::net {

struct identity {
  std::optional<response> no; ///< the problem to answer with
  uuid subject;
  timestamp expires_at; ///< of the token; requests are accepted for token_clock_skew longer
};

/// The token of "Authorization: Bearer <token>". Empty if it is absent, of another scheme, or repeated.
[[nodiscard]] std::string_view bearer_token(const request& rq);

/// 401 for an invalid token or key. It counts against the address: 429 beyond its limit.
[[nodiscard]] response unauthenticated(context& ctx, const request& rq);

/// 401 without a valid token, 403 for a valid token of another kind.
[[nodiscard]] identity authenticate(context& ctx, const request& rq, token_kind wanted);
[[nodiscard]] identity authenticate(context& ctx, const request& rq, token_kind wanted,
                                    std::string_view token);
/// The same for those who may wait and buy: customers and guests.
[[nodiscard]] identity authenticate_shopper(context& ctx, const request& rq, std::string_view token);

} // namespace fq::net
