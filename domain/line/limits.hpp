// SPDX-License-Identifier: Apache-2.0
// The limits of domain/line, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- admission
/// Max admissions per decision, so that one commit and one push stay small. The next run admits the rest at
/// once.
inline constexpr std::uint64_t admissions_per_decision_max = 1000;
/// Window of the admission rate.
inline constexpr milliseconds rate_span{60'000};

// -- outlook
/// People whose session must be over before answers have a share: below it the share is a guess.
inline constexpr std::uint64_t decided_min = 20;
/// How far the share of buyers wanders during a sale, as a part of it. Chosen so that the odds are calibrated
/// over simulated sales of different shapes (docs/design/odds.md).
inline constexpr double drift_of_share = 0.05;
/// Of the people admitted who hold nothing yet, this part is as likely to buy as any: who comes, chooses
/// soon.
inline constexpr double choosing_part = 0.5;

// -- mirror
/// Max lines from `differences`.
inline constexpr std::size_t differences_max = 20;
/// Sessions that end within the same span share a digest: few digests, and those of the next seconds, in
/// which the cache forgets sessions by itself, can be left out.
inline constexpr milliseconds digest_span{4'000};

// -- line_copy
/// Max moves that a copy keeps; then it begins anew, which costs a question for each position that is known.
inline constexpr std::uint64_t copied_moves_max = 1'000'000;
/// Max distance of their ranks: 16 MB for each set.
inline constexpr std::uint64_t copied_ranks_max = std::uint64_t{1} << 27;

// -- groups
/// Bits of `hidden_types`: a ticket type with a higher ordinal has none, and no code or invitation opens it.
inline constexpr std::uint32_t hidden_types_max = 64;

// -- rank_set
/// Min blocks of 512 ranks before free ones in front are removed.
inline constexpr std::size_t free_blocks_min = 8;

// -- queue
/// Max groups of entries with the same hidden types in an event: admission looks at each.
inline constexpr std::size_t groups_max = 64;
/// History of the admission window: enough for rate limits, batches up to an hour apart and the ETA.
inline constexpr milliseconds window_memory{60 * 60 * 1000};
/// Window of the arrival rate.
inline constexpr milliseconds arrival_memory{60 * 1000};

} // namespace fq
