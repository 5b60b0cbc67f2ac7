// SPDX-License-Identifier: Apache-2.0
// Opaque cursors of lists: where the next page begins, signed together with the list it belongs to. Called by
// routes with lists.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

/// Immutable; may be shared by threads.
class cursor_codec {
public:
  /// `secret`: any installation secret; cursors of another installation are refused.
  explicit cursor_codec(const secret_key& secret);

  /// `scope`: whose list it is (nil: the public one).
  [[nodiscard]] std::string encode(const uuid& scope, aggregate_id after) const;
  [[nodiscard]] std::optional<aggregate_id> decode(const uuid& scope, std::string_view text) const;

private:
  [[nodiscard]] sha256_digest seal(const uuid& scope, aggregate_id after) const;
  hmac_sha256_key key_;
};

} // namespace fq::net
