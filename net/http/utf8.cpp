// SPDX-License-Identifier: Apache-2.0
#include "net/http/utf8.hpp"

namespace fq::net {

bool utf8_checker::feed(unsigned char byte) {
  if (more_ > 0) {
    if (byte < low_ || byte > high_) return false;
    low_ = 0x80;
    high_ = 0xbf;
    --more_;
    return true;
  }
  if (byte < 0x80) return true;
  if (byte >= 0xc2 && byte <= 0xdf) {
    more_ = 1;
  } else if (byte >= 0xe0 && byte <= 0xef) {
    more_ = 2;
    low_ = byte == 0xe0 ? 0xa0 : 0x80;
    high_ = byte == 0xed ? 0x9f : 0xbf;
  } else if (byte >= 0xf0 && byte <= 0xf4) {
    more_ = 3;
    low_ = byte == 0xf0 ? 0x90 : 0x80;
    high_ = byte == 0xf4 ? 0x8f : 0xbf;
  } else {
    return false;
  }
  return true;
}

} // namespace fq::net
