// SPDX-License-Identifier: Apache-2.0
// The machine's clocks, for tests of what waits for real sockets.
#pragma once

#include "crypto/random.hpp"
#include "domain/environment.hpp"

namespace fq::test {

class real_environment final : public environment {
public:
  timestamp wall_now() override { return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()); }
  milliseconds steady_now() override {
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
  }
  void random_bytes(std::span<std::byte> out) override { fill_random(out); }
};

} // namespace fq::test
