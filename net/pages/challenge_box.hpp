// SPDX-License-Identifier: Apache-2.0
// The place of a challenge in a form: ALTCHA's widget, or a provider's captcha. Without a script it stays
// empty.
#pragma once
#include "net/pages/site_page.hpp"
#include "net/pages/visit.hpp"
#include "net/service/challenges.hpp"

#include <optional>
#include <string>

namespace fq::net {

struct challenge_box {
  challenge_kind kind = challenge_kind::none;
  challenge_target of = {};
  std::string site_key = {}; ///< of a captcha
  std::string origin = {}; ///< of its script
};

/// `kind`: what the target asks for.
[[nodiscard]] challenge_box box_of(const context& ctx, const challenge_target& of, challenge_kind kind);
/// Of a sign-in form.
[[nodiscard]] challenge_box code_box_of(const context& ctx);

/// The values of _challenge.html, and what the page's policy must allow.
void set_challenge(site_page& page, const std::string& base, const challenge_box& box);

struct given_proof {
  std::optional<response> no;
  solved_challenge solved = {}; ///< without a salt: none was sent
};
/// What the form brought. 503 if the provider of the captcha does not answer; a question to it counts for the
/// address, as with POST …/challenge.
awaitable<given_proof> proof_of(const visit& v, challenge_target of, challenge_kind kind);

} // namespace fq::net
