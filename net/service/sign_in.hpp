// SPDX-License-Identifier: Apache-2.0
// Signing a customer in by a mailed code, with its limits: the same for the API and for pages. Defined in
// auth_routes.
#pragma once
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

#include <optional>
#include <string>

namespace fq::net {

/// `email`: read_email's or is_email's, in lower case. The problem to answer with, or nothing: a code is on
/// its way, if there is such an address.
awaitable<std::optional<response>> mail_code(context& ctx, const request& rq, std::string email);

struct redeemed_code {
  std::optional<response> no;
  uuid customer;
  bool was_wrong = false; ///< the code, not the way to whoever checks it
};
awaitable<redeemed_code> redeem_code(context& ctx, const request& rq, std::string email, std::string code);

} // namespace fq::net
