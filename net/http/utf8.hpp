// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace fq::net {

/// Checks UTF-8 incrementally; refuses surrogates and overlong forms.
class utf8_checker {
public:
  bool feed(unsigned char byte);
  [[nodiscard]] bool complete() const { return more_ == 0; }
  void reset() { *this = {}; }

private:
  std::uint8_t more_ = 0; ///< continuation bytes still expected
  std::uint8_t low_ = 0x80, high_ = 0xbf; ///< range of the next byte
};

} // namespace fq::net
