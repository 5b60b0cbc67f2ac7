// SPDX-License-Identifier: Apache-2.0
// Opaque cursors of lists: the start of the next page, signed together with its list. Called by routes with
// lists.
#pragma once
#include "crypto/digest.hpp"
#include "crypto/replaceable.hpp"
#include "domain/base/ids.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

/// Thread-safe.
class cursor_codec {
public:
  /// `secrets`: any secrets of the installation; the first seals. Cursors of other installations are refused.
  explicit cursor_codec(const std::vector<secret_key>& secrets) : keys_{derived(secrets)} {}
  explicit cursor_codec(const secret_key& secret) : cursor_codec(std::vector{secret}) {}
  void renew(const std::vector<secret_key>& secrets) { keys_.set(derived(secrets)); }

  /// `scope`: owner of the list (nil: the public list).
  [[nodiscard]] std::string encode(const uuid& scope, aggregate_id after) const;
  [[nodiscard]] std::optional<aggregate_id> decode(const uuid& scope, std::string_view text) const;

private:
  static std::vector<hmac_sha256_key> derived(const std::vector<secret_key>& secrets);
  replaceable<std::vector<hmac_sha256_key>> keys_;
};

} // namespace fq::net
