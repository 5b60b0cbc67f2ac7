// SPDX-License-Identifier: Apache-2.0
// Limits of what is shown.
#pragma once
#include <cstddef>

namespace fq {

/// Descriptions that each thread keeps as HTML: the events that a node shows at a time. 32 of 10 KB and their
/// HTML take less than 1 MB. Some sources of 10 KB take the parser 20 ms.
inline constexpr std::size_t descriptions_kept = 32;
/// Bytes of a time zone's name; the longest one has 32.
inline constexpr std::size_t time_zone_bytes_max = 64;

} // namespace fq
