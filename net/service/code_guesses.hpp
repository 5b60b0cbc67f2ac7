// SPDX-License-Identifier: Apache-2.0
// Limits of wrong codes (promo codes, access codes, codes of parties), per customer or client address, and
// per event or queue. Called by the routes and pages that try such a code.
#pragma once
#include "domain/model/refusal.hpp"
#include "net/bridge/actor_bridge.hpp"
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"
#include "net/http/rate_limit.hpp"

#include <optional>

namespace fq::net {

/// Takes tokens before the code is tried, so that parallel guesses count too; `settle` returns them unless
/// the code was wrong. The event's limit applies only to customers who guessed wrong lately: strangers cannot
/// use it up for those who know their code.
class code_guess {
public:
  /// `who`: a customer, or a ticket. Instead of a guest, and of a visitor without a name (nil), the client's
  /// address guesses: they are new as often as they like. `line`: id of the event or queue, or of an entry in
  /// it.
  code_guess(context& ctx, const request& rq, const uuid& who, const uuid& line, bool has_code);
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
  rate_limiter& own_;
  uuid guesser_, event_;
  bool took_own_ = false, took_of_event_ = false;
};

} // namespace fq::net
