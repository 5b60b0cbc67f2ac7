// SPDX-License-Identifier: Apache-2.0
// A step of a mirror in bounded parts: what a cache applies at once. Shared by the engines, so that they tear
// at the same places. Pure.
#pragma once
#include "domain/line/mirror.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fq {

/// Elements that a cache applies at once: about a millisecond of the server's time, during which it serves
/// nobody else.
inline constexpr std::size_t mirror_chunk_max = 1'000;

/// Part `part` of a step; views into its delta.
struct mirror_chunk {
  std::span<const queue_number> joined, left;
  std::span<const mirrored_session> sessions, ended;
  std::span<const mirrored_stock> stock;
  std::uint64_t part = 0;
  bool last = false;
};

/// At least one chunk, each of at most `size_max` (> 0) elements. Valid as long as the delta is.
std::vector<mirror_chunk> chunks_of(const mirror_delta& delta, std::size_t size_max = mirror_chunk_max);

} // namespace fq
