// SPDX-License-Identifier: Apache-2.0
// Opaque cursors of lists: the start of the next page, signed together with its list. Called by routes with
// lists.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

/// Immutable and thread-safe.
class cursor_codec {
public:
  /// `secret`: any secret of the installation; cursors of other installations are refused.
  explicit cursor_codec(const secret_key& secret);

  /// `scope`: owner of the list (nil: the public list).
  [[nodiscard]] std::string encode(const uuid& scope, aggregate_id after) const;
  [[nodiscard]] std::optional<aggregate_id> decode(const uuid& scope, std::string_view text) const;

private:
  [[nodiscard]] sha256_digest seal(const uuid& scope, aggregate_id after) const;
  hmac_sha256_key key_;
};

} // namespace fq::net
