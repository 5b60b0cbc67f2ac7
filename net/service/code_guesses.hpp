// SPDX-License-Identifier: Apache-2.0
// Limits of wrong codes (promo codes, access codes, codes of parties), per customer and per event or queue.
// Called by the routes and pages that try such a code.
#pragma once
#include "domain/model/refusal.hpp"
#include "net/bridge/actor_bridge.hpp"
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

#include <optional>

namespace fq::net {

/// Takes tokens before the code is tried, so that parallel guesses count too; `settle` returns them unless
/// the code was wrong. The event's limit applies only to customers who guessed wrong lately: strangers cannot
/// use it up for those who know their code.
class code_guess {
public:
  /// `customer`: or another key of who guesses. `line`: id of the event or queue, or of an entry in it.
  code_guess(context& ctx, const request& rq, const uuid& customer, const uuid& line, bool has_code);
  /// The 429 to answer with, or nothing.
  std::optional<response> no;

  /// An error may hide a wrong guess.
  template <class Reply>
  void settle(const answer<Reply>& got) {
    if (!got.error && got.reply.no.why != reason::promo_code_invalid
        && got.reply.no.why != reason::access_code_invalid && got.reply.no.why != reason::party_unknown)
      give_back();
  }

private:
  void give_back();

  context& ctx_;
  uuid customer_, event_;
  bool took_of_customer_ = false, took_of_event_ = false;
};

} // namespace fq::net
