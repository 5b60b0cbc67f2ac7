// SPDX-License-Identifier: Apache-2.0
// The machine's steady clock, for tests of what waits for real sockets; the wall clock stands where the test
// puts it.
#pragma once

#include "crypto/random.hpp"
#include "domain/base/environment.hpp"

namespace fq::test {

class real_environment final : public environment {
public:
  static constexpr timestamp wall = from_unix_ms(1'800'000'000'000); // Fri, 15 Jan 2027 08:00:00 GMT

  timestamp wall_now() override { return wall; }
  milliseconds steady_now() override {
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
  }
  void random_bytes(std::span<std::byte> out) override { fill_random(out); }
};

} // namespace fq::test
