// SPDX-License-Identifier: Apache-2.0
// Challenges of joins and of requests for codes, for the API and the pages.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "domain/model/language.hpp"
#include "domain/sale/views.hpp"
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

class object_reader; ///< net/wire/json_in.hpp

/// What a challenge is for: joining an event or a queue, or with a nil id a request for a code.
struct challenge_target {
  uuid id = {};
  event_kind kind = event_kind::sale;
  [[nodiscard]] std::string_view action() const { return id.is_nil() ? "code" : "join"; }
};

/// Rejects the setting `challenge` if this installation has no keys of its provider.
void check_challenge(object_reader& body, const event_patch& settings, const context& ctx);

struct challenge_given {
  std::optional<response> no;
  challenge_reply reply = {};
};
/// Asks the owner.
awaitable<challenge_given> open_challenge_of(context& ctx, const request& rq, challenge_target target,
                                             challenge_way way);

/// Whether the provider takes a visitor's response; then a challenge that is solved. 403 challenge_required
/// if it does not, 503 if it cannot be asked.
awaitable<challenge_given> pass_captcha(context& ctx, const request& rq, challenge_target target,
                                        challenge_kind kind, std::string captcha);

} // namespace fq::net
