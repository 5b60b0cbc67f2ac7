// SPDX-License-Identifier: Apache-2.0
// The environment of a real process: the system's clocks and random source.
#pragma once
#include "domain/base/environment.hpp"

namespace fq {

class system_environment final : public environment {
public:
  timestamp wall_now() override;
  milliseconds steady_now() override;
  void random_bytes(std::span<std::byte> out) override;
};

} // namespace fq
