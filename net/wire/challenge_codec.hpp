// SPDX-License-Identifier: Apache-2.0
// Challenges as clients see them: JSON of ALTCHA's protocol, version 1, with what its widget does not need.
#pragma once
#include "actors/protocol/shared_messages.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

[[nodiscard]] std::string_view name_of(challenge_kind kind);
[[nodiscard]] std::optional<challenge_kind> parse_challenge_kind(std::string_view text);

/// What a client sends: a base64 text of ALTCHA's payload. Without a salt if it is none.
[[nodiscard]] solved_challenge read_solved(std::string_view payload);
/// The same, in base64url: it may stand in a URL.
[[nodiscard]] std::string payload_of(const solved_challenge& solved);

/// What a captcha shows to its provider.
struct captcha_terms {
  std::string_view site_key, action;
  std::string bound_to;
};
/// `captcha`: of these kinds.
void append_challenge(std::string& out, const challenge_reply& reply, const captcha_terms& captcha);

} // namespace fq::net
