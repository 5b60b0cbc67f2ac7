// SPDX-License-Identifier: Apache-2.0
// Wrong guesses at one-time codes, counted across codes: after some, the next request for a code must wait.
// Pure. Called by accounts.
#pragma once
#include "domain/base/limits.hpp"
#include "domain/base/time.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace fq {

struct guess_count {
  std::uint32_t wrong = 0;
  timestamp last; ///< time of the last wrong guess
};

struct guess_rule {
  std::uint32_t free = 0; ///< wrong guesses without a pause
  milliseconds first{0}, longest{0}; ///< pause after the next one; it doubles with each
};

/// Of one client at one address: two codes' worth. A client is a network address, whose people
/// share the pause, or a browser with a mark.
inline constexpr guess_rule client_guesses{10, milliseconds{60'000}, milliseconds{60 * 60 * 1000}};
/// Of all clients without a browser mark at one address, together: after each pause the codes of
/// stranger_mails can be guessed at, so at most 1,200 guesses in 24 h, of a million codes.
inline constexpr guess_rule stranger_guesses{50, milliseconds{60'000}, milliseconds{60 * 60 * 1000}};

inline guess_count with_wrong_guess(const std::optional<guess_count>& known, timestamp now) {
  const bool counts = known && now - known->last < guess_memory;
  return {counts ? known->wrong + 1 : 1, now};
}

/// Time until the next request is allowed; 0: now.
inline milliseconds guess_pause(const guess_count& known, const guess_rule& rule, timestamp now) {
  if (known.wrong < rule.free || now - known.last >= guess_memory) return milliseconds{0};
  const auto doublings = std::min(known.wrong - rule.free, 20u);
  const auto pause = std::min(rule.longest, rule.first * (std::int64_t{1} << doublings));
  return std::max(milliseconds{0}, std::chrono::duration_cast<milliseconds>(known.last + pause - now));
}

/// `quota` mails per `window`; an unused quota may be spent at once.
struct mail_rule {
  std::int64_t quota = 0;
  milliseconds window{0};
};
/// To one address, of clients without a browser mark: a stranger cannot flood a mailbox.
inline constexpr mail_rule stranger_mails{10, milliseconds{15 * 60'000}};

/// Of challenges, to all addresses of one client: people without a script are few.
inline constexpr mail_rule challenge_mails{20, milliseconds{60 * 60 * 1000}};

struct mail_verdict {
  timestamp full_at; ///< the quota is whole again: to store, if `wait` is 0
  milliseconds wait{0}; ///< until the next mail is allowed
};

inline mail_verdict next_mail(timestamp full_at, const mail_rule& rule, timestamp now) {
  const auto after = std::max(full_at, now) + rule.window / rule.quota;
  const auto over = std::chrono::duration_cast<milliseconds>(after - now) - rule.window;
  return {after, std::max(milliseconds{0}, over)};
}

} // namespace fq
