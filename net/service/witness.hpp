// SPDX-License-Identifier: Apache-2.0
// This installation as a witness of others' logs (c2sp.org/tlog-witness): its name and key, and the logs that
// it cosigns. Thread-safe: nothing changes after the start.
#pragma once
#include "crypto/keys.hpp"
#include "domain/base/time.hpp"
#include "fair/witness.hpp"
#include "store/port/witness_store.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

class witness {
public:
  /// `logs`: verifier keys, as witness.logs has them; throws std::invalid_argument for another text. The name
  /// is `public_url` without its scheme, and "/witness".
  witness(const std::vector<std::string>& logs, std::string_view public_url, const secret_key& stored);

  /// The verifier key.
  [[nodiscard]] std::string key() const;
  [[nodiscard]] std::optional<note_verifier> find(std::string_view origin) const {
    return logs_.find(origin);
  }
  /// The cosignature, a line.
  [[nodiscard]] std::string cosign(const checkpoint_note& note, timestamp now) const;

private:
  watched_logs logs_;
  std::string name_;
  secret_key seed_;
};

/// The id of a log's row.
[[nodiscard]] std::string witnessed_id(std::string_view origin);
/// What judge() compares with. Null: nothing was cosigned.
[[nodiscard]] witnessed state_of(const witnessed_row* row);
/// What the row must be while the next one is stored.
[[nodiscard]] witnessed_before before(const witnessed& latest);
/// The row after a cosignature: `note` with the log's signature and the cosignature.
[[nodiscard]] witnessed_row witnessed_next(const checkpoint_note& note, const note_verifier& log,
                                           std::string_view cosignature, timestamp now);

} // namespace fq::net
