// SPDX-License-Identifier: Apache-2.0
// The entry point of libFuzzer; FQ_FUZZ_TARGET names the target.
#include "tests/fuzz/targets.hpp"

#include <algorithm>

// libFuzzer asks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto target =
    *std::ranges::find(fq::fuzz::targets(), std::string_view{FQ_FUZZ_TARGET}, &fq::fuzz::target::name);
  target.read({reinterpret_cast<const char*>(data), size});
  return 0;
}
