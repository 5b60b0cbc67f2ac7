// SPDX-License-Identifier: Apache-2.0
#include "store/port/mirror_chunks.hpp"

#include <algorithm>

namespace fq {
namespace {

/// Moves up to `room` elements from the front of `rest` to the result.
template <class T>
std::span<const T> take(std::span<const T>& rest, std::size_t& room) {
  const auto taken = rest.first(std::min(room, rest.size()));
  rest = rest.subspan(taken.size());
  room -= taken.size();
  return taken;
}

} // namespace

std::vector<mirror_chunk> chunks_of(const mirror_delta& delta, std::size_t size_max) {
  mirror_chunk rest{delta.joined, delta.left, delta.sessions, delta.ended, delta.stock};
  std::vector<mirror_chunk> chunks(std::max<std::size_t>(1, (delta.size() + size_max - 1) / size_max));
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    auto& c = chunks[i];
    auto room = size_max;
    c.joined = take(rest.joined, room);
    c.left = take(rest.left, room);
    c.sessions = take(rest.sessions, room);
    c.ended = take(rest.ended, room);
    c.stock = take(rest.stock, room);
    c.part = i;
    c.last = i + 1 == chunks.size();
  }
  return chunks;
}

} // namespace fq
