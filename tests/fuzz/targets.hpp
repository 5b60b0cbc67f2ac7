// SPDX-License-Identifier: Apache-2.0
// The readers of untrusted text, each as a function of bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fq::fuzz {

struct target {
  std::string_view name; ///< also its folder in tests/fuzz/corpus
  void (*read)(std::string_view bytes); ///< aborts if a rule of the reader is broken
};

std::span<const target> targets();

} // namespace fq::fuzz
