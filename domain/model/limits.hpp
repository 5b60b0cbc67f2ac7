// SPDX-License-Identifier: Apache-2.0
// Limits of rows.
#pragma once
#include <cstddef>

namespace fq {

/// Longest name of a subject, in bytes.
inline constexpr std::size_t subject_name_max = 128;

} // namespace fq
