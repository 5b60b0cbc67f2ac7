// SPDX-License-Identifier: Apache-2.0
// Answers already given, by (principal, route, key). The owner looks here before it decides; the answer is
// committed in the transaction of its effect. 503s and validation failures are never stored.
#pragma once
#include "domain/model/change.hpp"

#include <deque>
#include <map>

namespace fq {

/// How long an answer is kept.
inline constexpr milliseconds idempotency_life{24 * 60 * 60 * 1000};
/// Answers kept per aggregate; beyond it the oldest is forgotten (a retry then meets the ordinary rules).
inline constexpr std::size_t idempotency_rows_max = 200'000;

enum class idempotency_verdict : std::uint8_t { fresh, replay, other_body };

class idempotency_index {
public:
  void load(idempotency_row row);
  /// `replay`: `*answer` is the stored one.
  idempotency_verdict look_up(const digest128& key, const digest128& body, timestamp now,
                              const std::vector<char>** answer) const;
  void store(idempotency_row row, changes& out);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

private:
  void keep(idempotency_row row);
  std::map<digest128, idempotency_row> rows_;
  std::deque<std::pair<timestamp, digest128>>
    by_age_; ///< may name a key again that was used anew after its answer expired
};

} // namespace fq
