// SPDX-License-Identifier: Apache-2.0
// An environment whose clock the test moves and whose random bytes are a counter.
#pragma once

#include "domain/base/environment.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace fq::test {

class fixed_environment final : public environment {
public:
  std::atomic<std::int64_t> now_ms{1'800'000'000'123};

  timestamp wall_now() override { return from_unix_ms(now_ms); }
  milliseconds steady_now() override { return milliseconds{now_ms.load()}; }
  void random_bytes(std::span<std::byte> out) override {
    for (auto& b : out) b = std::byte{0};
    const auto n = ++counter_;
    std::memcpy(out.data(), &n, std::min(out.size(), sizeof n));
  }

private:
  std::atomic<std::uint64_t> counter_{0};
};

} // namespace fq::test
