// SPDX-License-Identifier: Apache-2.0
// Splits a mirror step into bounded chunks that a cache applies atomically. Shared by the engines, so that
// steps tear at the same boundaries. Pure.
#pragma once
#include "domain/line/mirror.hpp"
#include "store/port/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fq {

/// Part `part` of a step; views into its delta.
struct mirror_chunk {
  std::span<const queue_number> joined, left;
  std::span<const mirrored_session> sessions, ended;
  std::span<const mirrored_stock> stock;
  std::uint64_t part = 0;
  bool last = false;
};

/// Returns at least one chunk, each with at most `size_max` (> 0) elements. Valid as long as the delta is.
std::vector<mirror_chunk> chunks_of(const mirror_delta& delta, std::size_t size_max = mirror_chunk_max);

} // namespace fq
