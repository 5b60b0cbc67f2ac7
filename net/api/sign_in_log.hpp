// SPDX-License-Identifier: Apache-2.0
// One log line for each sign-in and each refused one, with the client's network address, so that a tool such
// as fail2ban can read it. Never a code, a password or a mail address. Called by the sign-in routes.
#pragma once
#include "net/http/http.hpp"

#include <string_view>

namespace fq::net {

/// `kind`: "customer" or "organizer".
void log_sign_in(const request& rq, std::string_view kind, const uuid& person);
/// `why`: the code of the refusal.
void log_refused_sign_in(const request& rq, std::string_view kind, std::string_view why);

} // namespace fq::net
