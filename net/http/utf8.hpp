// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace fq::net {

/// Checks text incrementally: UTF-8 without surrogates and overlong forms.
class utf8_checker {
public:
  bool feed(unsigned char byte);
  [[nodiscard]] bool complete() const { return more_ == 0; }
  void reset() { *this = {}; }

private:
  std::uint8_t more_ = 0; ///< continuation bytes to come
  std::uint8_t low_ = 0x80, high_ = 0xbf; ///< what the next one may be
};

} // namespace fq::net
