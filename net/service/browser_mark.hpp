// SPDX-License-Identifier: Apache-2.0
// Marks of known browsers. Who signs in gets one. With it, the next requests for a code at that mail address
// have limits of their own, which strangers cannot use up. A mark is no token. Nothing is stored: a mark
// is a random id and its end, with a keyed hash over both and the address.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <string>
#include <string_view>

namespace fq::net {

class browser_marks {
public:
  explicit browser_marks(const secret_key& stored);

  /// `email`: in lower case, as below. `id`: unpredictable.
  [[nodiscard]] std::string issue(std::string_view email, const uuid& id, timestamp now) const;
  /// The mark's id; nil for a text that is no mark of this address, or has ended.
  [[nodiscard]] uuid read(std::string_view text, std::string_view email, timestamp now) const;

private:
  hmac_sha256_key key_;
};

} // namespace fq::net
