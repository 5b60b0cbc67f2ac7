// SPDX-License-Identifier: Apache-2.0
// The server does not know which people ahead of a place will buy. The share of buyers is known from a sample
// only, so the number of buyers is beta-binomial. Jeffreys' prior adds half a buyer and half a non-buyer to
// the sample. The demand is close to the normal distribution with the same mean and variance. So the distance
// of the stock from the mean, in standard deviations, gives the chance.
#include "domain/line/outlook.hpp"

#include "domain/line/limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fq {
namespace {

struct grade {
  likelihood chance;
  std::string_view name;
  percent_range range;
  double deviations; ///< of the normal distribution at range.low
};
constexpr std::array grades{
  grade{likelihood::unknown, "unknown", {0, 100}, 0},
  grade{likelihood::very_unlikely, "very_unlikely", {0, 5}, -1e300},
  grade{likelihood::unlikely, "unlikely", {5, 20}, -1.6449},
  grade{likelihood::less_likely, "less_likely", {20, 40}, -0.8416},
  grade{likelihood::even, "even", {40, 60}, -0.2533},
  grade{likelihood::likely, "likely", {60, 80}, 0.2533},
  grade{likelihood::very_likely, "very_likely", {80, 95}, 0.8416},
  grade{likelihood::almost_certain, "almost_certain", {95, 100}, 1.6449},
};

const grade& grade_of(likelihood chance) { return grades[static_cast<std::size_t>(chance)]; }

/// Mean and variance of a number of units.
struct demand {
  double mean = 0, variance = 0;
};

double real(std::uint64_t n) { return static_cast<double>(n); }

/// Demand of `people` who buy like the sample. In the sample `buyers` of `of` people bought; `each` and
/// `square` are the means of a buyer's units and of their square.
demand demand_of(double people, double buyers, double of, double each, double square) {
  const auto p = (buyers + 0.5) / (of + 1);
  const auto units = p * each;
  const auto variance = p * square - units * units;
  const auto drift = drift_of_share * units;
  return {people * units, people * variance + people * people * (variance / (of + 2) + drift * drift)};
}

/// Expected number of people ahead who are still in line at their turn. It assumes that all people leave the
/// line at one rate, which does not change.
double staying(const sale_evidence& seen, std::uint64_t ahead) {
  if (seen.left == 0 || seen.admitted == 0) return real(ahead);
  const auto length = (real(seen.joined) + real(seen.waiting)) / 2;
  const auto x = real(seen.left) * real(ahead) / (length * real(seen.admitted));
  return real(ahead) * (30 + 21 * x + x * x) / (30 + 36 * x + 9 * x * x); // about log(1 + x) / x
}

/// Wilson's score interval, 95 %.
percent_range share_of(double buyers, double of) {
  constexpr double z = 1.96;
  const auto p = buyers / of;
  const auto middle = (p + z * z / (2 * of)) / (1 + z * z / of);
  const auto half = z / (1 + z * z / of) * std::sqrt(p * (1 - p) / of + z * z / (4 * of * of));
  const auto percent = [](double share) {
    return static_cast<std::uint32_t>(std::lround(100 * std::clamp(share, 0.0, 1.0)));
  };
  return {percent(middle - half), percent(middle + half)};
}

likelihood chance_of(const sale_evidence& seen, std::uint64_t ahead) {
  const auto buyers = real(seen.buyers), decided = real(seen.decided);
  const auto each = seen.buyers > 0 ? real(seen.bought) / buyers : 1;
  const auto square = seen.buyers > 0 ? real(seen.squares) / buyers : 1;
  const auto line =
    demand_of(staying(seen, ahead) + real(seen.choosing) * choosing_part, buyers, decided, each, square);
  const auto held_each = seen.claims > 0 ? real(seen.held) / real(seen.claims) : 1;
  const auto held =
    demand_of(real(seen.claims), buyers, real(seen.claimed), held_each, held_each * held_each);
  const auto room = real(seen.free) + real(seen.held) - 0.5 - line.mean - held.mean;
  const auto deviations = room / std::sqrt(std::max(line.variance + held.variance, 1e-9));
  auto chance = likelihood::very_unlikely;
  for (const auto& g : grades)
    if (g.chance != likelihood::unknown && deviations >= g.deviations) chance = g.chance;
  return chance;
}

} // namespace

percent_range range_of(likelihood chance) { return grade_of(chance).range; }
std::string_view name_of(likelihood chance) { return grade_of(chance).name; }

outlook outlook_of(const sale_evidence& seen, std::uint64_t position) {
  outlook o;
  if (!seen.sells || position == 0) return o;
  o.is_known = true;
  o.waiting_list = seen.waiting_list;
  o.free = seen.free;
  o.held = seen.held;
  o.ahead = position - 1;
  o.has_share = seen.decided >= decided_min;
  if (o.has_share) {
    o.share = share_of(real(seen.buyers), real(seen.decided));
    const auto part = staying(seen, o.ahead) / real(seen.decided);
    o.buyers = static_cast<std::uint64_t>(std::llround(part * real(seen.buyers)));
    o.wanted = static_cast<std::uint64_t>(std::llround(part * real(seen.bought)));
  }
  if (seen.waiting_list) return o;
  const bool serves_all = seen.held + (seen.choosing + o.ahead) * seen.most < seen.free + seen.held;
  if (serves_all)
    o.chance = likelihood::almost_certain;
  else if (o.has_share)
    o.chance = chance_of(seen, o.ahead);
  return o;
}

} // namespace fq
