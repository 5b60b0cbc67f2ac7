// SPDX-License-Identifier: Apache-2.0
#include "crypto/hkdf.hpp"

#include <string>

namespace fq {

secret_key hkdf_sha256(byte_view key, std::string_view salt, std::string_view info) noexcept {
  const std::string_view key_text{reinterpret_cast<const char*>(key.data()), key.size()};
  const secret_key extracted{hmac_sha256(view_bytes(salt), key_text)}; // an empty salt equals 32 zeros
  std::string block{info};
  block += '\1';
  return secret_key{hmac_sha256(extracted.bytes(), block)};
}

} // namespace fq
