// SPDX-License-Identifier: Apache-2.0
#include "net/websocket/seat_feed.hpp"

#include "net/websocket/limits.hpp"

#include <algorithm>

namespace fq::net {

seat_news news_for(std::uint64_t has, const seat_answer& got) {
  if (has == got.version) return seat_news::none;
  const bool is_covered = got.from != 0 && got.from <= has && has < got.version;
  return is_covered && got.bytes <= seats_frame_max ? seat_news::changes : seat_news::reload;
}

milliseconds seats_refresh_of(std::size_t sockets, std::int64_t io_threads) {
  const auto all = static_cast<std::int64_t>(sockets) * std::max<std::int64_t>(io_threads, 1);
  return std::clamp(milliseconds{all * 1'000 / seat_frames_a_second}, seats_refresh_min, seats_refresh_max);
}

std::string seats_frame(std::string_view changes) {
  std::string out = R"({"type":"seats",)";
  return out.append(changes.substr(1));
}

std::string seats_reload_frame(std::uint64_t version) {
  return R"({"type":"seats","version":)" + std::to_string(version) + R"(,"reload":true})";
}

} // namespace fq::net
