// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/views.hpp"

#include "domain/sale/limits.hpp"

#include <algorithm>
#include <cmath>

namespace fq {

std::pair<double, double> line_pace::seconds_per_place() const {
  if (admitted == 0) return {-1, -1};
  // The standard deviation of the count is about its square root (Poisson).
  const auto seconds = static_cast<double>(span.count()) / 1000.0;
  const auto n = static_cast<double>(admitted);
  return {seconds / (n + 2 * std::sqrt(n)), seconds / std::max(n - 2 * std::sqrt(n), n / 4)};
}

void set_wait(entry_view& v, std::uint64_t position, const line_pace& pace) {
  v.position = position;
  const auto places = static_cast<double>(position);
  const auto [low, high] = pace.seconds_per_place();
  double poll = poll_min_ms + places; // a thousand places: about a second later
  if (low >= 0) {
    v.eta_low_seconds = static_cast<std::int32_t>(std::min(places * low, 1e9));
    v.eta_high_seconds = static_cast<std::int32_t>(std::min(std::ceil(places * high), 1e9));
    poll = std::max(poll_min_ms, places * low * 100.0); // a tenth of the lowest expected wait
  }
  // Often enough to see the admission within the claim window.
  const auto seen_in_time = std::max(poll_min_ms, static_cast<double>(pace.claim_window.count()) / 4);
  v.poll_after_ms = static_cast<std::uint32_t>(std::min({poll, poll_max_ms, seen_in_time}));
}

void set_wait(entry_view& v, const lobby_view& lobby, timestamp now) {
  v.lobby = lobby;
  const auto until = static_cast<double>((lobby.opens_at - now).count());
  v.poll_after_ms = static_cast<std::uint32_t>(std::clamp(until, lobby_poll_min_ms, poll_max_ms));
}

std::string name_of(const principal& who) {
  switch (who.kind) {
    case principal_kind::nobody: return {};
    case principal_kind::organizer: return "organizer:" + to_string(who.id);
    case principal_kind::operate: return "operator:" + to_string(who.id);
  }
  return {};
}

} // namespace fq
