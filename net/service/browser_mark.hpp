// SPDX-License-Identifier: Apache-2.0
// Marks of known browsers. Who signs in gets one. With it, the next requests for a code at that mail address
// have limits of their own, which strangers cannot use up. A mark is no token. Nothing is stored: a mark
// is an id and its end, with a keyed hash over the address and both.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace fq::net {

class browser_marks {
public:
  explicit browser_marks(const secret_key& stored);

  /// `email`: in lower case, as below. `nonce`: unpredictable; the high half of the mark's id. The low half
  /// is the customer's, by which accounts knows marks from before an erasure.
  [[nodiscard]] std::string issue(std::string_view email, const uuid& customer, std::uint64_t nonce,
                                  timestamp now) const;
  /// The mark's id; nil for a text that is no mark of this address, or has ended.
  [[nodiscard]] uuid read(std::string_view text, std::string_view email, timestamp now) const;

private:
  [[nodiscard]] std::string hash_of(std::string_view email, std::string_view head) const;
  hmac_sha256_key key_;
};

} // namespace fq::net
